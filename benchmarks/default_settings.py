"""Choose the parameters of the default policy on the tuning half of the bake-off's data sets.

    python benchmarks/default_settings.py [--out FILE]

The rule, written down before anything was played: each set of the tuning half with at least 2,000
rows is played for its rows, at most 10,000, in two orders. One parameter after the other, in the
order of `CHOICES`, takes the value with the highest mean reward over all sets and orders, the
values before it chosen already and those after it as they come first in the list. The first value
of a list, the prototype's, stays unless another is better by at least 0.001. The judging half and
the paper's three sets are not looked at.

Writes results/bakeoff/tuning.csv, a line for each setting, set and order; lines that are there are
not played again.
"""

import argparse
import csv
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from ratio import say

from giro import simulate
from giro.paper.studies._bakeoff_sets import BakeoffSet, sets_there
from giro.tables import write_csv

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "bakeoff" / "tuning.csv"
ROUNDS, ORDERS, BETTER = 10_000, 2, 0.001
CHOICES = {
    "members": (
        "linear,{network},{trees}",
        "linear,online-logistic,{network},{trees}",
        "online-logistic,{network},{trees}",
    ),
    "scale": ("1", "0.5", "0.25", "1.5"),
    "eta": ("0.02", "0.01", "0.05", "0.1"),
    "leaf": ("1", "2", "3", "5"),
    "candidates": ("2", "1", "4"),
    "trees": ("10", "20"),
    "growth": ("1.3", "1.1", "1.5"),
    "steps": ("2", "4", "1"),
    "copies": ("2", "1", "3"),
    "rate": ("0.01", "0.005", "0.02"),
    "decay": ("0.001", "0.0001", "0.01"),
    "hidden": ("32", "16", "64"),
}

Key = tuple[str, str, str]


def text_of(setting: dict[str, str]) -> str:
    """Return the policy with this setting."""
    forest = ",".join(f"{key}={setting[key]}" for key in ("trees", "candidates", "leaf", "growth"))
    steps = ("hidden", "copies", "steps", "rate", "decay")
    network = ",".join(f"{key}={setting[key]}" for key in steps)
    members = setting["members"].format(
        network=f"[online-network:{network}]", trees=f"[extra-trees:{forest}]"
    )
    auto = f"[auto:members=[{members}],eta={setting['eta']}]"
    return f"rand-ucb:scale={setting['scale']},model={auto}"


def main() -> None:
    """Play what is missing, and say what is chosen."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=RESULTS)
    out = parser.parse_args().out
    sets = [each for each in sets_there() if each.half == "tuning" and not each.small]
    known = _read(out)
    chosen = {key: values[0] for key, values in CHOICES.items()}
    for key, values in CHOICES.items():
        found = [_mean({**chosen, key: value}, sets, known, out) for value in values]
        best = int(np.argmax(found))
        if found[best] >= found[0] + BETTER:
            chosen[key] = values[best]
        tried = ", ".join(f"{v}: {r:.4f}" for v, r in zip(values, found, strict=True))
        say(f"{key}: {tried} -> {chosen[key]}")
    say(text_of(chosen))


def _mean(
    setting: dict[str, str], sets: list[BakeoffSet], known: dict[Key, float], out: Path
) -> float:
    """Return the mean reward of a setting, playing what is not known."""
    policy, orders = text_of(setting), [str(order) for order in range(ORDERS)]

    def play(each: BakeoffSet) -> None:
        rounds = min(each.rounds, ROUNDS)
        if any((policy, each.name, order) not in known for order in orders):
            trace = simulate(policy, each.problem, rounds=rounds, runs=ORDERS, points=1)
            for order, reward in zip(orders, trace.reward[:, -1].tolist(), strict=True):
                known[policy, each.name, order] = reward / rounds

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(play, sets))
    _write(out, known)
    return float(np.mean([known[policy, each.name, order] for each in sets for order in orders]))


def _read(path: Path) -> dict[Key, float]:
    if not path.exists():
        return {}
    with path.open() as file:
        lines = (line for line in file if not line.startswith("#"))
        return {
            (row["policy"], row["set"], row["order"]): float(row["mean_reward"])
            for row in csv.DictReader(lines)
        }


def _write(path: Path, known: dict[Key, float]) -> None:
    records = [
        {"policy": policy, "set": name, "order": order, "mean_reward": f"{reward:.6f}"}
        for (policy, name, order), reward in known.items()
    ]
    write_csv(path, records, note="python benchmarks/default_settings.py")


if __name__ == "__main__":
    main()
