"""The own API, asked as a program would."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from service.conftest import Client, serving

from giro import Bandit

Served = Callable[..., None]
BUTTON = {"name": "button", "arms": ["red", "green"], "policy": "thompson"}
D, R = "/v1/bandits/button/decisions", "/v1/bandits/button/rewards"


def test_from_a_bandit_to_its_summary(served: Served) -> None:
    async def game(ask: Client) -> None:
        made = await ask("POST", "/v1/bandits", BUTTON)
        assert (made.status_code, made.json()["arms"]) == (201, ["red", "green"])
        decision = await ask.post(D, {"context": None})
        assert decision["arm"] in decision["propensities"]
        assert decision["propensity"] == decision["propensities"][decision["arm"]] == 0.5
        rewarded = await ask("POST", f"/v1/decisions/{decision['id']}/reward", {"value": 1})
        assert (rewarded.status_code, rewarded.content) == (204, b"")
        summary = await ask.get("/v1/bandits/button/summary")
        assert (summary["decisions"], summary["rewards"]) == (1, 1)
        assert {arm["arm"]: arm["rewards"] for arm in summary["arms"]}[decision["arm"]] == 1
        assert await ask.get("/v1/bandits") == {"bandits": ["button"]}
        again = await ask("POST", "/v1/bandits", BUTTON)
        assert (again.status_code, again.json()["decisions"]) == (200, 1)
        other = await ask("POST", "/v1/bandits", BUTTON | {"seed": 2})
        assert other.status_code == 409

    served(game)


def test_a_list_is_answered_item_by_item(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        good, bad, same = await ask.post(D, [{"id": "x"}, {"arms": ["blue"]}, {"id": "x"}])
        assert good == same
        assert bad["problem"]["status"] == 422
        outcomes = await ask.post(R, [{"id": "x", "value": 1}, {"id": "y", "value": 1}])
        assert [each["status"] for each in outcomes] == [204, 404]

    served(game)


def test_the_same_id_is_the_same_decision_and_another_request_a_conflict(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        first = await ask.post(D, {"id": "a/b"})
        assert await ask.post(D, {"id": "a/b"}) == first
        other = await ask("POST", D, {"id": "a/b", "arms": ["red"]})
        assert other.status_code == 409
        for path in ("a/b", "a%2Fb"):
            assert await ask.post(f"/v1/decisions/{path}/reward", {"value": 1}) is None
        late = await ask("POST", "/v1/decisions/a%2Fb/reward", {"value": 0})
        assert late.status_code == 409

    served(game)


def test_an_arm_that_was_taken_while_the_service_was_away_enters_the_log(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        body = {"id": "mine", "taken": "green"}
        for _ in range(2):
            decision = await ask.post(D, body)
            assert (decision["arm"], decision["propensity"]) == ("green", 1)
        await ask.post("/v1/decisions/mine/reward", {"value": 1})
        assert (await ask("POST", D, {"taken": "blue"})).status_code == 422
        assert (await ask.get("/v1/bandits/button"))["decisions"] == 1

    served(game)


def test_an_id_in_two_bandits_has_to_be_named_with_one(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        await ask.post("/v1/bandits", BUTTON | {"name": "other"})
        await ask.post(D, {"id": "x"})
        assert await ask.post("/v1/decisions/x/reward", {"value": 1}) is None
        await ask.post("/v1/bandits/other/decisions", {"id": "x"})
        both = await ask("POST", "/v1/decisions/x/reward", {"value": 1})
        assert both.status_code == 409
        key = await ask.key(scopes=["reward"], bandits=["other"])
        answer = await ask("POST", "/v1/decisions/x/reward", {"value": 1}, key=key)
        assert answer.status_code == 204
        nobody = await ask("POST", "/v1/decisions/y/reward", {"value": 1})
        assert nobody.status_code == 404

    served(game)


def test_a_ranking_takes_no_arm_twice(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        ranking = await ask.post("/v1/bandits/button/rankings", {"slots": 2, "id": "r"})
        decisions = ranking["decisions"]
        assert [each["id"] for each in decisions] == ["r/0", "r/1"]
        assert {each["arm"] for each in decisions} == {"red", "green"}

    served(game)


@pytest.mark.parametrize("body", [{"id": "x"}, {}])
def test_a_deferred_decision_counts_when_it_is_activated(
    served: Served, body: dict[str, str]
) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        decision = await ask.post(D, body | {"deferred": True})
        if body:
            assert await ask.post(D, body | {"deferred": True}) == decision
        path = f"/v1/decisions/{decision['id']}"
        await ask.post(f"{path}/reward", {"value": 1})
        counts = await ask.get("/v1/bandits/button")
        assert (counts["decisions"], counts["rewards"]) == (0, 0)
        for _ in range(2):
            await ask.post(f"{path}/activate")
        counts = await ask.get("/v1/bandits/button")
        assert (counts["decisions"], counts["rewards"]) == (1, 1)

    served(game)


@pytest.mark.parametrize("deferred", [False, True])
def test_a_report_that_is_sent_again_under_its_name_counts_once(
    served: Served, deferred: bool
) -> None:
    async def game(ask: Client) -> None:
        more = {"reward_aggregation": "sum", "reward_wait": 60, "reward_range": [0, 10]}
        await ask.post("/v1/bandits", BUTTON | more)
        id = (await ask.post(D, {"deferred": deferred}))["id"]
        for report in ("x", "x", "y", None):
            await ask.post(f"/v1/decisions/{id}/reward", {"value": 1, "report": report})
        again = [{"id": id, "value": 1, "report": "y"}, {"id": id, "value": 2, "report": "x"}]
        if not deferred:
            assert [each["status"] for each in await ask.post(R, again)] == [204, 409]
        await ask.post(f"/v1/decisions/{id}/activate")
        answer = await ask("GET", "/v1/bandits/button/events")
        events = [json.loads(line) for line in answer.text.splitlines()]
        named = [event["report"] for event in events if event["kind"] == "report"]
        assert named == ["x", "y", None]

    served(game)


def test_a_reward_finds_the_decision_of_a_targeting_key(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        decision = await ask.post(D, {})
        body = {"targetingKey": "ann", "value": 1}
        assert (await ask("POST", R, body)).status_code == 404
        await ask.service.stick("button", "ann", {"id": decision["id"]}, seconds=100)
        await ask.post(R, body)
        assert (await ask.get("/v1/bandits/button"))["rewards"] == 1

    served(game)


def test_arms_come_and_go_and_a_retired_bandit_decides_no_more(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        await ask.post("/v1/bandits/button/arms", {"arm": "a/ü"})
        assert (await ask.post(D, {"arms": ["a/ü"], "id": "x"}))["arm"] == "a/ü"
        assert (await ask("DELETE", "/v1/bandits/button/arms/a%2F%C3%BC")).status_code == 204
        assert (await ask.get("/v1/bandits/button"))["arms"] == ["red", "green"]
        assert (await ask("DELETE", "/v1/bandits/button")).status_code == 204
        assert (await ask("POST", D, {})).status_code == 410
        await ask.post("/v1/decisions/x/reward", {"value": 1})
        assert (await ask.get("/v1/bandits/button"))["retired"]

    served(game)


def test_the_log_comes_as_lines_and_goes_on_where_it_ended(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        await ask.post(D, [{}] * 40)
        lines = (await ask("GET", "/v1/bandits/button/events")).text.splitlines()
        events = [json.loads(line) for line in lines]
        assert [event["number"] for event in events] == list(range(1, 45))
        rest = (await ask("GET", "/v1/bandits/button/events?since=30")).text.splitlines()
        assert rest == lines[30:]
        assert (await ask("GET", "/v1/bandits/button/events?since=-1")).status_code == 422

    served(game)


def test_erased_decisions_are_gone(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        await ask.post(D, {"id": "x"})
        erased = await ask("DELETE", D, {"ids": ["x", "y"]})
        assert erased.json() == {"events": 1}
        assert (await ask("POST", "/v1/decisions/x/reward", {"value": 1})).status_code == 404

    served(game)


def test_what_was_acknowledged_is_there_after_a_restart(tmp_path: Path) -> None:
    async def first() -> dict[str, Any]:
        async with serving(tmp_path) as ask:
            await ask.post("/v1/bandits", BUTTON)
            decision: dict[str, Any] = await ask.post(D, {"id": "x"})
            return decision

    async def second() -> dict[str, Any]:
        async with serving(tmp_path) as ask:
            await ask.post(R, [{"id": "x", "value": 1}])
            decision: dict[str, Any] = await ask.post(D, {"id": "x"})
            return decision

    assert asyncio.run(first()) == asyncio.run(second())
    with Bandit.open(f"sqlite:///{tmp_path}/giro.db", "button") as bandit:
        assert (bandit.n_decisions, bandit.n_rewards) == (1, 1)


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("POST", D, "decide"),
        ("POST", "/v1/bandits/button/rankings", "decide"),
        ("POST", R, "reward"),
        ("DELETE", D, "admin"),
        ("POST", "/v1/bandits", "admin"),
        ("DELETE", "/v1/bandits/button", "admin"),
        ("POST", "/v1/bandits/button/arms", "admin"),
        ("DELETE", "/v1/bandits/button/arms/red", "admin"),
        ("GET", "/v1/bandits/button", "read"),
        ("GET", "/v1/bandits/button/summary", "read"),
        ("GET", "/v1/bandits/button/events", "read"),
        ("POST", "/v1/bandits/button/evaluations", "read"),
        ("GET", "/v1/bandits/button/evaluations", "read"),
        ("GET", "/v1/bandits/button/evaluations/x", "read"),
    ],
)
def test_each_path_needs_its_scope(served: Served, method: str, path: str, scope: str) -> None:
    bodies: dict[str, Any] = {
        "decisions": {"ids": ["x"]} if method == "DELETE" else {},
        "rankings": {"slots": 1},
        "rewards": [],
        "bandits": BUTTON,
        "arms": {"arm": "x"},
        "evaluations": {"policy": "ucb1"},
    }
    body = bodies.get(path.rpartition("/")[2]) if method != "GET" else None

    async def game(ask: Client) -> None:
        others = [each for each in ("decide", "reward", "read") if each != scope]
        key = await ask.key(scopes=others)
        assert (await ask(method, path, body, key=key)).status_code == 403
        elsewhere = await ask.key(bandits=["els*"])
        assert (await ask(method, path, body, key=elsewhere)).status_code == 403
        assert (await ask(method, path, body, key=None)).status_code == 401

    served(game)
