"""Tables of events: every shape of them, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from evaluation.readers.small_table import TABLE, same

from giro import BadParameter, evaluate
from giro.evaluation import read_log
from giro.evaluation.log import Log
from giro.features import Columns


def names_of(log: Log) -> list[str]:
    """Return the names of the columns of contexts."""
    assert isinstance(log.schema.context, Columns)
    return log.schema.context.names()


def test_a_table_has_arms_rewards_probabilities_and_contexts_of_numbers() -> None:
    log = read_log(TABLE)
    assert log.arm_names == ("green", "red")
    assert log.arm.tolist() == [1, 0, 1]
    assert log.reward.tolist() == [1.0, 0.0, 2.5]
    assert log.probability.tolist() == [0.25, 0.75, 0.5]
    assert names_of(log) == ["age", "city", "city", "city", "new"]
    words = [[30, 0, 1, 0, 1], [40, 1, 0, 0, 0], [50, 0, 1, 0, 1]]  # Oslo, Rome, others
    assert log.contexts.tolist() == words
    asked = {"age": 30, "city": "Rome", "new": True}  # as a bandit would be asked
    assert log.schema.encode(asked).context.tolist() == words[0]


def test_a_table_is_the_same_in_every_shape(tmp_path: Path) -> None:
    frame = pl.DataFrame(TABLE)
    frame.write_parquet(tmp_path / "log.parquet")
    frame.write_csv(tmp_path / "log.csv")
    frame.write_ndjson(tmp_path / "log.jsonl")
    wanted = read_log(frame)
    assert same(wanted, read_log(pd.DataFrame(TABLE)))
    for ending in ("parquet", "csv", "jsonl"):
        assert same(wanted, read_log(tmp_path / f"log.{ending}")), ending
        assert same(wanted, read_log(str(tmp_path / f"log.{ending}"), format="table")), ending


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_the_kind_of_a_column_is_that_of_all_its_rows(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"log.{ending}"
    frame = pl.DataFrame({"arm": ["a"] * 300, "probability": [1.0] * 300})
    late = [0] * 299 + [0.5]
    if ending == "csv":
        lines = [f"a,1,{reward}" for reward in late]
        path.write_text("\n".join(["arm,probability,reward", *lines]))
    else:
        path.write_text(
            "\n".join(
                json.dumps({**row, "reward": reward})
                for row, reward in zip(frame.to_dicts(), late, strict=True)
            )
        )
    assert read_log(path).reward.tolist() == late


def test_columns_can_have_other_names() -> None:
    renamed = {
        "item": [10, 9, 10],
        "y": [1, 0, 1],
        "p": [0.5, 0.5, 1.0],
        "u1": [1, 2, 3],
        "u2": [4, 5, 6],
    }
    columns: dict[str, Any] = {"arm": "item", "reward": "y", "probability": "p"}
    assert read_log(renamed, **columns, context="u").contexts.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert read_log(renamed, **columns, context=["u2"]).contexts.tolist() == [[4], [5], [6]]
    assert names_of(read_log(renamed, **columns, context="u1")) == ["u1"]
    assert read_log(renamed, **columns, context=[]).contexts.shape == (3, 0)
    assert read_log(renamed, **columns).arm_names == ("9", "10")  # in the order of numbers


def test_a_column_of_lists_is_a_context() -> None:
    log = read_log({**TABLE, "context": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]}, context="context")
    assert log.contexts.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_arms_that_were_never_chosen_can_be_named() -> None:
    assert read_log(TABLE, arms=["blue", "green", "red"]).arm.tolist() == [2, 1, 2]
    with pytest.raises(BadParameter, match="event 2 has the unknown arm 'green'"):
        read_log(TABLE, arms=["blue", "red"])
    with pytest.raises(BadParameter, match="listed twice"):
        read_log(TABLE, arms=["red", "red", "green"])


def changed(**columns: list[Any]) -> dict[str, list[Any]]:
    return TABLE | columns


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({k: v for k, v in TABLE.items() if k != "reward"}, "the log has no column 'reward'"),
        (changed(probability=[0.5, 0.0, 0.5]), "event 2 has the probability 0.0"),
        (changed(probability=[0.5, 0.5, 1.5]), "event 3 has the probability 1.5"),
        (changed(probability=[float("nan"), 0.5, 0.5]), "event 1 has the probability nan"),
        (changed(reward=[0.0, float("nan"), 1.0]), "event 2 has the reward nan"),
        (changed(reward=["1", "x", "2"]), "event 2 has 'x' in column 'reward'"),
        (changed(reward=[1.0, None, 2.0]), "event 2 has None in column 'reward'"),
        (changed(arm=["a", None, "b"]), "event 2 has no arm"),
        (changed(arm=[0.5, 1.0, 2.0]), "arms are text or whole numbers"),
        (changed(context_age=[1.0, float("inf"), 1.0]), "event 2 has a context that is too large"),
        (changed(context_age=[{"a": 1}] * 3), "expected numbers or text"),
        ({name: [] for name in TABLE}, "arms are text or whole numbers|the log is empty"),
        (7, "a log is a DataFrame"),
    ],
)
def test_wrong_tables_are_refused(source: Any, said: str) -> None:
    with pytest.raises(BadParameter, match=said):
        read_log(source)


def test_a_listed_context_column_that_is_missing_is_refused() -> None:
    with pytest.raises(BadParameter, match="no column 'height'"):
        read_log(TABLE, context=["height"])


def test_what_is_not_there_is_missing() -> None:
    gaps = read_log(changed(context_age=[1.0, None, 3.0], context_city=["Rome", "Oslo", None]))
    np.testing.assert_array_equal(gaps.contexts[:, 0], [1.0, np.nan, 3.0])
    assert gaps.contexts[2, 1:4].tolist() == [0.0, 0.0, 0.0]
    assert np.isfinite(evaluate(gaps, "lin-ucb", reward_range=(0, 3))["dr"].value)
    ragged = {"arm": ["a", "b"], "reward": [1, 0], "probability": [0.5, 0.5]}
    lists = read_log({**ragged, "context": [[1.0], [1.0, 2.0]]})
    np.testing.assert_array_equal(lists.contexts, [[1.0, np.nan], [1.0, 2.0]])
    with pytest.raises(BadParameter, match=r"row 1 has .* in the column 'context'"):
        read_log({**ragged, "context": [["x", "y"], ["z", "w"]]})


def test_rewards_may_be_whole_numbers_and_others() -> None:
    log = {"arm": ["a", "b", "a"], "reward": [1, 0.5, True], "probability": [1, 0.5, 0.25]}
    assert read_log(log).reward.tolist() == [1.0, 0.5, 1.0]
    assert read_log(pd.DataFrame(log, dtype=object)).probability.tolist() == [1.0, 0.5, 0.25]
    contexts = {**log, "context": [[1, 0.5], [0.5, 1], [1, 1]]}
    assert read_log(contexts).contexts.tolist() == [[1.0, 0.5], [0.5, 1.0], [1.0, 1.0]]
    with pytest.raises(BadParameter, match="event 2 has 'many' in column 'reward'"):
        evaluate({**log, "reward": [1, "many", 0.5]}, "always:a")


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(BadParameter, match="one length, got arm 2, reward 1, probability 2"):
        evaluate({"arm": ["a", "b"], "reward": [1], "probability": [0.5, 0.5]}, "always:a")
