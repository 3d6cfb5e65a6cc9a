"""Both clients on a service that answers: the results of `giro.Bandit`, and its errors."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from client.conftest import World

import giro
from giro import BadParameter, Bandit, Contradiction, ServiceError, UnknownDecision

ARMS = ["red", "green"]


def test_from_a_bandit_to_its_summary_as_a_bandit_does(world: World) -> None:
    client = world.client()
    button = client.create("button", ARMS, "uniform")
    decisions = [button.decide(id=f"{number}") for number in range(20)]
    for number, decision in enumerate(decisions):
        button.reward(decision.id, number % 2)
    with Bandit.open(world.store, "button", read_only=True) as own:
        for decision in decisions:
            same = own.decision(decision.id)
            assert decision[:4] == (same.id, same.arm, same.propensity, same.propensities)
            assert not decision.is_fallback
        table = button.events()
        assert table.equals(own.events())
        assert table.schema == own.events().schema
        assert button.events(since=30).equals(own.events(since=30))
        assert button.events(since=table.height).schema == table.schema
        assert button.summary().equals(own.summary())
    assert client.names() == ["button"]
    assert client.waiting == 0
    assert not (world.folder / "queue.db").exists()  # nothing had to wait


def test_contexts_features_and_rankings_go_through(world: World) -> None:
    world.client().create("books", policy="uniform")
    books = world.client().bandit("books")
    arms = {"novel": {"pages": 400, "kind": "fiction"}, "atlas": {"pages": 90, "kind": "maps"}}
    first, second = books.rank({"hour": 14}, arms=arms, slots=2, id="page")
    assert {first.arm, second.arm} == set(arms)
    assert [first.id, second.id] == ["page/0", "page/1"]
    one = books.decide({"hour": np.int64(3), "taste": np.array([0.5, 1.0])}, arms=arms)
    assert one.arm in arms
    many = books.decide_many(pl.DataFrame({"hour": [1, 2, 3]}), arms=arms)
    assert len({each.id for each in many}) == 3
    books.reward_many({each.id: 0.5 for each in many})
    assert books.summary()["rewards"].sum() == 3


def test_arms_come_and_go_and_decisions_can_be_erased(world: World) -> None:
    button = world.client().create("button", ARMS, "uniform")
    button.add_arm("blue/1")
    button.retire_arm("red")
    assert button.info()["arms"] == ["green", "blue/1"]
    assert button.decide(arms=["blue/1"]).arm == "blue/1"
    id = button.decide().id
    assert button.erase([id]) == 1
    with pytest.raises(UnknownDecision, match=id):
        button.reward(id, 1.0)


@pytest.mark.parametrize("world", ["sync"], indirect=True)  # it takes another process
def test_another_policy_is_judged_by_the_service(world: World) -> None:
    button = world.client().create("button", ARMS, "uniform")
    for _ in range(20):
        decision = button.decide()
        button.reward(decision.id, float(decision.arm == "green"))
    rows = button.evaluate("always:green", estimators=["snips"])
    local = giro.evaluate(button.events(), "always:green", estimators=["snips"])
    assert rows["value"].to_list() == [local["snips"].value]


def test_errors_are_those_of_a_bandit_with_the_sentence_of_the_service(world: World) -> None:
    client = world.client()
    button = client.create("button", ARMS, "uniform")
    decision = button.decide(id="mine")
    button.reward(decision.id, 1)
    button.reward(decision.id, 1)  # the same again changes nothing
    cases: list[tuple[type[Exception], str, Any]] = [
        (Contradiction, "already has the reward", lambda: button.reward("mine", 0)),
        (UnknownDecision, "'nobody'", lambda: button.reward("nobody", 1)),
        (Contradiction, "another request", lambda: button.decide(id="mine", arms=["red"])),
        (BadParameter, r"in \[0, 1\]", lambda: button.reward("mine", 7)),
        (BadParameter, "'blue'", lambda: button.decide(arms=["blue"])),
        (BadParameter, "no bandit 'other'", lambda: client.bandit("other").decide()),
        (BadParameter, "finite numbers", lambda: button.decide({"x": float("nan")})),
        (BadParameter, "finite number", lambda: button.reward("mine", float("inf"))),
        (ServiceError, "not valid", lambda: world.client("no key").bandit("button").decide()),
    ]
    for kind, words, act in cases:
        with pytest.raises(kind, match=words):
            act()
    assert client.waiting == 0


def test_what_a_client_is_given_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GIRO_KEY", raising=False)
    with pytest.raises(BadParameter, match="GIRO_KEY"):
        giro.Client()
    with pytest.raises(BadParameter, match="http"):
        giro.Client("giro.db", "a key")
    with pytest.raises(BadParameter, match="timeout"):
        giro.Client(key="a key", timeout=0.0)
