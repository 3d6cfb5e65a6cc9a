"""The loop that every peer with contexts is timed in; runs in the peer's own environment."""

import json
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Peer(NamedTuple):
    """A policy of another library, ready for the first round."""

    choose: Callable[[np.ndarray], int]
    learn: Callable[[np.ndarray, int, float], object]


class Problem(NamedTuple):
    """An instance of our `linear` problem: mean 1/2 + x·θ, where |x| = √2 and |θ| = 1/√8."""

    theta: np.ndarray  # [arm, feature]
    contexts: np.ndarray  # [round, feature] the last one is 1
    uniform: np.ndarray  # [round] a reward is 1 where this is below the mean


def main(policies: dict[str, Callable[[int, int], Peer]]) -> None:
    """Play each policy once; print as JSON, by policy, rounds per second and regret.

    The arguments are the number of arms, that of features, the rounds, and which policies.
    """
    n_arms, n_features, rounds = map(int, sys.argv[1:4])
    problem = drawn(n_arms, n_features, rounds)
    played = {name: play(policies[name](n_arms, n_features), problem) for name in sys.argv[4:]}
    print(json.dumps(played))


def drawn(n_arms: int, n_features: int, rounds: int) -> Problem:
    """Return an instance of the problem."""
    rng = np.random.default_rng()  # noqa: TID251  # there is no giro here
    theta = _directions(rng, n_arms, n_features) / np.sqrt(8)
    contexts = np.column_stack([_directions(rng, rounds, n_features - 1), np.ones(rounds)])
    return Problem(theta, contexts, rng.random(rounds))


def _directions(rng: np.random.Generator, number: int, d: int) -> np.ndarray:
    points = rng.normal(size=(number, d))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def play(peer: Peer, problem: Problem) -> dict[str, float]:
    """Return rounds per second of processor time, drawing contexts not counted, and the regret."""
    means, regret = 0.5 + problem.contexts @ problem.theta.T, 0.0
    rounds = len(means)
    began = time.process_time()
    for t in range(rounds):
        context = problem.contexts[t : t + 1]
        arm = peer.choose(context)
        peer.learn(context, arm, float(problem.uniform[t] < means[t, arm]))
        regret += means[t].max() - means[t, arm]
    return {"rounds_per_second": rounds / (time.process_time() - began), "regret": regret}
