"""Requests of many callers at once."""

from pathlib import Path
from typing import Any

import pytest

from giro import Ask, BadParameter, Bandit, Contradiction, Decision, UnknownDecision


@pytest.fixture
def bandit(where: str | None) -> Any:
    with Bandit(list("abc"), "thompson", store=where, name="b") as bandit:
        yield bandit


def one(answer: Any) -> Decision:
    assert isinstance(answer, list)
    (decision,) = answer
    return decision


def test_each_request_is_answered_as_it_would_be_alone(bandit: Bandit) -> None:
    asks = [Ask(id=str(i), arms=["a", "b"]) for i in range(20)] + [Ask(id="r", slots=3)]
    *singles, ranking = bandit.decide_each(asks)
    assert [one(each).id for each in singles] == [str(i) for i in range(20)]
    twins = [bandit.decide(id=str(i), arms=["a", "b"]) for i in range(20)]
    assert [one(each) for each in singles] == twins
    assert ranking == bandit.rank(slots=3, id="r")
    assert bandit.n_decisions == 23


def test_a_request_that_fails_fails_alone(bandit: Bandit) -> None:
    answers = bandit.decide_each(
        [Ask(), Ask(arms=["z"]), Ask(id="x" * 300), Ask(slots=9), Ask(baseline="z"), Ask()]
    )
    assert [isinstance(each, BadParameter | KeyError) for each in answers] == [0, 1, 1, 1, 1, 0]
    assert bandit.n_decisions == 2


def test_the_same_id_is_decided_once(bandit: Bandit) -> None:
    first, again, other = bandit.decide_each([Ask(id="x"), Ask(id="x"), Ask(id="x", arms=["a"])])
    assert one(first) == one(again)
    assert isinstance(other, Contradiction)
    assert [one(each) for each in bandit.decide_each([Ask(id="x")])] == first


def test_rewards_that_fail_fail_alone(bandit: Bandit) -> None:
    a, b = (one(each).id for each in bandit.decide_each([Ask(), Ask()]))
    errors = bandit.reward_each([(a, 1.0), ("no", 1.0), (b, 7.0), (a, 1.0), (a, 0.0), (b, 0.5)])
    assert [type(error) for error in errors] == [
        type(None),
        UnknownDecision,
        BadParameter,
        type(None),
        Contradiction,
        type(None),
    ]
    assert bandit.n_rewards == 2
    assert bandit.reward_each([(b, 0.5)]) == [None]


def test_reports_that_are_summed_may_come_together(where: str | None) -> None:
    options: Any = {"reward_wait": 9.0, "reward_aggregation": "sum"}
    with Bandit(list("ab"), "thompson", store=where, name="s", **options) as bandit:
        id = bandit.decide().id
        assert bandit.reward_each([(id, 0.25), (id, 0.5)]) == [None, None]
        named = [(id, 0.25, "x"), (id, 0.25, "y"), (id, 0.25, "x")]
        assert bandit.reward_each(named) == [None, None, None]
        assert bandit.reward_each([named[0], (id, 0.5, "y")])[0] is None
        assert bandit.events()["kind"].to_list()[-2:] == ["report", "report"]


def test_a_deferred_decision_enters_the_log_when_it_is_activated(bandit: Bandit) -> None:
    decision = one(bandit.decide_each([Ask(id="x", deferred=True)])[0])
    assert bandit.n_decisions == 0
    assert isinstance(bandit.reward_each([("x", 1.0)])[0], UnknownDecision)
    assert bandit.decision_in(decision.text, Ask(id="x")) == decision
    with pytest.raises(Contradiction):
        bandit.decision_in(decision.text, Ask(id="x", arms=["a", "b"]))
    for _ in range(2):
        assert bandit.activate([decision.text] * 2) == [decision] * 2
    assert bandit.reward_each([("x", 1.0)]) == [None]
    assert (bandit.n_decisions, bandit.n_rewards) == (1, 1)


@pytest.mark.parametrize("text", ["", "1.0 0.5 ??? x", "1.0 0.5 AAAA x"])
def test_a_text_that_is_no_decision_is_refused(bandit: Bandit, text: str) -> None:
    with pytest.raises(BadParameter, match="no text of a decision"):
        bandit.activate([text])


def test_a_process_that_is_behind_reads_on_before_it_activates(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/b.db"
    with Bandit(["a"], "lin-ucb", name="b", store=store) as first:
        with Bandit.open(store, "b") as other:
            first.add_arm("b")
            first.decide({"n": 1})  # the form of contexts is news for the other
            ask = Ask({"n": 2}, arms=["a", "b"], deferred=True)
            decision = one(first.decide_each([ask])[0])
            assert other.decision_in(decision.text, ask) == decision
        with Bandit.open(store, "b") as other:
            first.add_arm("c")
            ask = Ask({"n": 2, "m": 3}, arms=["b", "c"], deferred=True)
            decision = one(first.decide_each([ask])[0])
            assert other.activate([decision.text]) == [decision]
