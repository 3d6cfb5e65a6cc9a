"""Choose the defaults of giro-ensemble on the tuning half of the bake-off's data sets.

    python benchmarks/ensemble_settings.py [--out FILE]

The rule, written down before anything was played: each set of the tuning half with at least 2,000
rows, without `wide` (its 401 columns take an hour each time), is played for its rows, at most
10,000, in two orders. One parameter after the other, in the order of `CHOICES`, takes the value
with the highest mean reward over all sets and orders, those before it chosen already and those
after it as they come first in the list. The first value stays unless another is better by at least
0.001. d is the number of columns, the constant among them. The judging half is not looked at.

When `a` and four spreads were played, the machine proved too busy, and candidates were left out:
spreads 2/√d and 4/√d, Gaussian weights, 20 and 100 replicas, and a second turn through all.

Writes a line for each setting and set; lines that are there are not played again.
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

ROUNDS, ORDERS, BETTER = 10_000, 2, 0.001
FORMS = {  # how a parameter follows from its constant and d
    "": lambda c, d: c,
    "/d": lambda c, d: c / d,
    "/√d": lambda c, d: c / math.sqrt(d),
}
CHOICES = {
    "a": ("0.3", "0.1", "0.03", "0.1/√d", "0.3/√d", "1/√d", "0.3/d", "1/d", "3/d"),
    "spread": ("1", "0.7", "0.5", "0.3", "3/√d"),
    "weights": ("poisson", "exponential", "double"),
    "replicas": ("50",),
}

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
    chosen = {key: values[0] for key, values in CHOICES.items()}
    for key, values in CHOICES.items():
        found = {v: _mean({**chosen, key: v}, sets, known, out) for v in values}
        best = max(found, key=lambda value: found[value])
        if found[best] >= found[chosen[key]] + BETTER:
            chosen[key] = best
        tried = ", ".join(f"{value}: {mean:.4f}" for value, mean in found.items())
        say(f"{key}: {tried} -> {chosen[key]}")
    say(str(chosen))


def _mean(
    setting: dict[str, str], sets: list[BakeoffSet], known: dict[Key, float], out: Path
) -> float:
    """Return the mean reward of a setting, playing what is not known."""
    name, means = " ".join(f"{key}={value}" for key, value in setting.items()), []
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
