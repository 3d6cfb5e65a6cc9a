"""What both clients do while the service is away, and when it is back."""

import logging
import time
from typing import Any

import httpx
import pytest
from client.conftest import World

from giro import BadParameter, ServiceError
from giro.client.steps import Ask, encoded, new_id

ARMS = ["red", "green"]


@pytest.fixture
def button(world: World) -> Any:
    client = world.client()
    client.create("button", ARMS, "uniform")
    return client.bandit("button", baseline="green")


def log_of(world: World) -> tuple[dict[str, str], dict[str, float]]:
    """Return the arms and the rewards of all decisions, after checking that none is there twice."""
    events = world.client().bandit("button").events()
    tables = []
    for kind, column in (("decision", "arm"), ("reward", "reward")):
        rows = events.filter(events["kind"] == kind)
        assert rows["id"].is_unique().all()
        tables.append(dict(rows[["id", column]].iter_rows()))
    return tables[0], tables[1]


def flushed(world: World) -> Any:
    world.switch.cut = ""
    client = world.client()
    assert client.flush(20) == 0
    return client


def test_while_the_service_is_away_the_baseline_is_taken_and_told_later(
    world: World, button: Any
) -> None:
    world.switch.cut = "unsent"
    decision = button.decide({"hour": 3}, id="mine")
    assert decision == ("mine", "green", 1.0, {"green": 1.0}, True)
    other = button.decide(arms=["red", "green"], baseline="red")
    assert other[1:] == ("red", 1.0, {"red": 1.0, "green": 0.0}, True)
    third = world.client().bandit("button").decide(arms=["red", "green"])
    assert third.arm == "red"  # the first
    button.reward("mine", 1.0)
    assert world.client().waiting == 4
    assert button.decide({"hour": 3}, id="mine") == decision  # asked again before it was told
    flushed(world)
    arms, rewards = log_of(world)
    assert arms == {"mine": "green", other.id: "red", third.id: "red"}
    assert rewards == {"mine": 1.0}
    again = world.client().bandit("button", baseline="green").decide({"hour": 3}, id="mine")
    assert again.arm == "green"  # asked again afterwards
    assert len(log_of(world)[0]) == 3


def test_a_decision_that_may_have_been_made_is_replaced_under_another_id(
    world: World, button: Any
) -> None:
    world.switch.cut = "unheard"
    decision = button.decide(id="mine")
    assert (decision.id, decision.arm, decision.is_fallback) == ("mine~", "green", True)
    world.switch.cut = "unsent"
    assert button.decide(id="mine") == decision
    button.reward(decision.id, 1.0)
    flushed(world)
    arms, rewards = log_of(world)
    assert arms.keys() == {"mine", "mine~"}
    assert arms["mine~"] == "green"
    assert rewards == {"mine~": 1.0}


def test_a_reward_whose_answer_is_lost_counts_once_also_where_reports_add_up(
    world: World,
) -> None:
    client = world.client()
    button = client.create("button", ARMS, "uniform", reward_aggregation="sum", reward_wait=3600.0)
    id = button.decide().id
    world.switch.cut = "unheard"
    button.reward(id, 0.25)
    assert client.waiting == 1
    world.switch.cut = ""
    button.reward(id, 0.25)  # another one, which waits behind the first
    assert client.waiting == 2
    flushed(world)
    events = button.events()
    assert events.filter(events["kind"] == "report")["reward"].to_list() == [0.25, 0.25]


def test_a_request_that_got_no_answer_is_sent_again(world: World, button: Any) -> None:
    inner, failures = world.switch.inner, [httpx.ReadError("reset"), httpx.ConnectError("no")]

    def shaky(request: httpx.Request) -> httpx.Response:
        answer = inner(request)
        if failures:
            raise failures.pop()
        return answer

    world.switch.inner = shaky
    decision = button.decide()
    assert (decision.is_fallback, failures) == (False, [])
    assert log_of(world)[0] == {decision.id: decision.arm}


def test_only_the_first_call_waits_for_a_dead_service(world: World, button: Any) -> None:
    bandit = world.client(background=True).bandit("button", baseline="green")
    world.switch.cut, world.switch.calls = "unsent", []
    for _ in range(20):
        bandit.reward(bandit.decide().id, 1.0)
    calls = [call for call in world.switch.calls if call != "GET /livez"]  # of the background
    assert calls == ["POST /v1/bandits/button/decisions"] * 3  # with two retries


def test_what_answers_too_late_or_is_busy_is_away_and_what_refuses_is_not(
    world: World, button: Any
) -> None:
    for status in (429, 500, 502, 503, 504):
        world.switch.instead = httpx.Response(status, json={"detail": "busy"})
        own = world.client(timeout=0.5).bandit("button")
        assert own.decide(baseline="red").is_fallback
    for status in (401, 403):
        world.switch.instead = httpx.Response(status, json={"detail": "this key is not valid"})
        with pytest.raises(ServiceError, match="not valid") as refusal:
            world.client().bandit("button").decide(baseline="red")
        assert refusal.value.status == status


def test_without_an_arm_to_take_the_service_is_needed(world: World, button: Any) -> None:
    world.switch.cut = "unsent"
    with pytest.raises(ServiceError, match="give baseline= or arms="):
        world.client().bandit("button").decide()
    with pytest.raises(ServiceError, match="2 arms in the order"):
        button.rank(slots=2)
    with pytest.raises(ServiceError, match="no service answers at http://giro"):
        button.summary()
    assert world.client().waiting == 0


def test_rankings_and_lists_go_on_too(world: World, button: Any) -> None:
    world.switch.cut = "unsent"
    page = button.rank({"hour": 3}, arms=ARMS, slots=[{"place": 1}, {"place": 2}], id="page")
    assert [(each.id, each.arm) for each in page] == [("page/0", "red"), ("page/1", "green")]
    many = button.decide_many(3)
    assert [each.arm for each in many] == ["green"] * 3
    button.reward_many([(each.id, 0.5) for each in [*page, *many]])
    flushed(world)
    arms, rewards = log_of(world)
    assert arms == {each.id: each.arm for each in [*page, *many]}
    assert rewards == dict.fromkeys(arms, 0.5)


def test_what_the_service_does_not_take_in_the_end_is_kept_with_its_sentence(
    world: World, button: Any, caplog: pytest.LogCaptureFixture
) -> None:
    world.switch.cut = "unsent"
    good = button.decide()
    bad = button.decide(arms=["blue"], baseline="blue")
    button.reward(bad.id, 1.0)
    with caplog.at_level(logging.WARNING, "giro.client"):
        client = flushed(world)
    assert log_of(world)[0].keys() == {good.id}
    assert [(each.kind, each.id) for each in client.refused()] == [
        ("decision", bad.id),
        ("reward", bad.id),
    ]
    assert "'blue'" in client.refused()[0].detail
    assert "'blue'" in caplog.text


def test_a_list_that_is_refused_as_a_whole_is_sent_item_by_item(world: World, button: Any) -> None:
    world.switch.cut = "unsent"
    decisions = [button.decide() for _ in range(3)]
    inner = world.switch.inner

    def small(request: httpx.Request) -> httpx.Response:
        is_list = request.content.startswith(b"[") and request.content.count(b'"id"') > 1
        return httpx.Response(413, json={"detail": "too large"}) if is_list else inner(request)

    world.switch.inner = small
    flushed(world)
    assert log_of(world)[0] == {each.id: each.arm for each in decisions}


def test_a_key_that_is_refused_keeps_what_waits(world: World, button: Any) -> None:
    world.switch.cut = "unsent"
    button.decide()
    world.switch.cut = ""
    client = world.client("another key that is not known")
    assert client.flush(0.0) == 1
    assert client.refused() == []


def test_the_background_sends_what_waits_when_the_service_is_back(
    world: World, button: Any
) -> None:
    own = world.client(background=True)
    bandit = own.bandit("button", baseline="green")
    world.switch.cut = "unsent"
    decision = bandit.decide()
    bandit.reward(decision.id, 1.0)
    world.switch.cut = ""
    while own.waiting or not log_of(world)[1]:
        time.sleep(0.01)
    assert log_of(world) == ({decision.id: "green"}, {decision.id: 1.0})
    while bandit.decide().is_fallback:
        time.sleep(0.01)


def test_what_waits_in_the_file_is_sent_by_the_next_client(world: World, button: Any) -> None:
    world.switch.cut = "unsent"
    decision = button.decide()
    world.switch.cut = ""
    later = world.client(background=True)
    later.names()
    while later.waiting:
        time.sleep(0.01)
    assert log_of(world)[0] == {decision.id: "green"}


def test_an_evaluation_is_waited_for_and_one_that_fails_is_an_error(
    world: World, button: Any
) -> None:
    states = [
        {"id": "1", "status": "running"},
        {"id": "1", "status": "running"},
        {"id": "1", "status": "failed", "detail": "no policy is called 'gyro'"},
    ]
    world.switch.inner = lambda _: httpx.Response(200, json=states.pop(0))
    with pytest.raises(BadParameter, match="gyro"):
        button.evaluate("gyro")
    assert states == []


def test_ids_begin_with_the_bandit_and_bodies_are_plain() -> None:
    assert new_id("button").startswith("button.")
    assert new_id("button") != new_id("button")
    assert len(new_id("b" * 300)) == 24
    body = Ask("x", {"a": 1}, {"red": None}, None).body(taken="red")
    assert body == {"id": "x", "context": {"a": 1}, "arms": {"red": None}, "taken": "red"}
    with pytest.raises(BadParameter, match="got object"):
        encoded({"a": object()})
