"""Clocks, ids and names of arms are checked where they come in."""

from pathlib import Path
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


def test_a_redeploy_with_other_arms_is_told_and_has_two_ways_out(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/x.db"
    with Bandit(["a", "b"], "thompson", name="x", store=store) as first:
        kept = first.decide(arms=["b"])
    with pytest.raises(
        BadParameter, match=r"new are \['c'\], missing are \['b'\]; sync_arms=True adds and"
    ):
        Bandit(["a", "c"], "thompson", name="x", store=store)
    with Bandit.open(store, "x") as same:
        assert same.arms == ["a", "b"], "an error changes nothing"
    for _ in range(2):  # again, it changes nothing either
        with Bandit(["a", "c"], "thompson", name="x", store=store, sync_arms=True) as other:
            assert other.arms == ["a", "c"]
            assert other.events()["kind"].to_list().count("arm_added") == 3
            assert other.events()["kind"].to_list().count("arm_retired") == 1
    with Bandit(["c", "a"], "thompson", name="x", store=store) as again:
        again.reward(kept.id, 1.0)
        assert again.n_rewards == 1, "of an arm that was retired meanwhile"
