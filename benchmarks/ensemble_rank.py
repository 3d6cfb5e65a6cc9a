"""Say where giro-ensemble with its defaults stands on the judging half of the bake-off.

    python benchmarks/ensemble_rank.py [POLICY ...]

Plays the sets of the judging half with 2,000 rows and more, in the three orders of the bake-off,
and ranks the mean rewards among those in results/bakeoff/rewards.csv, one policy at a time, in the
place of the line that giro-ensemble has there. Rewards are kept in .bakeoff/judged.csv.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from ratio import say

from giro import Policy, simulate
from giro.paper.studies._bakeoff_sets import BakeoffSet, sets_there
from giro.paper.studies.bakeoff import ORDERS
from giro.problem import Problem

KEPT, REWARDS = Path(".bakeoff/judged.csv"), Path("results/bakeoff/rewards.csv")
BEFORE = "giro-ensemble:a=0.3,model=linear,replicas=50"


def main(policies: list[str]) -> None:
    """Play what is missing, cheap sets first, and say the ranks."""
    sets = [each for each in sets_there() if each.half == "judging" and not each.small]
    with REWARDS.open(encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(each for each in file if each[0] != "#")]
    for text in [BEFORE, *policies]:
        policy = Policy.parse(text).text
        ranks, means = [], []
        for each in sorted(sets, key=_cost):
            field = {
                (line["library"], line["policy"]): float(line["mean_reward"])
                for line in lines
                if line["data"] == each.name
            }
            own = field.pop(("giro", BEFORE))
            own = own if policy == BEFORE else _reward(policy, each)
            others = np.array([*field.values()])
            ranks.append(1.0 + (others > own).sum() + (others == own).sum() / 2)
            means.append(own)
            say(f"{policy} on {each.name}: {own:.4f}, rank {ranks[-1]:g} of {len(field) + 1}")
        say(f"{policy}: mean rank {np.mean(ranks):.2f}, mean reward {np.mean(means):.4f}")


def _cost(each: BakeoffSet) -> int:
    return each.rounds * Problem.parse(each.problem).n_features ** 2


def _reward(policy: str, each: BakeoffSet) -> float:
    known = {}
    if KEPT.exists():
        with KEPT.open(encoding="utf-8") as file:
            known = {(row[0], row[1]): float(row[2]) for row in csv.reader(file)}
    if (policy, each.name) not in known:
        trace = simulate(policy, each.problem, rounds=each.rounds, runs=ORDERS, points=1, jobs=1)
        known[policy, each.name] = float(trace.reward[:, -1].mean()) / each.rounds
        with KEPT.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file).writerow([policy, each.name, f"{known[policy, each.name]:.6f}"])
    return known[policy, each.name]


if __name__ == "__main__":
    main(sys.argv[1:] or ["giro-ensemble"])
