"""Parameters that change while a bandit is at work, and slots with limits of their own."""

from datetime import timedelta
from pathlib import Path

import pytest
from bandit.clock import Clock, bandit_of

from giro import BadParameter, Bandit, Slot


def test_a_change_counts_here_elsewhere_and_in_a_replay(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/x.db"
    first = Bandit(["a", "b"], "ucb1", name="x", store=store)
    other = Bandit.open(store, "x")
    first.change(share=0.0, reward_wait=timedelta(minutes=1), default_reward=1.0)
    first.decide()
    other._follower.follow()
    expected = (0.0, 60.0, 1.0)
    for bandit in (first, other, Bandit.replay(first.events())):
        setting = bandit.setting
        shown = tuple(setting[name] for name in ("share", "reward_wait", "default_reward"))
        assert shown == expected
        assert {bandit.decide(baseline="b").arm for _ in range(5)} == {"b"}
        bandit.close()


def test_policies_change_there_and_back(tmp_path: Path) -> None:
    """A policy that the log named before was taken for the older of two."""
    store = f"sqlite:///{tmp_path}/x.db"
    bandit = Bandit(["a", "b"], "ucb1", name="x", store=store)
    bandit.reward(bandit.decide().id, 1.0)
    for policy in ("thompson", "ucb1", "thompson", "ucb1"):
        bandit.change(policy=policy)
        assert bandit.policy.name == policy
        assert bandit.decide().arm in ("a", "b")
    bandit.close()
    for policy in ("thompson", "ucb1"):
        with Bandit.open(store, "x", policy) as opened:
            assert opened.policy.name == policy
        with Bandit.open(store, "x") as opened:
            assert opened.policy.name == policy


def test_reports_that_came_are_the_reward_when_they_are_not_collected_any_more() -> None:
    clock = Clock()
    bandit = bandit_of("ucb1", "a", clock=clock, reward_wait=10, reward_aggregation="sum")
    one, two = bandit.decide(), bandit.decide()
    for _ in range(2):
        bandit.reward(one.id, 0.25)
    bandit.change(reward_aggregation="first")
    bandit.reward(two.id, 1.0)
    clock.now += 20
    bandit.keep()
    assert sorted(bandit.events().filter(kind="reward")["reward"].to_list()) == [0.5, 1.0]


@pytest.mark.parametrize("name", ["seed", "reward_range", "name", "nothing"])
def test_other_parameters_cannot_change(name: str) -> None:
    with pytest.raises(BadParameter, match=f"can change, got {name}"):
        bandit_of().change(**{name: 1})


def test_a_policy_that_cannot_use_what_is_known_is_refused() -> None:
    bandit = Bandit(policy="greedy:model=hashed")
    bandit.decide({"x": 1}, arms={"a": {"y": 1}})
    with pytest.raises(BadParameter, match="hashed"):
        bandit.change(policy="lin-ucb")
    assert bandit.policy.name == "greedy"


@pytest.mark.parametrize("is_open", [False, True])
def test_slots_have_ids_exclusions_and_baselines(is_open: bool) -> None:
    arms = None if is_open else ["a", "b", "c"]
    policy = "greedy:model=hashed" if is_open else "ucb1"
    bandit = Bandit(arms, policy, share=0.0)
    given = {name: {"y": name} for name in "abc"} if is_open else ["a", "b", "c"]
    slots = [Slot("top", baseline="c"), Slot("side", excluded=["a", "c"], baseline="b")]
    ranking = bandit.rank(arms=given, slots=slots, id="r")
    assert [(each.id, each.arm, each.arms) for each in ranking] == [
        ("r/top", "c", ("a", "b", "c")),
        ("r/side", "b", ("b",)),
    ]
    with pytest.raises(BadParameter, match="without an arm"):
        bandit.rank(arms=given, slots=[Slot("x", excluded=["a", "b", "c"])])
    assert bandit.n_decisions == 2
