"""The rows that a run of a classification problem meets, in its order, for other programs."""

from pathlib import Path

import numpy as np

from giro import Problem
from giro.problem import reveal
from giro.problem import start as start_problem
from giro.seeds import stream

_PROBLEM_SIDE = 0  # of the streams of a run, see giro.simulation.play


def rows_in_order(problem: Problem, *, rounds: int, seed: int, run: int) -> tuple[np.ndarray, ...]:
    """Return contexts [round, feature] and rewards [round, arm] of one run, whatever the policy."""
    rng = stream(seed, run, _PROBLEM_SIDE)
    instance = start_problem(problem, rng)
    contexts, rewards = np.empty((rounds, problem.n_features)), np.empty((rounds, problem.n_arms))
    for t in range(rounds):
        offer, means, _ = reveal(instance, t, rng)
        contexts[t], rewards[t] = offer.context, means
    return contexts, rewards


def write_rows(folder: Path, contexts: np.ndarray, rewards: np.ndarray) -> None:
    """Write them where a peer's script reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "contexts.npy", contexts)
    np.save(folder / "rewards.npy", rewards)
