"""The settings of a loop and its policy: shown, changed and refused."""

from collections.abc import Callable
from typing import Any

import pytest
from service.conftest import Client

from giro import Policy

Served = Callable[..., None]
V1, V3 = "/personalizer/v1.0", "/personalizer/v1.1-preview.3"
PUT = {
    "rewardWaitTime": "PT20M",
    "defaultReward": -0.5,
    "rewardAggregation": "sum",
    "explorationPercentage": 0.3,
    "modelExportFrequency": "PT1M",
    "logRetentionDays": 7,
    "modelRetrainDays": 2,
}
RANK = {"actions": [{"id": word, "features": [{"taste": word}]} for word in "abcd"]}


def test_settings_are_personalizers_until_they_are_changed(served: Served) -> None:
    async def game(ask: Client) -> None:
        first = await ask.get(f"{V1}/configurations/service")
        assert first["rewardWaitTime"] == "00:10:00"
        changed = (await ask("PUT", f"{V3}/configurations/service", PUT)).json()
        assert {name: changed[name] for name in PUT} == PUT
        assert changed["learningMode"] == "Online"
        shown = await ask.get(f"{V1}/configurations/service")
        assert (shown["rewardWaitTime"], shown["modelExportFrequency"]) == ("00:20:00", "00:01:00")
        assert shown["lastConfigurationEditDate"].endswith("Z")
        old = {key: shown[key] for key in PUT} | {"rewardWaitTime": "1.00:00:00"}
        again = await ask("PUT", f"{V1}/configurations/service", old)
        assert again.json()["rewardWaitTime"] == "1.00:00:00"
        setting = (await ask.get("/v1/bandits/default"))["setting"]
        assert (setting["reward_wait"], setting["default_reward"]) == (86400.0, -0.5)

    served(game)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"rewardWaitTime": "PT4S"}, "InvalidRewardWaitTime"),
        ({"rewardWaitTime": "P3D"}, "InvalidRewardWaitTime"),
        ({"rewardWaitTime": "soon"}, "InvalidRewardWaitTime"),
        ({"defaultReward": 1.1}, "InvalidServiceConfiguration"),
        ({"rewardAggregation": "mean"}, "InvalidServiceConfiguration"),
        ({"explorationPercentage": 20}, "InvalidServiceConfiguration"),
        ({"modelExportFrequency": "PT0S"}, "InvalidServiceConfiguration"),
        ({"logRetentionDays": -2}, "InvalidLogRetentionDays"),
        ({"logRetentionDays": 1}, "InvalidLogRetentionDays"),
        ({"logRetentionDays": 10**12}, "InvalidLogRetentionDays"),
        ({"modelRetrainDays": -1}, "InvalidModelRetrainDays"),
        ({"learningMode": "Apprentice"}, "InvalidLearningModeServiceConfiguration"),
        ({"learningMode": "LoggingOnly"}, "InvalidServiceConfiguration"),
        ({"logMirrorEnabled": True}, "InvalidServiceConfiguration"),
        ({"isAutoOptimizationEnabled": True}, "InvalidServiceConfiguration"),
        ({"defaultReward": None}, "InvalidServiceConfiguration"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    served: Served, change: dict[str, Any], code: str
) -> None:
    async def game(ask: Client) -> None:
        before = await ask.get(f"{V3}/configurations/service")
        answer = await ask("PUT", f"{V3}/configurations/service", PUT | change)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
        assert await ask.get(f"{V3}/configurations/service") == before

    served(game)


def test_an_apprentice_takes_the_baseline_and_says_how_it_does(served: Served) -> None:
    async def game(ask: Client) -> None:
        path = f"{V3}/configurations/service"
        shown = await ask.get(path)
        shown = (await ask("PUT", path, shown | {"learningMode": "Apprentice"})).json()
        assert shown["learningMode"] == "Apprentice"
        for _ in range(8):
            body = RANK | {"excludedActions": ["a"]}
            answer = await ask.post(f"{V3}/rank", body)
            assert answer["rewardActionId"] == "b"
            assert [each["id"] for each in answer["ranking"]] == list("abcd")
            await ask.post(f"{V3}/events/{answer['eventId']}/reward", {"value": 0.5})
        slots = [{"id": word, "baselineAction": word} for word in "cb"]
        filled = await ask.post(f"{V3}/multislot/rank", RANK | {"slots": slots})
        assert [slot["rewardActionId"] for slot in filled["slots"]] == ["c", "b"]
        metrics = (await ask.get(path))["latestApprenticeModeMetrics"]
        assert (metrics["numberOfEvents"], metrics["sumOfRewards"]) == (10, 4.0)
        back = await ask("PUT", path, shown | {"learningMode": "Online"})
        assert "latestApprenticeModeMetrics" not in back.json()

    served(game)


def test_a_policy_is_put_and_reset(served: Served) -> None:
    path = f"{V1}/configurations/policy"

    async def game(ask: Client) -> None:
        first = await ask.get(path)
        other = {"name": "bag", "arguments": "--cb_explore_adf --bag 5 --epsilon 0.2 -q ::"}
        put = await ask("PUT", path, other)
        assert (put.status_code, put.json()) == (200, other)
        assert await ask.get(path) == other
        (running,) = ask.service.bandits.running()
        assert running.bandit.policy == Policy.parse("poisson-bootstrap:model=hashed,replicas=5")
        for arguments in ("--cb_explore_adf --cover 3", "--csoaa 2", "thompson", "ucb9"):
            refused = await ask("PUT", path, {"name": "x", "arguments": arguments})
            assert refused.status_code == 400
            assert refused.json()["error"]["code"] == "InvalidPolicyConfiguration"
        reset = await ask("DELETE", path)
        assert (reset.status_code, reset.json()) == (200, first)
        assert running.bandit.policy == Policy.parse("greedy:model=hashed")

    served(game)
