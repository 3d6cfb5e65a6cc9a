"""Decisions and events on pages."""

import csv
import io
import json
from typing import Any

import pytest
from service.dashboard.conftest import POLICY, played

from giro import Bandit
from giro.service.dashboard.past import (
    comma_separated,
    json_lines,
    latest_decisions,
    latest_events,
    one_decision,
)
from giro.service.errors import Problem


def test_decisions_come_in_parts_that_follow_each_other() -> None:
    bandit = played(Bandit(["a", "b"], POLICY), 120)
    seen, query = list[str](), dict[str, str]()
    while True:
        content = latest_decisions(bandit, query)
        seen += [row["id"] for row in content["decisions"]]
        if content["older"] is None:
            break
        query = {"before": str(content["older"])}
    events = bandit.events().filter(kind="decision")
    assert seen == events["id"].to_list()[::-1]


def test_a_row_says_whether_a_likelier_arm_was_passed_over() -> None:
    bandit = Bandit(["a", "b"], "epsilon-greedy:epsilon=0.2", ids="numbered", seed=3)
    for _ in range(80):
        decision = bandit.decide()
        bandit.reward(decision.id, float(decision.arm == "a"))
    for row in latest_decisions(bandit, {})["decisions"]:
        chances = bandit.decision(row["id"]).propensities
        assert chances is not None
        likelier = [arm for arm in chances if chances[arm] > chances[row["arm"]] + 1e-9]
        assert row["explored"] == bool(likelier)
        assert row["is_even"] == (abs(chances["a"] - chances["b"]) < 1e-9)
        assert not likelier or row["likeliest"] == likelier[0]


def test_one_decision_has_its_probabilities_its_context_and_its_reward() -> None:
    bandit = Bandit(["a", "b"], "lin-ts", features={"age": "number", "country": ["de", "it"]})
    decision = bandit.decide({"age": 31, "country": "it"})
    bandit.reward(decision.id, 1.0)
    content = one_decision(bandit, {"id": decision.id})
    assert dict(content["context"]) == {"age": 31.0, "country": "it"}
    assert content["known"].reward == 1.0
    assert {arm for arm, _ in content["chances"]} == {"a", "b"}
    assert content["features"] is None


def test_the_chosen_arm_is_shown_even_if_many_are_likelier() -> None:
    bandit = Bandit([f"arm {i}" for i in range(200)], "uniform")
    decision = bandit.decide()
    content = one_decision(bandit, {"id": decision.id})
    shown = [arm for arm, _ in content["chances"]]
    assert decision.arm in shown
    assert len(shown) + content["n_left"] == 200


def test_features_of_arms_are_a_table() -> None:
    bandit = Bandit(None, "giro-ensemble")
    arms: dict[str, dict[str, Any]] = {
        "novel": {"pages": 400.0},
        "atlas": {"pages": 90.0, "kind": "maps"},
    }
    decision = bandit.decide(arms=arms)
    names, rows = one_decision(bandit, {"id": decision.id})["features"]
    assert names == ["kind", "pages"]
    assert dict(rows)["novel"][1] == 400.0


@pytest.mark.parametrize("id", ["", "nobody", "\x00"])
def test_a_decision_that_there_is_not_is_said_so(id: str) -> None:
    with pytest.raises(Problem) as caught:
        one_decision(Bandit(["a", "b"], POLICY), {"id": id})
    assert caught.value.status == 404


def test_events_of_one_kind_come_alone_and_wrong_questions_are_refused() -> None:
    bandit = played(Bandit(["a", "b"], POLICY))
    content = latest_events(bandit, {"kind": "reward"})
    assert {row["kind"] for row in content["events"]} == {"reward"}
    assert len(content["events"]) == 50
    for query in ({"kind": "x"}, {"before": "x"}, {"before": "0"}, {"before": "9" * 30}):
        with pytest.raises(Problem) as caught:
            latest_events(bandit, query)
        assert caught.value.status == 422


def test_exports_hold_every_event_once() -> None:
    bandit = played(Bandit(["a", "b"], POLICY), 300)
    table = bandit.events()
    parts = list(bandit.event_parts())
    assert len(parts) > 1
    text = b"".join(json_lines(part, first=i == 0) for i, part in enumerate(parts)).decode()
    assert [json.loads(line)["number"] for line in text.splitlines()] == table["number"].to_list()
    text = b"".join(comma_separated(part, first=i == 0) for i, part in enumerate(parts)).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [int(row["number"]) for row in rows] == table["number"].to_list()
    decision = next(row for row in rows if row["kind"] == "decision")
    assert json.loads(decision["arms"]) == ["a", "b"]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", 'a "quoted", b'])
def test_a_name_is_no_formula_for_a_table_program(name: str) -> None:
    bandit = Bandit([name, "b"], "uniform")
    text = comma_separated(bandit.events(), first=True).decode()
    arms = [row["arm"] for row in csv.DictReader(io.StringIO(text)) if row["kind"] == "arm_added"]
    assert arms == [f"'{name}" if name[0] in "=+-@" else name, "b"]
