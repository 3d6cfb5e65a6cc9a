"""Compiling ahead leaves a bandit as it was."""

import gc

import numpy as np
import pytest
from bandit.clock import bandit_of

from giro import Bandit
from giro.bandit import warm_up
from giro.live import LivePolicy
from giro.offer import Case
from giro.policy import arrays_of

USER = {"age": 31, "from": "it"}


def arrays_after(bandit: Bandit) -> dict[str, np.ndarray]:
    """Return what the policy knows after a few rewards."""
    for i in range(9):
        bandit.reward(bandit.decide(USER).id, i % 3 / 2)
    live = bandit._state.live
    assert live is not None
    return arrays_of(live.state) or {}


def test_warming_up_leaves_no_garbage_for_later() -> None:
    full = list[str]()
    note = lambda phase, info: full.append(phase) if info["generation"] == 2 else None  # noqa: E731
    gc.callbacks.append(note)
    try:
        bandit_of("lin-ucb").warm_up(USER)
    finally:
        gc.callbacks.remove(note)
    assert full[-2:] == ["start", "stop"]


def test_compiling_ahead_leaves_nothing_behind() -> None:
    bandit, cold = bandit_of("lin-ucb"), bandit_of("lin-ucb")
    bandit.warm_up(USER)
    assert bandit.n_decisions == bandit.n_rewards == 0
    warm, expected = arrays_after(bandit), arrays_after(cold)
    assert warm.keys() == expected.keys()
    for path in expected:
        np.testing.assert_array_equal(warm[path], expected[path])
    assert bandit.events().equals(cold.events())


@pytest.mark.parametrize("many", [False, True])
def test_the_first_decision_makes_rewards_ready_too(
    many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the first reward would compile while all decisions wait."""
    learned = list[tuple[LivePolicy, float]]()
    learn = LivePolicy.learn

    def noting(self: LivePolicy, case: Case, arm: int, reward: float) -> None:
        learned.append((self, reward))
        learn(self, case, arm, reward)

    monkeypatch.setattr(LivePolicy, "learn", noting)
    monkeypatch.setattr(warm_up, "_READY", set())
    bandit = bandit_of("lin-ucb")
    for _ in range(2):
        bandit.decide_many([USER] * 3) if many else bandit.decide(USER)
        assert [reward for _, reward in learned] == [1.0, 0.0]
    assert all(live is not bandit._state.live for live, _ in learned), "with a state of its own"
    assert bandit._state.live is not None
    assert bandit.n_rewards == bandit._state.live.learned == 0
