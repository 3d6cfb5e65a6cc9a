"""Evaluations, which run aside."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from service.conftest import Client

from giro.service import evaluations

Served = Callable[..., None]


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process takes seconds to start, and `test_run` starts one."""

    async def evaluated_here(order: dict[str, Any]) -> dict[str, Any]:
        return await asyncio.to_thread(evaluations.evaluated, order)

    monkeypatch.setattr(evaluations, "in_another_process", evaluated_here)


async def finished(ask: Client, policy: str) -> Any:
    begun = await ask(
        "POST", "/v1/bandits/b/evaluations", {"policy": policy, "estimators": ["ips"]}
    )
    assert (begun.status_code, begun.json()["status"]) == (202, "running")
    for _ in range(10_000):
        result = await ask.get(f"/v1/bandits/b/evaluations/{begun.json()['id']}")
        if result["status"] != "running":
            return result
        await asyncio.sleep(0.01)
    raise AssertionError("it never ended")


def test_an_evaluation_does_not_outlive_its_service(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def for_ever(order: dict[str, Any]) -> dict[str, Any]:
        await asyncio.Event().wait()
        return order

    monkeypatch.setattr(evaluations, "in_another_process", for_ever)
    ids: list[str] = []

    async def before(ask: Client) -> None:
        await ask.post("/v1/bandits", {"name": "b", "arms": ["x", "y"], "policy": "uniform"})
        for _ in range(2):  # one runs, one waits
            begun = await ask("POST", "/v1/bandits/b/evaluations", {"policy": "ucb1"})
            ids.append(begun.json()["id"])
            shown = await ask.get(f"/v1/bandits/b/evaluations/{ids[-1]}")
            assert shown["status"] == "running"

    async def after(ask: Client) -> None:
        old = {"id": "x", "status": "running", "policy": "ucb1", "created": 1.0, "alive": 1.0}
        await ask.service.put("evaluation", "b/x", old)  # its service was killed
        for id in (*ids, "x"):
            shown = await ask.get(f"/v1/bandits/b/evaluations/{id}")
            assert (shown["status"], "ask again" in shown["detail"]) == ("failed", True)

    served(before)
    served(after)


def test_the_result_of_an_evaluation_is_kept(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", {"name": "b", "arms": ["x", "y"], "policy": "uniform"})
        decisions = await ask.post("/v1/bandits/b/decisions", [{}] * 40)
        arms = {each["decision"]["id"]: each["decision"]["arm"] for each in decisions}
        rewards = [{"id": id, "value": float(arm == "x")} for id, arm in arms.items()]
        await ask.post("/v1/bandits/b/rewards", rewards)
        result = await finished(ask, "always:x")
        share = sum(arm == "x" for arm in arms.values()) / 40
        assert result["rows"][0]["value"] == pytest.approx(2 * share)  # ips: weights are 2
        failed = await finished(ask, "nonsense")
        assert (failed["status"], "nonsense" in failed["detail"]) == ("failed", True)
        kept = (await ask.get("/v1/bandits/b/evaluations"))["evaluations"]
        assert [each["id"] for each in kept] == [failed["id"], result["id"]]
        assert (await ask("GET", "/v1/bandits/b/evaluations/x")).status_code == 404

    served(game)


def test_policies_learn_from_rewards_in_the_range_of_the_bandit(served: Served) -> None:
    async def game(ask: Client) -> None:
        new = {"name": "b", "arms": ["x", "y"], "policy": "uniform", "reward_range": [-5, 5]}
        await ask.post("/v1/bandits", new)
        decisions = await ask.post("/v1/bandits/b/decisions", [{}] * 10)
        rewards = [{"id": each["decision"]["id"], "value": -4.5} for each in decisions]
        await ask.post("/v1/bandits/b/rewards", rewards)
        result = await finished(ask, "thompson")
        assert (result["status"], result["detail"]) == ("done", "")
        assert -5.0 <= result["rows"][0]["value"] < 0.0

    served(game)


def test_only_so_many_evaluations_wait(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("giro.service.evaluations._MOST", 1)

    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", {"name": "b", "arms": ["x", "y"], "policy": "uniform"})
        path, body = "/v1/bandits/b/evaluations", {"policy": "ucb1"}
        answers = [await ask("POST", path, body) for _ in range(2)]
        assert [each.status_code for each in answers] == [202, 429]
        assert answers[1].headers["retry-after"] == "10"

    served(game)
