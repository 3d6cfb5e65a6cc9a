"""Logs of Vowpal Wabbit: what is read, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evaluation.readers.small_table import same

from giro import BadParameter, GiroError, evaluate
from giro.evaluation import Log, read_log
from giro.features import Columns, Schema

NAN = float("nan")
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
    assert isinstance(log.schema.context, Columns)
    assert log.schema.context.names() == ["user.age", "user.from", "user.from"]
    assert log.contexts.tolist() == [[30, 1, 0], [4, 0, 0]]  # Rome, and other words
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


def names_of_arms(log: Log) -> list[str]:
    """Return the name of each column of features of arms."""
    assert isinstance(log.schema.arms, Columns)
    return log.schema.arms.names()


X, Y = {"item": {"id": "x", "price": 2}, "_tag": "first"}, {"item": {"id": "y"}}


def test_the_same_actions_in_all_lines_are_arms_with_features(tmp_path: Path) -> None:
    log = vw_log(tmp_path / "log.json", adf(X, Y), adf(X), adf(X, Y))
    assert names_of_arms(log) == ["item.id", "item.id", "item.id", "item.price"]
    np.testing.assert_array_equal(log.arm_features, [[1, 0, 0, 2], [0, 1, 0, NAN]])
    assert log.names is None and log.features is None
    assert np.isfinite(evaluate(log, "ucb1")["ips"].value)
    assert np.isfinite(evaluate(log, "lin-ucb")["ips"].value)


def test_other_actions_from_line_to_line_are_known_by_their_features(tmp_path: Path) -> None:
    """One without features is known by its place."""
    log = vw_log(tmp_path / "log.json", adf(X, Y), adf(Y, X, {}))
    assert log.arm_names == ("1", "2", "3")
    assert log.names == [("1", "2"), ("1", "2", "3")]
    assert names_of_arms(log) == [*3 * ["item.id"], "item.price", "arm", "arm"]
    assert log.features is not None and not log.schema.is_sparse
    x, y = [1, 0, 0, 2, 0, 0], [0, 1, 0, NAN, 0, 0]
    np.testing.assert_array_equal(log.features[0], [x, y])
    np.testing.assert_array_equal(log.features[1], [y, x, [0, 0, 0, NAN, 1, 0]])
    assert np.isfinite(evaluate(log, "lin-ucb")["ips"].value)
    assert evaluate(log, "always:1")["ips"].value == evaluate(log, {"1": 1.0})["ips"].value
    with pytest.raises(BadParameter, match="ucb1 tells arms apart by their names"):
        evaluate(log, "ucb1")


def test_many_features_of_actions_are_hashed(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    lines = [adf(X, {f"w{i}": 1}) for i in range(497)]  # 1 shared, 3 of X and as many words
    assert not vw_log(path, *lines[:496]).schema.is_sparse
    log = vw_log(path, *lines)
    assert log.schema == Schema.of_hashes() and log.names is not None
    asked_for = read_log(path, hashed=True)
    assert same(log, asked_for)
    wanted = Schema.of_hashes().encode({"user": {"age": 30}}, {"1": X, "2": {"w7": 1}})
    assert log.features is not None
    for one, other in ((log.contexts[7], wanted.context), (log.features[7], wanted.features)):
        for mine, its in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, its)
    assert not read_log(path, hashed=False).schema.is_sparse
    shared = [adf({}, {}, user={f"w{i}": 1}) for i in range(600)]
    assert not vw_log(path, *shared).schema.is_sparse
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
