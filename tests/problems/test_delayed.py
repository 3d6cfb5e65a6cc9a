"""Rewards that reach the policy later: when, which, and that nothing else changes."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from contract.steps import in_steps
from laws import assert_follows

from giro import BadParameter, Policy, Problem
from giro.offer import Case, Offer, Shape
from giro.problems.delayed import Delayed
from giro.seeds import stream
from giro.simulation.play import play_run

ROUNDS = 60


class _Notes(NamedTuple):
    chosen: np.ndarray  # [round, 1 + feature] arm and context
    learned: np.ndarray  # [i, 2 + feature] number of choices, arm and context
    counts: np.ndarray  # [2]


def _choose(state: _Notes, offer: Offer, rng: np.random.Generator) -> int:
    t = state.counts[0]
    state.counts[0] += 1
    state.chosen[t] = [t % 3, *offer.context]
    return int(t % 3)


def _learn(state: _Notes, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    state.learned[state.counts[1]] = [state.counts[0], arm, *case.context]
    state.counts[1] += 1


@dataclass(frozen=True)
class Watching(Policy):
    """Pulls arms in turn, and notes what it learns."""

    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    notes: _Notes

    def start(self, shape: Shape, rng: np.random.Generator) -> _Notes:
        return self.notes


def watched(how: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what was chosen in each round, and what was learned, with the round of choice."""
    notes = _Notes(np.zeros((ROUNDS, 3)), np.zeros((ROUNDS, 4)), np.zeros(2, np.int64))
    problem = Problem.parse(f"delayed:problem=[linear:n_arms=3,dimension=2],{how}")
    play_run(Watching(notes), problem, np.array([ROUNDS]), seed=seed, run=1)
    return notes.chosen, notes.learned[: notes.counts[1]]


@pytest.mark.parametrize(
    ("how", "after"),
    [
        ("lag=0", [t + 1 for t in range(60)]),
        ("lag=7", [t + 8 for t in range(53)]),
        ("lag=20,delay=batch", [20] * 20 + [40] * 20 + [60] * 20),
        ("lag=60", []),
    ],
)
def test_rewards_come_when_they_are_due_with_what_was_known_then(
    how: str, after: list[int], seed: int
) -> None:
    chosen, learned = watched(how, seed)
    assert learned[:, 0].tolist() == after
    assert learned[:, 1:].tolist() == chosen[: len(after)].tolist()


def test_random_delays_are_geometric_and_pass_no_reward_twice(seed: int) -> None:
    chosen, learned = watched("lag=5,delay=random", seed)
    rounds = [np.flatnonzero((chosen == row[1:]).all(axis=1)) for row in learned]
    assert all(each.size == 1 for each in rounds), "contexts differ"
    came = np.concatenate(rounds)
    assert np.unique(came).size == came.size
    assert (np.diff(came) < 0).any(), "some overtake others"
    assert (learned[:, 0] >= came + 1).all()
    due = Delayed(Problem.parse("bernoulli"), 5, "random")._due(50_000, stream(seed))
    waits = np.minimum(due - np.arange(due.size), 30)
    law = np.append((1 / 6) * (5 / 6) ** np.arange(30), (5 / 6) ** 30)
    assert_follows(waits, law)


@pytest.mark.parametrize("how", ["lag=0", "lag=1,delay=batch", "lag=0,delay=random"])
def test_without_a_delay_nothing_changes(how: str, seed: int) -> None:
    policy = in_steps(Policy.parse("thompson"))
    records = [
        play_run(policy, Problem.parse(text), np.array([ROUNDS]), seed=seed, run=3, keep_arms=True)
        for text in ("bernoulli", f"delayed:problem=bernoulli,{how}")
    ]
    assert records[0].arms.tolist() == records[1].arms.tolist()


def test_a_compiled_loop_plays_as_plain_python(seed: int) -> None:
    problem = Problem.parse("delayed:problem=bernoulli,lag=9,delay=random")
    policy = Policy.parse("uniform")
    records = [
        play_run(each, problem, np.array([ROUNDS]), seed=seed, run=3, keep_arms=True)
        for each in (policy, in_steps(policy))
    ]
    assert records[0].arms.tolist() == records[1].arms.tolist()


def test_what_cannot_be_delayed_is_refused() -> None:
    for text, complaint in (
        ("problem=[sleeping:problem=bernoulli]", "needs problems with all arms on offer"),
        ("problem=bernoulli,lag=-1", "needs a whole number lag >= 0"),
        ("problem=bernoulli,lag=0,delay=batch", "needs a whole number lag >= 1"),
        ("problem=bernoulli,delay=often", "is one of fixed, random, batch"),
    ):
        with pytest.raises(BadParameter, match=complaint):
            Problem.parse(f"delayed:{text}")
