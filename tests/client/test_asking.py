"""Requests as `giro.Bandit` takes them."""

from typing import Any

import pandas as pd
import polars as pl
import pytest

from giro import BadParameter
from giro.client.asking import ask_for, asks_for, rewards_in, rows_table


@pytest.mark.parametrize(
    "contexts",
    [
        [{"x": 1}, {"x": 2}],
        iter([{"x": 1}, {"x": 2}]),
        pl.DataFrame({"x": [1, 2]}),
        pd.DataFrame({"x": [1, 2]}),
    ],
)
def test_contexts_come_in_any_form(contexts: Any) -> None:
    asks = asks_for("button", contexts, iter(["red"]), None)
    assert [ask.context for ask in asks] == [{"x": 1}, {"x": 2}]
    assert asks[0].first_arm == "red"
    assert asks[0].id != asks[1].id


def test_a_number_of_decisions_needs_no_contexts() -> None:
    assert [ask.context for ask in asks_for("button", 2, None, "red")] == [None, None]
    for wrong in (-1, True, "abc", {"x": 1}, 1.5):
        with pytest.raises(BadParameter, match="decide_many takes"):
            asks_for("button", wrong, None, None)


def test_an_id_of_the_caller_stays() -> None:
    assert ask_for("button", None, None, "mine", None).id == "mine"
    assert ask_for("button", None, {"red": [1.0]}, None, None).first_arm == "red"


def test_rewards_may_have_names() -> None:
    assert rewards_in({"x": 1.0}) == [("x", 1.0)]
    assert rewards_in([["x", 1.0, "first"]]) == [("x", 1.0, "first")]


def test_a_reward_without_a_value_is_refused() -> None:
    with pytest.raises(BadParameter, match=r"tuples of an id, a value .* got \('a',\)"):
        rewards_in([("a",)])


def test_numbers_that_are_missing_are_numbers_in_the_table() -> None:
    assert rows_table([{"value": None}])["value"].dtype == pl.Float64
