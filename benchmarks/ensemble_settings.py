"""Choose the defaults of giro-ensemble on the tuning half of the bake-off's data sets.

    python benchmarks/ensemble_settings.py

The rule was written down before anything was played (commit "Weights of replicas may be any
numbers..."): each set of the tuning half with at least 2,000 rows, without `wide`, whose 401
columns take too long, is played for its rows, at most 10,000, in two orders, and the setting with
the highest mean reward wins, if it is better than the present one by at least 0.001. d is the
number of columns, the constant among them. The judging half is not looked at.

While it was played, two things changed. The machine proved too busy, and candidates were left out
(two spreads, Gaussian weights, other numbers of replicas, a second turn through all). And settings
that depend on d, which came first, cannot be defaults: where a schema grows, a policy has to have
learned what it would have with all columns from the beginning. So the best constant wins.

Then the present setting and the best constant are ranked on the sets of the judging half with 2,000
rows and more, in the three orders of the bake-off: among the policies in
results/bakeoff/rewards.csv, each in the place of the line that giro-ensemble has there.

Writes results/bakeoff/ensemble.csv. Rewards of each set are kept in .bakeoff/, and not played
again.
"""

import csv
import math
from pathlib import Path

import numpy as np
from ratio import say

from giro import Policy, simulate
from giro.paper.studies._bakeoff_sets import BakeoffSet, sets_there
from giro.paper.studies.bakeoff import ORDERS
from giro.problem import Problem
from giro.tables import Record, write_csv
from giro.version import stamp

ROUNDS, TUNING_ORDERS = 10_000, 2
KEPT, RESULTS = Path(".bakeoff"), Path("results/bakeoff")
BEFORE = "giro-ensemble:a=0.3,model=linear,replicas=50"
JUDGED = ("giro-ensemble:a=0.3", "giro-ensemble:a=0.03,weights=exponential")
FORMS = {  # how a parameter follows from its constant and d
    "": lambda c, d: c,
    "/d": lambda c, d: c / d,
    "/√d": lambda c, d: c / math.sqrt(d),
}
SETTINGS = (  # a, spread, weights
    ("0.3", "1", "poisson"),
    ("0.1", "1", "poisson"),
    ("0.03", "1", "poisson"),
    ("0.1/√d", "1", "poisson"),
    ("0.3/√d", "1", "poisson"),
    ("1/√d", "1", "poisson"),
    ("0.3/d", "1", "poisson"),
    ("1/d", "1", "poisson"),
    ("3/d", "1", "poisson"),
    ("0.3/d", "0.7", "poisson"),
    ("0.3/d", "0.5", "poisson"),
    ("0.3/d", "0.3", "poisson"),
    ("0.3/d", "3/√d", "poisson"),
    ("0.01", "1", "poisson"),
    ("0.03", "1", "exponential"),
    ("0.03", "1", "double"),
)

Key = tuple[str, str]


def number_of(text: str, d: int) -> float:
    """Return the value of a parameter in d columns, at most 1."""
    constant, slash, form = text.partition("/")
    return min(1.0, FORMS[slash + form](float(constant), d))


def text_of(setting: dict[str, str], d: int) -> str:
    """Return the policy with this setting in d columns."""
    a, spread = (number_of(setting[key], d) for key in ("a", "spread"))
    return (
        f"giro-ensemble:a={a:.6g},replicas={setting['replicas']},"
        f"weights={setting['weights']},spread={spread:.6g}"
    )


def main() -> None:
    """Play what is missing, and write the means."""
    sets = [each for each in sets_there() if not each.small and each.name != "wide"]
    tuning = [each for each in sets if each.half == "tuning"]
    judging = [each for each in sets if each.half == "judging"]
    out = KEPT / "ensemble.csv"
    known, records = _read(out), list[Record]()
    for a, spread, weights in SETTINGS:
        setting = {"a": a, "spread": spread, "weights": weights, "replicas": "50"}
        reward = _mean(setting, tuning, known, out)
        records.append(_record(_name(setting), "tuning", len(tuning), reward))
        say(f"{_name(setting)}: {reward:.4f}")
    for text in JUDGED:
        reward, rank = _judged(Policy.parse(text).text, judging)
        records.append(_record(text, "judging", len(judging), reward, rank))
        say(f"{text}: mean reward {reward:.4f}, mean rank {rank:.2f}")
    write_csv(
        RESULTS / "ensemble.csv", records, note=stamp("python benchmarks/ensemble_settings.py")
    )


def _record(setting: str, half: str, sets: int, reward: float, rank: float = math.nan) -> Record:
    shown = "" if math.isnan(rank) else f"{rank:.2f}"
    return {
        "setting": setting,
        "half": half,
        "sets": sets,
        "mean_reward": f"{reward:.4f}",
        "mean_rank": shown,
    }


def _judged(policy: str, sets: list[BakeoffSet]) -> tuple[float, float]:
    """Return the mean reward of a policy and its mean rank, cheap sets first."""
    with (RESULTS / "rewards.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(line for line in file if not line.startswith("#")))
    rewards, ranks = list[float](), list[float]()
    for each in sorted(sets, key=_cost):
        field = {
            (line["library"], line["policy"]): float(line["mean_reward"])
            for line in lines
            if line["data"] == each.name
        }
        before = field.pop(("giro", BEFORE))
        own = before if policy == BEFORE else _judged_reward(policy, each)
        others = np.array([*field.values()])
        ranks.append(1.0 + (others > own).sum() + (others == own).sum() / 2)
        rewards.append(own)
        say(f"{policy} on {each.name}: {own:.4f}, rank {ranks[-1]:g} of {len(field) + 1}")
    return float(np.mean(rewards)), float(np.mean(ranks))


def _cost(each: BakeoffSet) -> int:
    return each.rounds * Problem.parse(each.problem).n_features ** 2


def _judged_reward(policy: str, each: BakeoffSet) -> float:
    kept, known = KEPT / "judged.csv", dict[Key, float]()
    if kept.exists():
        with kept.open(encoding="utf-8") as file:
            known = {(row[0], row[1]): float(row[2]) for row in csv.reader(file)}
    if (policy, each.name) not in known:
        trace = simulate(policy, each.problem, rounds=each.rounds, runs=ORDERS, points=1, jobs=1)
        known[policy, each.name] = float(trace.reward[:, -1].mean()) / each.rounds
        with kept.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file).writerow([policy, each.name, f"{known[policy, each.name]:.6f}"])
    return known[policy, each.name]


def _name(setting: dict[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in setting.items())


def _mean(
    setting: dict[str, str], sets: list[BakeoffSet], known: dict[Key, float], out: Path
) -> float:
    """Return the mean reward of a setting, playing what is not known."""
    name, means = _name(setting), list[float]()
    for each in sets:
        if (name, each.name) not in known:
            rounds = min(each.rounds, ROUNDS)
            policy = text_of(setting, Problem.parse(each.problem).n_features + 1)
            trace = simulate(
                policy, each.problem, rounds=rounds, runs=TUNING_ORDERS, points=1, jobs=1
            )
            known[name, each.name] = float(trace.reward[:, -1].mean()) / rounds
            _write(out, known)
        means.append(known[name, each.name])
    return float(np.mean(means))


def _read(path: Path) -> dict[Key, float]:
    if not path.exists():
        return {}
    with path.open(encoding="utf-8") as file:
        lines = (line for line in file if not line.startswith("#"))
        return {(row["setting"], row["set"]): float(row["reward"]) for row in csv.DictReader(lines)}


def _write(path: Path, known: dict[Key, float]) -> None:
    records = [
        {"setting": setting, "set": name, "reward": f"{reward:.6f}"}
        for (setting, name), reward in known.items()
    ]
    write_csv(path, records, note="python benchmarks/ensemble_settings.py")


if __name__ == "__main__":
    main()
