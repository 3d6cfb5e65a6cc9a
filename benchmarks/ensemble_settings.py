"""Choose the defaults of giro-ensemble on the tuning half of the bake-off's data sets.

    python benchmarks/ensemble_settings.py [--out FILE]

The rule was written down before anything was played (commit "Weights of replicas may be any
numbers..."): each set of the tuning half with at least 2,000 rows, without `wide` (its 401 columns
take an hour each time), is played for its rows, at most 10,000, in two orders, and the setting with
the highest mean reward wins, if it is better than the present one by at least 0.001. d is the number
of columns, the constant among them. The judging half is not looked at.

While it was played, two things changed. The machine proved too busy, and candidates were left out
(two spreads, Gaussian weights, other numbers of replicas, a second turn through all). And settings
that depend on d, which came first, cannot be defaults: where a schema grows, a policy has to have
learned what it would have with all columns from the beginning. So the best constant wins.

Writes a line for each setting and set. Lines that are there are not played again.
"""

import argparse
import csv
import math
from pathlib import Path

import numpy as np
from ratio import say

from giro import simulate
from giro.paper.studies._bakeoff_sets import BakeoffSet, sets_there
from giro.problem import Problem
from giro.tables import write_csv

ROUNDS, ORDERS = 10_000, 2
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
    """Play what is missing, and say what is chosen."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path(".bakeoff/ensemble.csv"))
    out = parser.parse_args().out
    sets = [
        each
        for each in sets_there()
        if each.half == "tuning" and not each.small and each.name != "wide"
    ]
    known = _read(out)
    for a, spread, weights in SETTINGS:
        setting = {"a": a, "spread": spread, "weights": weights, "replicas": "50"}
        say(f"{_name(setting)}: {_mean(setting, sets, known, out):.4f}")


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
            trace = simulate(policy, each.problem, rounds=rounds, runs=ORDERS, points=1, jobs=1)
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
