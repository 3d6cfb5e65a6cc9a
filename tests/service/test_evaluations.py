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
