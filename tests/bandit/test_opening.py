"""Clocks, ids and names of arms are checked where they come in."""

from typing import Any

import pytest
from bandit.clock import bandit_of

from giro import BadParameter, Bandit


@pytest.mark.parametrize("time", [float("nan"), float("inf"), "now", None])
def test_a_clock_gives_seconds(time: Any) -> None:
    bandit = Bandit(["a", "b"], "thompson", clock=iter([0.0, 0.0, 0.0, 0.0, time]).__next__)
    with pytest.raises(BadParameter, match="the clock of a bandit gives seconds, got"):
        for _ in range(5):
            bandit.decide()


def test_ids_of_your_own_are_used() -> None:
    bandit = bandit_of()
    ids = [bandit.decide(id="request 1").id, bandit.decide().id, bandit.decide(id="7").id]
    assert ids == ["request 1", "0", "7"]
    for id in ids:
        bandit.reward(id, 1.0)
        assert bandit.decision(id).id == id


def test_ids_are_random_and_never_repeat() -> None:
    """With giro 0.1.0 two workers gave out the same ids, and took each other's rewards."""
    bandits = [Bandit(["x", "y"], "uniform") for _ in range(2)]
    ids = [decision.id for bandit in bandits for decision in bandit.decide_many(100)]
    assert len(set(ids)) == 200
    with pytest.raises(BadParameter, match="no decision has the id"):
        bandits[1].reward(ids[0], 1.0)
