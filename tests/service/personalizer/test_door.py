"""Personalizer's requests that decide and reward, as a program would make them."""

from collections.abc import Callable
from typing import Any

import pytest
from service.conftest import SECRET, Client

from giro.service.personalizer.door import check_slots, slots_of
from giro.service.personalizer.loop import Refusal
from giro.service.personalizer.messages import Action, SlotRequest, SlotsRequest

Served = Callable[..., None]
V1 = "/personalizer/v1.0"
ACTIONS = [{"id": word, "features": [{"taste": word}, {"hot": None}]} for word in "abcd"]
RANK = {"actions": ACTIONS, "contextFeatures": [{"time": "morning"}, {"user": {"age": 31}}]}
SLOTS: list[dict[str, Any]] = [
    {"id": "top", "baselineAction": "b", "features": [{"size": "large"}]},
    {"id": "side", "baselineAction": "a", "excludedActions": ["b", "c", "d"]},
]


async def counts_of(ask: Client, loop: str = "default") -> tuple[int, int]:
    """Return the decisions and rewards in the log of a loop."""
    shown = await ask.get(f"/v1/bandits/{loop}")
    return shown["decisions"], shown["rewards"]


@pytest.mark.parametrize(
    "path",
    [
        f"{V1}/rank",
        "/personalizer/v1.1-preview.3/rank",
        "http://giro//personalizer//v1.1-preview.1/rank",
        "/personalizer/rank?api-version=2022-09-01-preview",
    ],
)
def test_a_rank_is_answered_in_every_version_and_its_loop_is_made(
    served: Served, path: str
) -> None:
    async def game(ask: Client) -> None:
        headers = {"ocp-apim-subscription-key": SECRET}
        answer = await ask.http.post(path, json=RANK | {"eventId": "x"}, headers=headers)
        assert answer.status_code == 201
        ranking = answer.json()["ranking"]
        assert (answer.json()["eventId"], answer.json()["rewardActionId"]) == (
            "x",
            ranking[0]["id"],
        )
        assert [each["probability"] for each in ranking] == [0.25] * 4
        again = await ask.post(path, RANK | {"eventId": "x"})
        assert again == answer.json()
        assert await counts_of(ask) == (1, 0)

    served(game)


def test_an_excluded_action_keeps_its_place_with_probability_0(served: Served) -> None:
    async def game(ask: Client) -> None:
        answer = await ask.post(f"{V1}/rank", RANK | {"excludedActions": ["a", "c", "other"]})
        ranking = answer["ranking"]
        assert (ranking[0], ranking[2]) == (
            {"id": "a", "probability": 0.0},
            {"id": "c", "probability": 0.0},
        )
        assert answer["rewardActionId"] == ranking[1]["id"] in "bd"

    served(game)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"actions": []},
        {"actions": [{"id": f"{i}"} for i in range(51)]},
        {"actions": [{"id": "a"}, {"id": "a"}]},
        {"actions": [{"id": "a" * 257}]},
        {"actions": [{"id": "a"}], "excludedActions": ["a"]},
        {"actions": [{"id": "a", "features": [1]}]},
        {"actions": [{"id": "a"}], "eventId": "a" * 257},
        {"actions": [{"id": "a", "features": [{"x": 1e200}]}]},
    ],
)
def test_a_rank_that_makes_no_sense_is_refused_in_personalizers_words(
    served: Served, body: dict[str, Any]
) -> None:
    async def game(ask: Client) -> None:
        answer = await ask("POST", f"{V1}/rank", body)
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == answer.headers["x-ms-error-code"]
        assert answer.json()["error"]["code"] == "InvalidRankRequest"
        assert answer.json()["error"]["message"]

    served(game)


def test_the_same_event_id_for_another_request_is_refused(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post(f"{V1}/rank", RANK | {"eventId": "x"})
        other = await ask("POST", f"{V1}/rank", {"actions": ACTIONS, "eventId": "x"})
        assert (other.status_code, other.json()["error"]["code"]) == (400, "InvalidRankRequest")

    served(game)


def test_of_rewards_the_earliest_counts_and_others_are_ignored_and_counted(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post(f"{V1}/rank", RANK | {"eventId": "a/b"})
        for id, value in (("a%2Fb", 0.5), ("a%2Fb", -1.0), ("nobody", 1.0)):
            answer = await ask("POST", f"{V1}/events/{id}/reward", {"value": value})
            assert (answer.status_code, answer.content) == (204, b"")
        events = (await ask("GET", "/v1/bandits/default/events")).text
        assert events.count('"reward":0.5') == 1 and '"reward":-1' not in events
        assert ask.service.metrics.counts.reports == {"unknown": 1}
        wrong = await ask("POST", f"{V1}/events/a%2Fb/reward", {"value": 1.5})
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, "InvalidRewardRequest")

    served(game)


def test_a_late_reward_is_accepted_and_changes_nothing(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post(f"{V1}/rank", RANK | {"eventId": "x"})
        (running,) = ask.service.bandits.running()
        await running.call(running.bandit.expire, 0.0)
        late = await ask("POST", f"{V1}/events/x/reward", {"value": 1.0})
        assert (late.status_code, running.bandit.summary()["mean"].max()) == (204, 0.0)
        assert ask.service.metrics.counts.reports == {"late": 1}

    served(game)


def test_a_deferred_event_counts_once_it_is_activated(served: Served) -> None:
    async def game(ask: Client) -> None:
        body = RANK | {"eventId": "x", "deferActivation": True}
        first = await ask.post(f"{V1}/rank", body)
        assert await ask.post(f"{V1}/rank", body) == first
        await ask.post(f"{V1}/events/x/reward", {"value": 1.0})
        assert await counts_of(ask) == (0, 0)
        for _ in range(2):
            assert (await ask("POST", f"{V1}/events/x/activate")).status_code == 204
            assert await counts_of(ask) == (1, 1)
        assert (await ask("POST", f"{V1}/events/nobody/activate")).status_code == 204

    served(game)


@pytest.mark.parametrize("is_deferred", [False, True])
def test_slots_are_filled_rewarded_and_activated(served: Served, is_deferred: bool) -> None:
    path = "/personalizer/v1.1-preview.1/multislot"

    async def game(ask: Client) -> None:
        body = RANK | {"slots": SLOTS, "eventId": "x", "deferActivation": is_deferred}
        answer = await ask("POST", f"{path}/rank", body)
        assert answer.status_code == 201
        slots = {slot["id"]: slot["rewardActionId"] for slot in answer.json()["slots"]}
        assert slots["side"] == "a" != slots["top"]
        assert (await ask("POST", f"{path}/rank", body)).json() == answer.json()
        rewards = {"reward": [{"slotId": "top", "value": 1}, {"slotId": "other", "value": 1}]}
        assert (await ask("POST", f"{path}/events/x/reward", rewards)).status_code == 204
        assert await counts_of(ask) == ((0, 0) if is_deferred else (2, 1))
        for _ in range(2):
            assert (await ask("POST", f"{path}/events/x/activate")).status_code == 204
        assert await counts_of(ask) == (2, 1)
        assert ask.service.metrics.counts.reports == {"unknown": 1}

    served(game)


@pytest.mark.parametrize(
    "change",
    [
        {"slots": []},
        {"slots": [SLOTS[0], SLOTS[0]]},
        {"slots": [SLOTS[0], SLOTS[1] | {"baselineAction": "b"}]},
        {"slots": [SLOTS[0], SLOTS[1] | {"baselineAction": "z"}]},
        {"slots": [SLOTS[0], SLOTS[1] | {"excludedActions": ["a"]}]},
        {"actions": ACTIONS[:1]},
        {"slots": [{"id": "top"}]},
    ],
)
def test_slots_that_cannot_be_filled_are_refused(served: Served, change: dict[str, Any]) -> None:
    async def game(ask: Client) -> None:
        path = "/personalizer/v1.1-preview.1/multislot/rank"
        answer = await ask("POST", path, RANK | {"slots": SLOTS} | change)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "InvalidRankRequest")

    served(game)


def test_a_slot_that_excludes_actions_can_always_have_its_baseline() -> None:
    slots = [SlotRequest(*each) for each in (("1", "a"), ("2", "b", None, ["a", "c"]))]
    check_slots(SlotsRequest([Action(word) for word in "abc"], slots))
    first, second = slots_of(slots)
    assert (first.excluded, second.excluded) == (["b"], ["a", "c"])
    with pytest.raises(Refusal, match="3 slots for 2 actions"):
        check_slots(SlotsRequest([Action(word) for word in "ab"], [*slots, SlotRequest("3", "c")]))


def test_each_key_decides_for_its_own_loop(served: Served) -> None:
    async def game(ask: Client) -> None:
        key = await ask.key(scopes=["decide", "reward"], bandits=["shop"], loop="shop")
        answer = await ask("POST", f"{V1}/rank", RANK, key=key)
        assert answer.status_code == 201
        assert await counts_of(ask, "shop") == (1, 0)
        path = f"{V1}/configurations/service"
        for wrong, status in ((key, 403), (None, 401), ("other", 401)):
            refused = await ask("GET", path, key=wrong)
            assert refused.status_code == status
            assert refused.json()["error"]["code"] == "InvalidApiAccess"

    served(game)
