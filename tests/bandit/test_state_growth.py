"""A state that outgrows its room, and one that never does, decide the same."""

from typing import Any

import pytest
from bandit.clock import bandit_of, live_of

from giro import Bandit
from giro.live import LivePolicy

SIZES: Any = LivePolicy.__init__.__kwdefaults__  # of a state that nobody told how large it gets


def arms_of(policy: str, n: int, **rest: Any) -> list[str]:
    bandit = bandit_of(policy, "abcd", **rest)
    bandit.decide()
    assert live_of(bandit._state).shape.capacity == SIZES["capacity"]
    arms = []
    for i in range(n):
        decision = bandit.decide()
        arms.append(decision.arm)
        bandit.reward(decision.id, (i * 7 % 11) / 10)
    return arms


@pytest.mark.parametrize("policy", ["ucb1", "thompson", "ensemble:models=3"])
def test_growth_beyond_the_room_changes_nothing(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = arms_of(policy, 100)
    monkeypatch.setitem(SIZES, "capacity", 2)
    assert arms_of(policy, 100) == large
    assert len(set(large)) > 1


def test_a_bandit_may_be_rewarded_more_often_than_it_was_told() -> None:
    assert len(arms_of("epsilon-greedy:share=0.2", 50, rounds=10)) == 50


def test_rewards_that_come_all_at_once_teach_as_much_as_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(SIZES, "capacity", 4)
    one, all_at_once = bandit_of("thompson"), bandit_of("thompson")
    ids = [decision.id for decision in one.decide_many(50)]
    all_at_once.decide_many(50)
    rewards = {id: float(i % 3 == 0) for i, id in enumerate(ids)}
    for id, value in rewards.items():
        one.reward(id, value)
    all_at_once.reward_many(rewards)
    assert next_arms(one) == next_arms(all_at_once)


def next_arms(bandit: Bandit) -> list[str]:
    return [decision.arm for decision in bandit.decide_many(30)]
