"""Compiling ahead leaves a bandit as it was."""

import gc

import numpy as np
from bandit.clock import bandit_of

from giro import Bandit
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
