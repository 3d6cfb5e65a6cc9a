"""From reports to events: new ones, repeated ones, and those that contradict."""

from typing import Any

import numpy as np
import pytest

from giro import BadParameter, Policy
from giro.bandit.event import Decided, Reported, Rewarded
from giro.bandit.rewarding import reports, settled, still_wanted
from giro.bandit.setting import Setting
from giro.bandit.stores import MemoryStore
from giro.bandit.stores.store import FoundDecision

NOW = 7.0


def setting(aggregation: str = "only", **rest: Any) -> Setting:
    given = {"reward_aggregation": aggregation, "reward_range": (-1.0, 3.0)} | rest
    if aggregation in ("last", "sum"):
        given |= {"reward_wait": 60.0}
    return Setting(Policy.parse("ucb1"), **given)


def decision(id: str) -> Decided:
    return Decided(id, 1.0, 0, np.arange(2), np.array([0.5, 0.5]), 0.5, 0)


@pytest.mark.parametrize("aggregation", ["only", "first"])
def test_each_decision_is_rewarded_once(aggregation: str) -> None:
    pairs = [("a", 1.0), ("b", 2), ("a", 1.0)]
    events = reports(pairs, setting(aggregation), NOW)
    assert events == [Rewarded("a", NOW, 1.0), Rewarded("b", NOW, 2.0)]


def test_two_values_for_one_decision_are_an_error_unless_the_first_counts() -> None:
    pairs = [("a", 1.0), ("a", 2.0)]
    with pytest.raises(BadParameter, match="two different rewards for the decision 'a'"):
        reports(pairs, setting("only"), NOW)
    assert reports(pairs, setting("first"), NOW) == [Rewarded("a", NOW, 1.0)]


@pytest.mark.parametrize("aggregation", ["last", "sum"])
def test_all_reports_are_kept_where_they_are_aggregated(aggregation: str) -> None:
    pairs = [("a", 1.0), ("a", 2.0), ("a", 2.0)]
    wanted = [Reported("a", NOW, 1.0), Reported("a", NOW, 2.0), Reported("a", NOW, 2.0)]
    assert reports(pairs, setting(aggregation), NOW) == wanted


@pytest.mark.parametrize("aggregation", ["last", "sum"])
def test_reports_of_the_same_name_are_one(aggregation: str) -> None:
    given = [("a", 1.0, "x"), ("a", 1.0, "y"), ("a", 1.0, "x"), ("b", 2.0, "x"), ("a", 1.0, None)]
    wanted = [("a", 1.0, "x"), ("a", 1.0, "y"), ("b", 2.0, "x"), ("a", 1.0, "")]
    events = reports(given, setting(aggregation), NOW)
    assert [(e.id, e.value, e.name) for e in events if isinstance(e, Reported)] == wanted
    with pytest.raises(BadParameter, match="two different rewards for the decision 'a'"):
        reports([("a", 1.0, "x"), ("a", 2.0, "x")], setting(aggregation), NOW)
    with pytest.raises(BadParameter, match="an id is a word"):
        reports([("a", 1.0, "")], setting(aggregation), NOW)


def test_where_one_reward_counts_names_of_reports_are_not_kept() -> None:
    assert reports([("a", 1.0, "x")], setting("only"), NOW) == [Rewarded("a", NOW, 1.0)]
    events = reports([("a", 1.0, "x"), ("a", 1.0, "y")], setting("only"), NOW)
    assert events == [Rewarded("a", NOW, 1.0)]


def test_a_report_that_the_log_has_under_its_name_is_not_wanted_even_later() -> None:
    store = MemoryStore()
    store.append([decision("a"), Reported("a", 2.0, 1.0, "x")])
    sent_again = Reported("a", NOW, 1.0, "x")
    for reward in (None, Rewarded("a", 3.0, 1.0)):
        known = found(a=reward)
        assert still_wanted([sent_again], known, setting("sum"), store) == []
        with pytest.raises(BadParameter, match="'x' of decision 'a' already has the value 1, got"):
            still_wanted([sent_again._replace(value=2.0)], known, setting("sum"), store)
    other = Reported("a", NOW, 1.0, "y")
    assert still_wanted([other], found(a=None), setting("sum"), store) == [other]


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (("a", 3.5), r"a number in \[-1, 3\], got 3.5"),
        (("a", float("nan")), "a number in"),
        (("a", "1"), "a number in"),
        ((7, 1.0), "no decision has the id 7"),
        ((None, 1.0), "no decision has the id None"),
    ],
)
def test_what_is_no_report_is_an_error(pair: Any, words: str) -> None:
    with pytest.raises(BadParameter, match=words):
        reports([("b", 1.0), pair], setting(), NOW)


def found(**rewards: Rewarded | None) -> dict[str, FoundDecision]:
    return {id: FoundDecision(decision(id), reward) for id, reward in rewards.items()}


def test_reports_of_decisions_that_wait_are_wanted_and_repetitions_are_not() -> None:
    events = [Rewarded("a", NOW, 1.0), Rewarded("b", NOW, 2.0)]
    store = found(a=Rewarded("a", 2.0, 1.0), b=None)
    assert still_wanted(events, store, setting(), MemoryStore()) == [events[1]]


@pytest.mark.parametrize(
    ("aggregation", "reward", "words"),
    [
        ("only", Rewarded("a", 2.0, 0.5), "already has the reward 0.5, got 1$"),
        ("only", Rewarded("a", 2.0, 0.5, True), "the reward 0.5 since it expired, got 1$"),
        ("first", Rewarded("a", 2.0, 0.5, True), "the reward 0.5 since it expired, got 1$"),
    ],
)
def test_a_report_that_contradicts_is_an_error(
    aggregation: str, reward: Rewarded, words: str
) -> None:
    with pytest.raises(BadParameter, match=words):
        still_wanted(
            [Rewarded("a", NOW, 1.0)], found(a=reward), setting(aggregation), MemoryStore()
        )


def test_the_first_of_two_rewards_counts_if_so_asked() -> None:
    store = found(a=Rewarded("a", 2.0, 0.5))
    assert still_wanted([Rewarded("a", NOW, 1.0)], store, setting("first"), MemoryStore()) == []


def test_a_report_of_nobody_or_after_the_end_is_an_error() -> None:
    with pytest.raises(BadParameter, match="no decision has the id 'z'"):
        still_wanted([Rewarded("z", NOW, 1.0)], {}, setting(), MemoryStore())
    late = found(a=Rewarded("a", 2.0, 1.0))
    with pytest.raises(BadParameter, match="already has the reward 1, got 1"):
        still_wanted([Reported("a", NOW, 1.0)], late, setting("sum"), MemoryStore())


def test_waiting_ends_with_the_sum_the_last_or_the_default() -> None:
    store = MemoryStore()
    store.append([decision("a"), decision("b")])
    store.append([Reported("a", 2.0, 2.5), Reported("a", 3.0, 2.0)])
    due = [decision("a"), decision("b")]
    for aggregation, value in (("sum", 3.0), ("last", 2.0)):  # the range ends at 3
        wanted = [Rewarded("a", NOW, value, False), Rewarded("b", NOW, 0.0, True)]
        assert settled(due, setting(aggregation), store, NOW) == wanted
    only = setting("only", reward_wait=5.0, default_reward=-1.0)
    assert settled(due, only, store, NOW) == [
        Rewarded("a", NOW, -1.0, True),
        Rewarded("b", NOW, -1.0, True),
    ]
