"""Logs of every accepted kind, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from giro import BadParameter, GiroError, evaluate
from giro.evaluation import Log, read_log
from giro.features import Hasher

TABLE: dict[str, list[Any]] = {
    "arm": ["red", "green", "red"],
    "reward": [1.0, 0.0, 2.5],
    "probability": [0.25, 0.75, 0.5],
    "context_age": [30, 40, 50],
    "context_city": ["Rome", "Oslo", "Rome"],
    "context_new": [True, False, True],
}


def same(first: Log, second: Log) -> bool:
    pairs = zip(first, second, strict=True)
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)


def test_a_table_has_arms_rewards_probabilities_and_contexts_of_numbers() -> None:
    log = read_log(TABLE)
    assert log.arm_names == ("green", "red")
    assert log.arm.tolist() == [1, 0, 1]
    assert log.reward.tolist() == [1.0, 0.0, 2.5]
    assert log.probability.tolist() == [0.25, 0.75, 0.5]
    names = ("context_age", "context_city=Oslo", "context_city=Rome", "context_new")
    assert log.feature_names == names
    assert log.contexts.tolist() == [[30, 0, 1, 1], [40, 1, 0, 0], [50, 0, 1, 1]]


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
    columns = {"arm": "item", "reward": "y", "probability": "p"}
    assert read_log(renamed, **columns, context="u").contexts.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert read_log(renamed, **columns, context=["u2"]).contexts.tolist() == [[4], [5], [6]]
    assert read_log(renamed, **columns, context="u1").feature_names == ("u1",)
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
        (changed(context_age=[1.0, float("inf"), 1.0]), "event 2 has the context inf"),
        (changed(context_age=[1.0, None, 1.0]), "no value in the column 'context_age'"),
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


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("log.csv", None, "there is no file"),
        ("log.txt", b"x", "a log is a .parquet, .csv"),
        ("log.parquet", b"PAR1", "cannot be read as .parquet"),
        ("log.jsonl", b"{", "cannot be read as .jsonl"),
        ("log.dsjson", b'{"_label_cost": 1', "line 1 is not JSON"),
        ("log.csv", b"arm,reward,probability\n", "the log is empty|arms are text"),
    ],
)
def test_wrong_files_are_refused(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(GiroError, match=said):
        read_log(tmp_path / name)


# -- the events of a bandit


def events_frame(**changes: Any) -> pl.DataFrame:
    rows = [
        ("decision", "d1", "a", None, 0.5, ["a", "b"], [0.5, 0.5], [1.0]),
        ("arm_added", "", "c", None, None, [], [], []),
        ("decision", "d2", "c", None, 0.2, ["a", "c"], [0.8, 0.2], [2.0, 3.0]),
        ("decision", "d3", "b", None, 0.3, ["a", "b", "c"], [0.3, 0.3, 0.4], [4.0, 5.0]),
        ("reward", "d2", "c", 7.0, None, [], [], []),
        ("decision", "d4", "a", None, 1.0, ["a"], [1.0], [6.0, 7.0]),
        ("expired", "d1", "a", 0.0, None, [], [], []),
        ("reward", "d4", "a", 3.0, None, [], [], []),
    ]
    names = ("kind", "id", "arm", "reward", "propensity", "arms", "propensities", "context")
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    schema = {"reward": pl.Float64, "propensity": pl.Float64}
    return pl.DataFrame({"number": range(8), **columns, **changes}, schema_overrides=schema)


@pytest.mark.parametrize("ending", ["", "parquet", "jsonl"])
def test_decisions_of_a_bandit_are_joined_with_their_rewards(tmp_path: Path, ending: str) -> None:
    source: Any = events_frame()
    if ending:
        path = tmp_path / f"events.{ending}"
        source.write_parquet(path) if ending == "parquet" else source.write_ndjson(path)
        source = path
    log = read_log(source)
    assert [log.arm_names[i] for i in log.arm] == ["a", "c", "a"]
    assert log.reward.tolist() == [0.0, 7.0, 3.0]
    assert log.probability.tolist() == [0.5, 0.2, 1.0]
    assert log.contexts.tolist() == [[1, 0], [2, 3], [6, 7]]
    assert log.eligible is not None and log.probabilities is not None
    assert log.eligible[:, log.arm_names.index("b")].tolist() == [True, False, False]
    assert log.probabilities[:, log.arm_names.index("c")].tolist() == [0.0, 0.2, 0.0]
    assert (log.adaptive, log.left_out) == (True, 1)


def test_decisions_left_out_are_counted_in_the_result() -> None:
    evaluation = evaluate(events_frame(), "logged")
    assert (evaluation.events, evaluation.left_out) == (3, 1)
    assert "left out 1 without reward" in str(evaluation)


def test_wrong_events_are_refused() -> None:
    twice = events_frame(id=["d1", "", "d2", "d3", "d2", "d4", "d2", "d4"])
    with pytest.raises(BadParameter, match="a decision two rewards"):
        read_log(twice)
    with pytest.raises(BadParameter, match="no column 'propensity'"):
        read_log(events_frame().drop("propensity"), format="giro")
    with pytest.raises(BadParameter, match="none of its 3 decisions has a reward"):
        read_log(events_frame().filter(pl.col("kind") == "decision").head(3))
    with pytest.raises(BadParameter, match="which was not eligible"):
        read_log(events_frame(arms=[["a"], [], ["a", "b", "c"], [], [], ["b"], [], []]))


# -- Vowpal Wabbit

DSJSON: dict[str, Any] = {
    "_label_cost": -1,
    "_label_probability": 0.8,
    "_label_Action": 2,
    "_labelIndex": 1,
    "Timestamp": "2021-07-29T10:00:00.999Z",
    "EventId": "x",
    "a": [2, 1],
    "p": [0.8, 0.2],
    "c": {"user": {"age": 30, "from": "Rome"}, "_skip": 1, "_multi": [{"i": {"x": 1}}, {}]},
}


def vw_log(path: Path, *records: dict[str, Any]) -> Log:
    path.write_text("\n".join(map(json.dumps, records)) + "\n")
    return read_log(path)


def test_lines_of_a_decision_service_are_read(tmp_path: Path) -> None:
    second = DSJSON | {"_label_cost": 0.5, "_labelIndex": 0, "_label_Action": 1, "a": [1, 2]}
    second |= {
        "_label_probability": 0.3,
        "p": [0.3, 0.7],
        "c": {"user": {"age": 4}, "_multi": [{}, {}]},
    }
    log = vw_log(tmp_path / "log.dsjson", DSJSON, second)
    assert log.arm_names == ("1", "2")
    assert log.arm.tolist() == [1, 0]
    assert log.reward.tolist() == [1.0, -0.5]
    assert log.probability.tolist() == [0.8, 0.3]
    assert log.feature_names == ("user.age", "user.from=Rome")
    assert log.contexts.tolist() == [[30, 1], [4, 0]]
    assert log.probabilities is not None
    assert log.probabilities.tolist() == [[0.2, 0.8], [0.3, 0.7]]
    assert log.eligible is None


def test_lines_of_plain_vw_json_are_read(tmp_path: Path) -> None:
    line = {"_labelIndex": 1, "_label_Cost": 2, "_label_Probability": 0.5, "s": {"x": 3}}
    inner = {"_label": {"Action": 3, "Cost": 1, "Probability": 0.25}, "s": {"x": 4}}
    log = vw_log(tmp_path / "log.json", line | {"_multi": [{}, {}]}, inner | {"_multi": [{}] * 3})
    assert log.arm.tolist() == [1, 2]
    assert log.reward.tolist() == [-2.0, -1.0]
    assert log.probability.tolist() == [0.5, 0.25]
    assert log.contexts.tolist() == [[3], [4]]
    assert log.eligible is not None
    assert log.eligible.tolist() == [[True, True, False], [True, True, True]]


def test_the_label_of_an_action_stands_with_it_or_is_text(tmp_path: Path) -> None:
    within = {"_multi": [{}, {"_label": {"Cost": 2, "Probability": 0.5}}]}
    text = {"_label": "1:3:0.25", "_multi": [{}, {}]}
    text_within = {"_multi": [{}, {"_label": "0:4:0.125"}]}
    log = vw_log(tmp_path / "log.json", within, text, text_within)
    assert log.arm.tolist() == [1, 0, 1]
    assert log.reward.tolist() == [-2.0, -3.0, -4.0]
    assert log.probability.tolist() == [0.5, 0.25, 0.125]


def test_lines_without_a_label_or_not_to_be_learned_are_left_out(tmp_path: Path) -> None:
    unlabelled = {"c": DSJSON["c"], "a": [1, 2], "p": [0.5, 0.5]}
    log = vw_log(tmp_path / "x.json", DSJSON, unlabelled, DSJSON | {"_skipLearn": True})
    assert (log.events, log.left_out) == (1, 2)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"_label_probability": 0}, "event 2 has the probability 0.0"),
        ({"_label_cost": "much"}, "line 2 has no readable label"),
        ({"_label_cost": float("nan")}, "event 2 has the reward nan"),
        ({"_labelIndex": 2}, "line 2 has the unknown arm 3 of 2"),
        ({"_labelIndex": -1}, "line 2 has the unknown arm 0 of 2"),
        ({"pdrop": 0.9}, "dropped with different probabilities"),
        ({"p": [0.8]}, "line 2 has 2 actions in 'a' and 1 probabilities in 'p'"),
        ({"_outcomes": [{"_label_cost": -1}]}, r"line 2 decides for several slots \(_outcomes"),
    ],
)
def test_wrong_lines_of_vw_are_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(BadParameter, match=said):
        vw_log(tmp_path / "log.json", DSJSON, DSJSON | change)


def adf(*actions: Any, **rest: Any) -> dict[str, Any]:
    """Return a line in which the first of these actions was chosen."""
    chance = 1.0 / len(actions)
    label = {"_labelIndex": 0, "_label_Cost": -1, "_label_Probability": chance}
    return {**label, "user": {"age": 30}, "_multi": list(actions), **rest}


X, Y = {"item": {"id": "x", "price": 2}, "_tag": "first"}, {"item": {"id": "y"}}


def test_the_same_actions_in_all_lines_are_arms_with_features(tmp_path: Path) -> None:
    log = vw_log(tmp_path / "log.json", adf(X, Y), adf(X), adf(X, Y))
    assert log.arm_feature_names == ("item.id=x", "item.price", "item.id=y")
    assert log.arm_features is not None
    assert log.arm_features.tolist() == [[1, 2, 0], [0, 0, 1]]
    assert log.names is None and log.features is None
    assert np.isfinite(evaluate(log, "ucb1")["ips"].value)
    assert np.isfinite(evaluate(log, "lin-ucb")["ips"].value)


def test_other_actions_from_line_to_line_are_known_by_their_features(tmp_path: Path) -> None:
    """One without features is known by its place."""
    log = vw_log(tmp_path / "log.json", adf(X, Y), adf(Y, X, {}))
    assert log.arm_names == ("1", "2", "3")
    assert log.names == [("1", "2"), ("1", "2", "3")]
    assert log.arm_feature_names == ("item.id=x", "item.price", "item.id=y", "arm=3")
    assert log.features is not None and not log.hashed
    assert log.features[0].tolist() == [[1, 2, 0, 0], [0, 0, 1, 0]]
    assert log.features[1].tolist() == [[0, 0, 1, 0], [1, 2, 0, 0], [0, 0, 0, 1]]
    assert np.isfinite(evaluate(log, "lin-ucb")["ips"].value)
    assert evaluate(log, "always:1")["ips"].value == evaluate(log, {"1": 1.0})["ips"].value
    with pytest.raises(BadParameter, match="ucb1 tells arms apart by their names"):
        evaluate(log, "ucb1")


def test_many_features_of_actions_are_hashed(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    lines = [adf(X, {f"w{i}": 1}) for i in range(498)]  # 1 shared, 2 of X and as many words
    assert not vw_log(path, *lines[:497]).hashed
    log = vw_log(path, *lines)
    assert log.hashed and log.names is not None and log.feature_names == ()
    asked_for = read_log(path, hashed=True)
    assert same(log._replace(features=None), asked_for._replace(features=None))
    hasher = Hasher()
    assert log.contexts.tolist() == [hasher.context({"user": {"age": 30}}).tolist()] * 498
    assert log.features is not None
    assert log.features[7].tolist() == hasher.arms({"1": X, "2": {"w7": 1}}).tolist()
    assert not read_log(path, hashed=False).hashed
    assert not vw_log(path, *(adf({}, {}, user={f"w{i}": 1}) for i in range(600))).hashed
    assert read_log(path, hashed=True).features is not None


@pytest.mark.parametrize("hashed", [True, False, None])
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (adf("x"), "line 2 has 'x' as action 1; expected features by name"),
        (adf(X, None), "line 2 has 'None' as action 2"),
        (adf(X) | {"_multi": {"a": 1}}, "line 2 has .* as _multi; expected a list"),
        (adf({"price": 10**400}), "line 2 has unreadable features"),
        (adf(X, user=10**400), "line 2 has unreadable features"),
        (adf({"price": float("inf")}), "line 2 has unreadable features|event 2 needs"),
    ],
)
def test_wrong_actions_of_vw_are_refused(
    tmp_path: Path, line: dict[str, Any], said: str, hashed: bool | None
) -> None:
    path = tmp_path / "log.json"
    path.write_text("\n".join(map(json.dumps, (adf(X), line))))
    with pytest.raises(BadParameter, match=said):
        read_log(path, hashed=hashed)


def test_lines_that_lie_too_deep_are_refused(tmp_path: Path) -> None:
    path, label = tmp_path / "log.json", json.dumps(adf(X))[:-1]
    for depth in (400, 100_000):
        path.write_text(label + ', "deep": ' + '{"x": ' * depth + "1" + "}" * (depth + 1))
        with pytest.raises(GiroError, match="line 1"):
            read_log(path)


def test_only_features_of_vw_are_hashed_on_request() -> None:
    with pytest.raises(BadParameter, match="Vowpal Wabbit"):
        read_log(TABLE, hashed=True)


def test_vw_is_not_a_table() -> None:
    with pytest.raises(BadParameter, match="read from files"):
        read_log(TABLE, format="vw")
    with pytest.raises(GiroError, match="no format is called 'vv'"):
        read_log(TABLE, format="vv")  # type: ignore[arg-type]


def test_contexts_of_different_lengths_are_refused() -> None:
    ragged = {"arm": ["a", "b"], "reward": [1, 0], "probability": [0.5, 0.5]}
    with pytest.raises(BadParameter, match=r"row 2 has 2 entries .* 'context', row 1 has 1"):
        read_log({**ragged, "context": [[1.0], [1.0, 2.0]]})
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


# -- Open Bandit

OPEN_BANDIT = """\
,timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_0
0,2019-11-24 00:00:00.004101+00:00,79,3,0,0.0125,81ce,0.0
1,2019-11-24 00:00:00.011190+00:00,14,1,1,0.0125,81ce,1.0
2,2019-11-24 00:00:00.024400+00:00,79,2,0,0.025,4ae3,0.0
"""


def test_the_open_bandit_layout_is_read(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text(OPEN_BANDIT)
    log = read_log(path)
    assert same(log, read_log(path, format="open-bandit"))
    assert log.arm_names == ("14", "79")
    assert log.arm.tolist() == [1, 0, 1]
    assert log.reward.tolist() == [0.0, 1.0, 0.0]
    assert log.probability.tolist() == [0.0125, 0.0125, 0.025]
    names = ("position=1", "position=2", "position=3", "user_feature_0=4ae3", "user_feature_0=81ce")
    assert log.feature_names == names
    assert log.contexts.tolist() == [[0, 0, 1, 0, 1], [1, 0, 0, 0, 1], [0, 1, 0, 1, 0]]


def test_the_names_of_the_open_bandit_pipeline_are_read() -> None:
    columns = {"action": [0, 1], "position": [0, 0], "reward": [1, 0], "pscore": [0.5, 0.25]}
    log = read_log(columns, format="open-bandit")
    assert log.probability.tolist() == [0.5, 0.25]
    with pytest.raises(BadParameter, match="has a column click or reward"):
        read_log({"item_id": [1], "pscore": [1.0]}, format="open-bandit")


ITEMS = """\
,item_id,item_feature_0,item_feature_1
0,7,0.5,shoe
1,79,-1.5,hat
2,14,0.25,shoe
"""


def test_an_open_bandit_folder_is_read_with_the_features_of_its_items(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    (folder / "all.csv").write_text(OPEN_BANDIT)
    (folder / "item_context.csv").write_text(ITEMS)
    log = read_log(folder)
    assert same(log, read_log(folder / "all.csv"))
    assert log.arm_names == ("7", "79", "14")  # also an item that was never shown
    assert log.arm.tolist() == [1, 2, 1]
    assert log.arm_features is not None
    assert log.arm_features.tolist() == [[0.5, 0, 1], [-1.5, 1, 0], [0.25, 0, 1]]
    names = ("item_feature_0", "item_feature_1=hat", "item_feature_1=shoe")
    assert log.arm_feature_names == names


def test_open_bandit_events_are_in_the_order_of_time(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text(OPEN_BANDIT)
    first, *lines = OPEN_BANDIT.splitlines()
    shuffled = tmp_path / "shuffled.csv"
    shuffled.write_text("\n".join([first, *reversed(lines)]))
    assert same(read_log(shuffled), read_log(path))


def test_a_table_beside_a_file_of_items_is_read_as_ever(tmp_path: Path) -> None:
    pl.DataFrame(TABLE).write_csv(tmp_path / "log.csv")
    (tmp_path / "item_context.csv").write_text(ITEMS)
    assert same(read_log(tmp_path / "log.csv"), read_log(TABLE))
