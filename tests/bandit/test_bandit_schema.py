"""A schema that grows while a bandit decides: in memory, in files, and in stores of many."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from bandit.clock import counted

import giro
from giro import BadParameter, Bandit, read_log
from giro.seeds import stream

POLICIES = ("lin-ucb:scale=0.5", "giro-ensemble:replicas=3", "squarecb", "rand-ucb")


def names_of(bandit: Bandit) -> list[str]:
    schema = bandit._state.schema
    assert schema is not None
    return [feature.name for feature in getattr(schema.context, "features", ())]


def test_two_that_meet_different_new_names_at_once_agree(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'log.db'}"
    with Bandit(["a", "b"], "lin-ucb", name="x", store=store) as first:
        first.decide({"age": 31})
        with Bandit.open(store, "x") as second:
            version = second._state.version
            first.decide({"age": 31, "city": "Rome"})
            second._state.version = version  # as if it had not heard of it
            second._state.schema = second._state.schema and second._state.schema.upto((1, 0))
            second.decide({"age": 45, "height": 1.8})
            first.decide({"age": 45})
            second._follower.follow()
            first._follower.follow()
            assert names_of(first) == names_of(second) == ["age", "city", "height"]
            assert first._state.version == second._state.version == 3
            kinds = first.events()["kind"].to_list()
        assert kinds.count("form") == 3


@pytest.mark.parametrize("policy", POLICIES)
def test_a_bandit_that_grew_goes_on_after_a_file_and_a_replay(policy: str, tmp_path: Path) -> None:
    bandit, rng = Bandit(["a", "b"], policy, seed=3, ids=counted()), stream(5)
    for i in range(30):
        context: dict[str, Any] = {"x": float(rng.normal())}
        if i > 10:
            context |= {"y": float(rng.normal() * 1e4), "w": str(rng.choice(["u", "v"]))}
        decision = bandit.decide(context)
        bandit.reward(decision.id, float(rng.random() < 0.5))
    bandit.save(tmp_path / "grown.giro")
    others = (Bandit.load(tmp_path / "grown.giro"), Bandit.replay(bandit.events()))
    context = {"x": 0.1, "y": 3e3, "w": "v"}
    law = bandit.decide(context, id="next").propensities
    for other in others:
        assert other.decide(context, id="next").propensities == law


def test_the_same_id_and_request_get_the_same_decision_after_the_schema_grew() -> None:
    bandit = Bandit(["a", "b"], "lin-ucb", seed=1)
    decision = bandit.decide({"x": 1.0}, id="first")
    bandit.decide({"x": 1.0, "later": "word"})
    assert bandit.decide({"x": 1.0}, id="first") == decision
    with pytest.raises(BadParameter, match="asked for by another request"):
        bandit.decide({"x": 2.0}, id="first")


def test_arms_bring_features_that_were_never_seen() -> None:
    """The trial's example: the first arm of the first request fixed the features of all arms."""
    bandit = Bandit(policy="rand-ucb", seed=1)
    arms: Any = {"a": {"topic": "x"}, "b": {"topic": "y", "length": 3, "tags": ["u", "v"]}}
    decision = bandit.decide({"c": 5}, arms=arms)
    bandit.reward(decision.id, 1.0)
    arms = {"a": {"topic": None}, "c": {"topic": "z", "price": 1e6}, "d": None}
    decision = bandit.decide({"c": 3, "hour": 3}, arms=arms)
    bandit.reward(decision.id, 0.0)
    schema = bandit._state.schema
    assert schema is not None
    assert [f.name for f in schema.arms.features] == ["length", "tags", "topic", "price"]  # type: ignore[union-attr]  # columns


def test_columns_have_a_limit_and_one_warning_says_so() -> None:
    bandit = Bandit(["a", "b"], "lin-ucb", max_columns=3)
    bandit.decide({"x": 1.0, "y": 2.0})
    with pytest.warns(UserWarning, match="there are 3 columns, which is the most"):
        bandit.decide({"x": 1.0, "y": 2.0, "z": 3.0, "zz": 1.0})
    bandit.decide({"x": 1.0, "y": 2.0, "zzz": 3.0})  # no second one: warnings are errors
    assert names_of(bandit) == ["x", "y", "z"]


# -- logs of other systems -------------------------------------------------------------------------

TABLE: dict[str, list[Any]] = {
    "arm": ["red", "green"] * 20,
    "reward": [1.0, 0.0] * 20,
    "probability": [0.5] * 40,
    "context_age": [float(20 + i) for i in range(40)],
    "context_city": ["Rome", None, "Oslo", "Rome"] * 10,
}


@pytest.mark.parametrize("policy", ["lin-ucb:scale=0.1", "giro-ensemble:model=[hashed:bits=10]"])
def test_learning_from_a_table_keeps_names(policy: str) -> None:
    bandit = Bandit(["red", "green"], policy, seed=1)
    assert bandit.learn_from(read_log(TABLE)) == 40
    decision = bandit.decide({"age": 30, "city": "Rome", "new": 1.5})
    assert decision.arm in ("red", "green")
    if policy.startswith("lin-ucb"):
        assert names_of(bandit) == ["age", "city", "new"]


def test_columns_of_a_log_are_found_by_their_names() -> None:
    """In another order, with other words, and beside names that the log does not have."""
    bandit = Bandit(["red", "green"], "lin-ucb:scale=0.1", features={"city": ["Oslo", "Rome"]})
    bandit.decide({"height": 1.8, "age": 40, "city": "Rome"})
    bandit.learn_from(read_log(TABLE))
    rows = bandit.events().filter(kind="decision")["context"].to_list()[1:]
    schema = bandit._state.schema
    assert schema is not None
    wanted = [
        schema.encode({"age": age, "city": city}).context
        for age, city in zip(TABLE["context_age"], TABLE["context_city"], strict=True)
    ]
    for row, want in zip(rows, wanted, strict=True):
        np.testing.assert_array_equal(np.array(row, float), want)


def test_a_name_may_be_a_number_and_elsewhere_a_word() -> None:
    bandit = Bandit(["a", "b"], "lin-ucb")
    bandit.decide({"age": 31})
    bandit.decide({"age": "unknown"})
    assert names_of(bandit) == ["age", "age"]
    declared = Bandit(["a", "b"], "lin-ucb", features={"age": "number"})
    with pytest.raises(BadParameter, match="feature 'age' is a number, got 'unknown'"):
        declared.decide({"age": "unknown"})


def test_contexts_may_begin_later_only_if_the_policy_stays_the_same() -> None:
    bandit = Bandit(["a", "b"], "lin-ucb")
    bandit.decide()
    bandit.decide({"x": 1.0})
    bandit.decide()
    other = Bandit(["a", "b"])
    other.decide()
    with pytest.raises(BadParameter, match="had no context, so it plays without"):
        other.decide({"x": 1.0})


def test_apprenticeship_is_the_estimate_of_evaluation() -> None:
    bandit, rng = Bandit(["a", "b"], "thompson", share=0.3, seed=2, ids=counted()), stream(9)
    for _ in range(200):
        decision = bandit.decide(baseline="a")
        bandit.reward(decision.id, float(rng.random() < (0.3 if decision.arm == "a" else 0.6)))
    events = bandit.events().filter(kind="decision")
    own = events["own"].to_numpy()
    log = read_log(bandit.events())
    weights = own / log.probability
    report = bandit.apprenticeship()
    value = float((weights * log.reward).sum() / weights.sum())
    residuals = weights * (log.reward - value)
    n = log.events
    assert report.would_have_earned == pytest.approx(value, rel=1e-9)
    error = np.sqrt((residuals**2).sum() * n / (n - 1)) / weights.sum()
    assert report.standard_error == pytest.approx(error, rel=1e-9)


def test_equal_rewards_have_no_error() -> None:
    bandit = Bandit(["a", "b"], "thompson", share=0.3, seed=2)
    for _ in range(50):
        bandit.reward(bandit.decide(baseline="a").id, 1.0)
    report = bandit.apprenticeship()
    assert (report.would_have_earned, report.standard_error) == (1.0, 0.0)
    assert giro.evaluate(bandit.events(), "always:a")["snips"].se == 0.0


# -- several contexts at once ----------------------------------------------------------------------


def test_the_rows_of_a_table_are_contexts() -> None:
    table = {"age": [31.0, 45.0, None], "city": ["Rome", "Oslo", "Rome"]}
    for frame in (pl.DataFrame(table), pd.DataFrame(table)):
        bandit = Bandit(["a", "b"], "lin-ucb")
        assert len(bandit.decide_many(frame)) == 3
        assert names_of(bandit) == ["age", "city"]
        rows = bandit.events().filter(kind="decision")["context"].to_list()
        assert [row[0] for row in rows][:2] == [31.0, 45.0]


def test_a_bandit_of_many_arms_is_shown_in_a_line() -> None:
    bandit = Bandit([f"arm {i}" for i in range(10_000)], "ucb1")
    assert len(repr(bandit)) < 250
    assert "and 9,990 more" in repr(bandit)
