"""What every peer's script does with rows to classify; runs without giro, in the peer's venv."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Task(NamedTuple):
    """Rows in the order in which they come, and the limits of what a policy may do with them."""

    folder: Path
    contexts: np.ndarray  # [round, feature]
    rewards: np.ndarray  # [round, arm] of 0 and 1, or graded
    n_arms: int
    seed: int
    limit: float  # seconds of processor time after which the run ends

    @property
    def graded(self) -> bool:
        """Whether there are rewards between 0 and 1."""
        return bool(((self.rewards > 0.0) & (self.rewards < 1.0)).any())


class Outcome(NamedTuple):
    """What a policy made of them."""

    rounds: int  # played within the limit
    mean_reward: float
    seconds: float  # of processor time


def main(policies: dict[str, Callable[[Task], Outcome]]) -> None:
    """Play the policy that is asked for, and print its outcome as JSON.

    The arguments are the policy, the folder with the rows, arms, seed and limit.
    """
    policy, folder, n_arms, seed, limit = sys.argv[1:]
    contexts = np.load(Path(folder) / "contexts.npy")
    rewards = np.load(Path(folder) / "rewards.npy")
    task = Task(Path(folder), contexts, rewards, int(n_arms), int(seed), float(limit))
    print(json.dumps(policies[policy](task)._asdict()))


def play_in_batches(
    task: Task,
    choose: Callable[[np.ndarray], np.ndarray],
    learn: Callable[[np.ndarray, np.ndarray, np.ndarray], object],
    *,
    batch: int,
) -> Outcome:
    """Choose for some rows at once, then learn from their rewards, to the end or to the limit."""
    began, total, t, rounds = time.process_time(), 0.0, 0, len(task.rewards)
    while t < rounds and time.process_time() - began < task.limit:
        rows = slice(t, min(t + batch, rounds))
        arms = choose(task.contexts[rows])
        rewards = task.rewards[rows][np.arange(len(arms)), arms]
        learn(task.contexts[rows], arms, rewards)
        total += rewards.sum()
        t = rows.stop
    return Outcome(t, total / t, time.process_time() - began)
