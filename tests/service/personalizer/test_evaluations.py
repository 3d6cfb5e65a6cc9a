"""Evaluations of other learning settings, in both forms that versions have."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from service.conftest import Client

from giro.service import evaluations
from giro.service.personalizer.evaluations import seconds_of
from giro.service.personalizer.loop import Refusal

Served = Callable[..., None]
V3, NEW = "/personalizer/v1.1-preview.3", "/personalizer"
TIMES = {"startTime": "2000-01-01T00:00:00Z", "endTime": "2100-01-01T00:00:00"}
BAG = {"name": "bag", "arguments": "--cb_explore_adf --bag 3"}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process takes seconds to start, and `service/test_run` starts one."""

    async def evaluated_here(order: dict[str, Any]) -> dict[str, Any]:
        return await asyncio.to_thread(evaluations.evaluated, order)

    monkeypatch.setattr(evaluations, "in_another_process", evaluated_here)


async def play(ask: Client, rounds: int) -> None:
    """Reward the first of two actions, and punish the second."""
    for number in range(rounds):
        actions = [{"id": word, "features": [{"taste": word}]} for word in ("salt", "sweet")]
        body = {"actions": actions, "eventId": str(number)}
        chosen = (await ask.post(f"{NEW}/rank", body))["rewardActionId"]
        await ask.post(
            f"{NEW}/events/{number}/reward", {"value": 1.0 if chosen == "salt" else -0.5}
        )


async def finished(ask: Client, path: str) -> Any:
    for _ in range(10_000):
        shown = await ask.get(path)
        if shown["status"] not in ("pending", "Running"):
            return shown
        await asyncio.sleep(0.01)
    raise AssertionError("it never ended")


def test_an_evaluation_judges_the_loop_its_baseline_chance_and_others(served: Served) -> None:
    async def game(ask: Client) -> None:
        await play(ask, 40)
        made = await ask("POST", f"{V3}/evaluations", {"name": "e", "policies": [BAG], **TIMES})
        shown = made.json()
        assert (made.status_code, shown["name"]) == (201, "e")
        done = await finished(ask, made.headers["location"])
        assert done["status"] == "completed" and done["jobId"] == shown["id"]
        results = {each["policySource"]: each for each in done["policyResults"]}
        assert list(results) == ["Online", "Baseline", "Random", "Custom"]
        assert results["Custom"]["arguments"] == BAG["arguments"]
        totals = {source: each["totalSummary"] for source, each in results.items()}
        log = await ask.get("/v1/bandits/default")
        assert all(each["ipsEstimatorDenominator"] == log["decisions"] for each in totals.values())
        assert totals["Baseline"]["averageReward"] > totals["Random"]["averageReward"]
        for each in totals.values():
            numerator, mean = each["ipsEstimatorNumerator"], each["averageReward"]
            assert numerator == pytest.approx(mean * each["ipsEstimatorDenominator"])
        listed = await ask.get(f"{V3}/evaluations")
        assert [each["id"] for each in listed] == [shown["id"]]
        path = f"{V3}/evaluations/{shown['id']}"
        assert (await ask("DELETE", path)).status_code == 204
        gone = await ask("GET", path)
        assert (gone.status_code, gone.json()["error"]["code"]) == (404, "EvaluationNotFound")

    served(game)


def test_the_newest_version_names_evaluations_and_applies_their_policies(served: Served) -> None:
    async def game(ask: Client) -> None:
        await play(ask, 5)
        path, body = f"{NEW}/evaluations/mine", {"name": "e", "policies": [BAG], **TIMES}
        made = await ask("PUT", path, body)
        assert (made.status_code, made.content) == (200, b"")
        again = await ask("PUT", path, body)
        assert again.json()["error"]["code"] == "EvaluationAlreadyExists"
        done = await finished(ask, path)
        assert done["status"] == "Succeeded"
        found = done["content"]["value"]
        assert [each["name"] for each in found][-1] == "bag"
        for each in found:
            low, high = each["summary"]["confidenceInterval"]
            assert low <= each["summary"]["expectedReward"] <= high
        assert [e["id"] for e in (await ask.get(f"{NEW}/evaluations?top=5"))["value"]] == ["mine"]
        assert (await ask.get(f"{NEW}/evaluations?skip=1"))["value"] == []
        apply, wanted = f"{NEW}/configurations/applyFromEvaluation", {"evaluationId": "mine"}
        missing = await ask("POST", apply, wanted | {"policyName": "other"})
        assert missing.json()["error"]["code"] == "LearningSettingsNotFound"
        assert (await ask("POST", apply, wanted | {"policyName": "bag"})).status_code == 204
        assert await ask.get(f"{NEW}/configurations/policy") == BAG

    served(game)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"endTime": "1999-01-01"}, "InvalidEvaluationContract"),
        ({"endTime": "soon"}, "InvalidEvaluationContract"),
        ({"name": ""}, "InvalidEvaluationContract"),
        ({"policies": [BAG, BAG]}, "DuplicateCustomPolicyNames"),
        ({"policies": [{"name": "x", "arguments": "--cover 3"}]}, "InvalidPolicyConfiguration"),
    ],
)
def test_an_evaluation_that_makes_no_sense_is_refused(
    served: Served, change: dict[str, Any], code: str
) -> None:
    async def game(ask: Client) -> None:
        body = {"name": "e", "policies": [], **TIMES}
        answer = await ask("POST", f"{V3}/evaluations", body)
        assert answer.json()["error"]["code"] == "NoLogsExistInDateRange"
        await play(ask, 1)
        answer = await ask("POST", f"{V3}/evaluations", body | change)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)

    served(game)


def test_other_times_are_left_out(served: Served) -> None:
    async def game(ask: Client) -> None:
        await play(ask, 6)
        events = (await ask("GET", "/v1/bandits/default/events")).text
        assert events
        (running,) = ask.service.bandits.running()
        table = running.bandit.events()
        times = table.filter(table["kind"] == "decision")["time"].to_list()
        left = evaluations.between(table, times[2], times[4])
        kinds = left["kind"].to_list()
        assert (kinds.count("decision"), kinds.count("reward")) == (3, 3)
        assert kinds.count("began") == table["kind"].to_list().count("began")
        assert evaluations.between(table, None, None) is table

    served(game)


def test_a_time_without_a_zone_is_utc() -> None:
    assert seconds_of("2026-08-25T00:00:00") == seconds_of("2026-08-25T02:00:00+02:00")
    with pytest.raises(Refusal):
        seconds_of("25 August")
