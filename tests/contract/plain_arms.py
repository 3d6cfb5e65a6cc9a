"""Print, as JSON, the arms that a policy pulls; run with and without compilation.

echo giro | NUMBA_DISABLE_JIT=1 python tests/contract/plain_arms.py
"""

import json
import sys

import numpy as np
from known import IN_CONTEXT, in_loops, policies, policies_with_models, problems_for

from giro import Policy, Problem
from giro.simulation.play import play_run, shape_of

ROUNDS, FEW, WIDE = 100, 15, 100  # rows wider than that take Python long
LONG = ("default", "log-phe")  # policies that take it long


def pulled_arms(policy: Policy, problem: Problem) -> list[int]:
    rounds = ROUNDS // 2 if str(policy).startswith(LONG) else ROUNDS
    rounds = FEW if shape_of(problem, 1).width > WIDE else rounds
    record = play_run(policy, problem, np.array([rounds]), seed=3, run=1, keep_arms=True)
    return [int(arm) for arm in record.arms]


def arms_or_failure(policy: Policy, problem: Problem) -> list[int] | str:
    """Return the arms, or what went wrong: one bad policy must not hide the others."""
    try:
        return pulled_arms(policy, problem)
    except Exception as error:
        return repr(error)


def all_pairs() -> list[tuple[Policy, Problem]]:
    """Return every policy on every problem that it can play, and what is played in loops."""
    pairs = [(policy, problem) for policy in policies() for problem in problems_for(policy)]
    pairs += [(policy, Problem.parse(IN_CONTEXT)) for policy in policies_with_models()]
    pairs += in_loops()
    return list(dict.fromkeys(pairs))


if __name__ == "__main__":
    for name in map(str.strip, sys.stdin):
        arms = {
            f"{policy} on {problem}": arms_or_failure(policy, problem)
            for policy, problem in all_pairs()
            if policy.name == name
        }
        sys.stdout.write(f"{json.dumps(arms)}\n")
        sys.stdout.flush()
