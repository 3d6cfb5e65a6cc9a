"""The newest events and decisions, and the log in parts."""

import polars as pl
import pytest
from bandit.clock import bandit_of
from bandit.eventful import eventful
from bandit.test_retention import played

from giro import BadParameter, Bandit, UnknownName


def rows_of(table: pl.DataFrame) -> list[str]:
    """Return rows as texts: numbers that are missing are equal then."""
    return [repr(row) for row in table.rows()]


def test_the_newest_events_are_the_end_of_the_table() -> None:
    bandit = eventful()
    events = bandit.events()
    rows = rows_of(events)[::-1]
    assert rows_of(bandit.latest_events(10_000)) == rows
    assert rows_of(bandit.latest_events(20)) == rows[:20]
    assert rows_of(bandit.latest_events(7, before=len(rows) - 9)) == rows[10:17]
    kinds = ["reward", "expired", "arm_added"]
    some = events.filter(events["kind"].is_in(kinds))
    assert rows_of(bandit.latest_events(500, kinds=kinds).reverse()) == rows_of(some)
    with pytest.raises(UnknownName, match="arm_added"):
        bandit.latest_events(kinds=["arm_aded"])
    with pytest.raises(BadParameter, match="before"):
        bandit.latest_events(before=0)
    with pytest.raises(BadParameter, match="n"):
        bandit.latest(0)


def test_the_newest_decisions_come_with_their_rewards() -> None:
    bandit = eventful()
    table = bandit.events().filter(kind="decision").reverse()
    latest = bandit.latest(1_000)
    assert [number for number, _ in latest] == table["number"].to_list()
    assert [found for _, found in latest] == [bandit.look_up(id) for id in table["id"]]
    before = latest[9][0]
    assert bandit.latest(5, before=before) == latest[10:15]
    assert bandit_of().latest() == []


def test_parts_of_a_log_are_its_table(where: str | None) -> None:
    with played(where, rounds=300) as bandit:  # older events have left
        assert pl.concat(bandit.event_parts()).equals(bandit.events())
        assert bandit.latest(10_000)[-1][1].decision.id in bandit.events()["id"]
    assert next(iter(Bandit(["a", "b"], "ucb1").event_parts())).height == 3


def test_ten_thousand_arms_are_told_in_one_line() -> None:
    told = repr(Bandit([f"arm {i}" for i in range(10_000)], "ucb1"))
    assert told.startswith("Bandit(['arm 0', 'arm 1',")
    assert "more, 'ucb1': 0 decisions, 0 rewards)" in told
    assert len(told) < 300 and "\n" not in told
