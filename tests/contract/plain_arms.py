"""Print, as JSON, the arms that every policy pulls; run with and without compilation.

NUMBA_DISABLE_JIT=1 python tests/contract/plain_arms.py
"""

import json
import sys

import numpy as np
from known import policies, problems

from giro import Policy, Problem
from giro.simulation.play import play_run

ROUNDS = 150


def pulled_arms(policy: Policy, problem: Problem) -> list[int]:
    record = play_run(policy, problem, np.array([ROUNDS]), seed=3, run=1, keep_arms=True)
    return [int(arm) for arm in record.arms]


if __name__ == "__main__":
    arms = {
        f"{policy} on {problem}": pulled_arms(policy, problem)
        for policy in policies()
        for problem in problems()
    }
    json.dump(arms, sys.stdout)
