"""Counts are noted first and counted many at once: nobody can tell."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from bandit.clock import Clock, bandit_of, counted
from bandit.eventful import eventful

from giro import Bandit
from giro.bandit import counts, state


def text_of(bandit: Bandit) -> str:
    """Return all counts."""
    about, arrays = bandit._state.counts.snapshot()
    return json.dumps([about, {name: array.tolist() for name, array in arrays.items()}])


def changing() -> Bandit:
    """Return a bandit whose reports count in several ways, one after the other."""
    bandit = bandit_of("ucb1", reward_wait=10, reward_aggregation="sum")
    for how in ({}, {"share": 0.5}, {"reward_aggregation": "first"}, {"share": 0.0}):
        bandit.change(**how)
        for i in range(7):
            bandit.reward(bandit.decide().id, i / 7)
    return bandit


def of_many_names() -> Bandit:
    """Return a bandit that sees more arms than it counts."""
    options: dict[str, Any] = {"seed": 3, "clock": Clock(), "ids": counted()}
    bandit = Bandit(policy="lin-ucb", **options)
    for i in range(30):
        decision = bandit.decide(arms={f"arm {j}": {"x": j} for j in range(i, i + 3)})
        bandit.reward(decision.id, 0.5)
    return bandit


@pytest.mark.parametrize("made", [eventful, changing, of_many_names])
def test_counts_are_the_same_whenever_they_are_counted(
    made: Callable[[], Bandit], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "MOST_NAMES", 8)
    texts = set()
    for at_once in (1, 7, 256):
        monkeypatch.setattr(counts, "_AT_ONCE", at_once)
        bandit = made()
        texts |= {text_of(bandit), text_of(Bandit.replay(bandit.events(), ids=counted()))}
    assert len(texts) == 1


def test_looking_changes_no_count() -> None:
    looked_at, other = bandit_of(), bandit_of()
    for i in range(20):
        for bandit in (looked_at, other):
            bandit.reward(bandit.decide().id, i / 20)
        looked_at.summary()
    assert text_of(looked_at) == text_of(other)


def test_few_events_wait_to_be_counted() -> None:
    bandit = bandit_of()
    for _ in range(600):
        bandit.reward(bandit.decide().id, 1.0)
        assert len(bandit._state._counts._noted) < counts._AT_ONCE


def test_a_state_is_made_again_if_counting_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    bandit, other = bandit_of(), bandit_of()
    for each in (bandit, other):
        each.reward(each.decide().id, 1.0)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(counts.Counts, "_count_reward", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bandit.summary()
    for each in (bandit, other):
        each.decide()
    assert text_of(bandit) == text_of(other)
