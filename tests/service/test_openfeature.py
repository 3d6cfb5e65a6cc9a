"""OpenFeature's protocol, asked as its clients do."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from service.conftest import Client, serving

from giro import Bandit
from giro.seeds import stream
from giro.service.settings import Limits

Served = Callable[..., None]
OPEN = {"name": "open", "policy": "lin-ts"}
PATH = "/ofrep/v1/evaluate/flags"
BUTTON = {"name": "button", "arms": ["red", "green"], "policy": "thompson"}


def of(visitor: object, **context: Any) -> dict[str, Any]:
    return {"context": {"targetingKey": visitor, **context}}


async def counts(ask: Client) -> tuple[int, int]:
    bandit = await ask.get("/v1/bandits/button")
    return bandit["decisions"], bandit["rewards"]


def test_a_flag_is_an_arm_with_its_payload_and_the_decision_is_in_the_log(served: Served) -> None:
    async def game(ask: Client) -> None:
        payloads = {"red": {"hex": "f00"}, "green": {"hex": "0f0"}}
        await ask.post("/v1/bandits", BUTTON | {"payloads": payloads})
        flag = await ask.post(f"{PATH}/button", of("ann", age=31, likes=["x"], seen={"at": "2026"}))
        decision = flag["metadata"].pop("decision")
        variant = flag["variant"]
        assert flag == {
            "key": "button",
            "reason": "SPLIT",
            "variant": variant,
            "value": payloads[variant],
            "metadata": {"propensity": 0.5},
        }
        (event,) = (await ask("GET", "/v1/bandits/button/events?since=4")).text.splitlines()
        assert decision in event and "ann" not in event
        await ask.post(f"/v1/decisions/{decision}/reward", {"value": 1})
        assert await counts(ask) == (1, 1)

    served(game)


def test_a_visitor_keeps_a_decision_for_a_while_and_rewards_go_to_the_newest(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1e9
    monkeypatch.setattr("giro.service.openfeature.time.time", lambda: now)

    async def game(ask: Client) -> None:
        nonlocal now
        await ask.post("/v1/bandits", BUTTON | {"sticky": 100})
        first = await ask.post(f"{PATH}/button", of("ann"))
        now += 99
        assert await ask.post(f"{PATH}/button", of("ann", other=1)) == first
        assert (await ask.post(f"{PATH}/button", of("bob")))["metadata"] != first["metadata"]
        now += 2
        reward = {"targetingKey": "ann", "value": 1}
        await ask.post("/v1/bandits/button/rewards", reward)
        second = await ask.post(f"{PATH}/button", of("ann"))
        assert second["metadata"] != first["metadata"]
        assert await counts(ask) == (3, 1)
        await ask.post("/v1/bandits/button/rewards", reward)
        await ask.post("/v1/bandits/button/rewards", reward)
        assert await counts(ask) == (3, 2)

    served(game)


@pytest.mark.parametrize("first_of_all", [False, True])
def test_many_who_ask_two_processes_at_the_same_moment_get_one_decision(
    tmp_path: Path, first_of_all: bool
) -> None:
    async def game() -> None:
        async with serving(tmp_path) as ask, serving(tmp_path) as other:
            await ask.post("/v1/bandits", BUTTON)
            wishes = [
                each.post(f"{PATH}/button", of("ann", n=n))
                for n in range(8)
                for each in (ask, other)
            ]
            if first_of_all:
                wishes = [each.post(PATH, of("ann")) for each in (ask, other)] + wishes
            flags = await asyncio.gather(*wishes)
            flags = [flag["flags"][0] if "flags" in flag else flag for flag in flags]
            assert all(flag == flags[0] for flag in flags)
            log = (await ask("GET", "/v1/bandits/button/events")).text  # a count may lag behind it
            assert log.count('"kind":"decision"') == 1

    asyncio.run(game())


def test_flags_that_are_read_together_count_when_one_is_rewarded_or_read_alone(
    served: Served,
) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        await ask.post("/v1/bandits", OPEN)
        for visitor in ("ann", "bob", "cid"):
            (flag,) = (await ask.post(PATH, of(visitor)))["flags"]
            assert flag["key"] == "button"
        assert await counts(ask) == (0, 0)
        await ask.post("/v1/bandits/button/rewards", {"targetingKey": "ann", "value": 1})
        assert await counts(ask) == (1, 1)
        (known,) = (await ask.post(PATH, of("bob")))["flags"]
        for _ in range(2):
            assert await ask.post(f"{PATH}/button", of("bob")) == known
        assert await counts(ask) == (2, 1)
        await ask.post(f"/v1/decisions/{flag['metadata']['decision']}/activate")
        assert await counts(ask) == (3, 1)

    served(game)


def test_flags_that_have_not_changed_are_not_sent_again(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        first = await ask("POST", PATH, of("ann"))
        tag = first.headers["etag"]
        ask.http.headers["if-none-match"] = f'"other", W/{tag}'
        again = await ask("POST", PATH, of("ann"))
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert "content-length" not in again.headers
        await ask("DELETE", "/v1/bandits/button")
        other = await ask("POST", PATH, of("ann"))
        assert other.json()["flags"] == [{"key": "button", "reason": "DISABLED", "variant": ""}]

    served(game)


def test_a_retired_bandit_has_no_value_and_a_retired_arm_is_decided_again(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        flag = await ask.post(f"{PATH}/button", of("ann"))
        await ask("DELETE", f"/v1/bandits/button/arms/{flag['variant']}")
        assert (await ask.post(f"{PATH}/button", of("ann")))["variant"] != flag["variant"]
        await ask("DELETE", "/v1/bandits/button")
        answer = await ask.post(f"{PATH}/button", {})
        assert answer == {"key": "button", "reason": "DISABLED", "variant": ""}

    served(game)


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"{", 400, "PARSE_ERROR"),
        (b"", 400, "PARSE_ERROR"),
        (b"{}", 400, "TARGETING_KEY_MISSING"),
        (b'{"context": {}}', 400, "TARGETING_KEY_MISSING"),
        (b'{"context": {"targetingKey": ""}}', 400, "TARGETING_KEY_MISSING"),
        (b'{"context": {"targetingKey": 7}}', 400, "INVALID_CONTEXT"),
        (b'{"context": 7}', 400, "INVALID_CONTEXT"),
        (b'{"context": {"targetingKey": "a", "age": 1e200}}', 400, "INVALID_CONTEXT"),
        (b'{"context": {"targetingKey": "' + b"a" * 1025 + b'"}}', 400, "INVALID_CONTEXT"),
        (b'"' + b"a" * 5000 + b'"', 413, "GENERAL"),
    ],
)
def test_a_wrong_request_is_refused_in_the_words_of_the_protocol(
    served: Served, content: bytes, status: int, code: str
) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON | {"features": {"age": "number"}})
        one = await ask("POST", f"{PATH}/button", content=content)
        body = one.json()
        assert (one.status_code, body["key"], body["errorCode"]) == (status, "button", code)
        assert body["errorDetails"]
        if b"age" not in content:
            all_of = await ask("POST", PATH, content=content)
            assert (all_of.status_code, all_of.json()["errorCode"]) == (status, code)

    served(game, limits=Limits(body=4000))


def test_who_may_not_and_what_is_not_there(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        await ask.post("/v1/bandits", OPEN)
        for key in ("nothing", "no/thing", "open"):
            missing = await ask("POST", f"{PATH}/{key}", of("ann"))
            assert missing.status_code == 404
            assert (missing.json()["key"], missing.json()["errorCode"]) == (key, "FLAG_NOT_FOUND")
        for path in (f"{PATH}/button", PATH):
            assert (await ask("POST", path, of("ann"), key="wrong")).status_code == 401
            reader = await ask.key(scopes=["read"])
            assert (await ask("POST", path, of("ann"), key=reader)).status_code == 403
        elsewhere = await ask.key(bandits=["els*"])
        assert (await ask("POST", PATH, of("ann"), key=elsewhere)).json() == {"flags": []}
        slow = await ask.key(rate=0.5)
        answers = [await ask("POST", f"{PATH}/button", of("ann"), key=slow) for _ in range(2)]
        assert answers[1].status_code == 429 and answers[1].headers["retry-after"] == "2"

    served(game)


@pytest.mark.parametrize(
    ("payloads", "is_right"),
    [
        ({"red": True, "green": False}, True),
        ({"red": 1, "green": 2}, True),
        ({"red": {}, "green": [1]}, True),
        ({"red": 1, "green": True}, False),
        ({"red": "1", "green": 1}, False),
        ({"red": None, "green": None}, False),
        ({"red": 1}, False),
        ({"red": 1, "green": 1, "blue": 1}, False),
    ],
)
def test_payloads_are_of_one_type(served: Served, payloads: dict[str, Any], is_right: bool) -> None:
    async def game(ask: Client) -> None:
        made = await ask("POST", "/v1/bandits", BUTTON | {"payloads": payloads})
        assert made.status_code == (201 if is_right else 422)
        assert not is_right or made.json()["payloads"] == payloads

    served(game)


def test_a_new_arm_brings_its_payload(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON | {"payloads": {"red": 1, "green": 0.5}})
        assert (await ask("POST", "/v1/bandits/button/arms", {"arm": "blue"})).status_code == 422
        await ask.post("/v1/bandits/button/arms", {"arm": "blue", "payload": 2})
        bandit = await ask.get("/v1/bandits/button")
        assert bandit["arms"] == ["red", "green", "blue"]
        assert all(type(value) is float for value in bandit["payloads"].values())

    served(game)


def test_a_bandit_is_prepared_once_a_decision_is_in_the_log(
    served: Served, compiles_here: None
) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON | {"policy": "ucb1"})
        running = await ask.service.bandits.get("button")
        await ask.post(PATH, of("ann"))
        await running.prepared()
        assert not running.bandit.is_ready
        await ask.post(f"{PATH}/button", of("ann"))
        await running.prepared()
        assert running.bandit.is_ready

    served(game)


def test_an_erased_decision_does_not_come_back(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", BUTTON)
        first = await ask.post(f"{PATH}/button", of("ann"))
        ids = [first["metadata"]["decision"]]
        erased = await ask("DELETE", "/v1/bandits/button/decisions", {"ids": ids})
        assert erased.json() == {"events": 1}
        second = await ask.post(f"{PATH}/button", of("ann"))
        assert second["metadata"]["decision"] not in ids

    served(game)


@pytest.fixture
def compiles_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bandit, "compile_aside", lambda *_, **__: None)


async def share_right(ask: Client, rounds: int, last: int, at_once: int, seed: int) -> float:
    """Play rounds in which the device decides, and return the share of right ones at the end."""
    world = stream(seed)
    body = BUTTON | {"policy": "lin-ucb:scale=0.5", "first_decisions": 10}
    await ask.post("/v1/bandits", body)
    running = await ask.service.bandits.get("button")
    rewards = "/v1/bandits/button/rewards"
    right = list[bool]()

    async def visit(number: int, draws: Mapping[str, float]) -> bool:
        device, best = ("phone", "red") if draws["device"] < 0.5 else ("desktop", "green")
        flag = await ask.post(f"{PATH}/button", of(str(number), device=device, plan="free"))
        is_right: bool = flag["value"] == best
        value = float(draws["click"] < (0.8 if is_right else 0.2))
        await ask.post(rewards, {"targetingKey": str(number), "value": value})
        return is_right

    for start in range(0, rounds, at_once):
        draws = [
            dict(zip(("device", "click"), world.random(2), strict=True)) for _ in range(at_once)
        ]
        right += await asyncio.gather(*(visit(start + i, each) for i, each in enumerate(draws)))
        await running.call(running.bandit.get_ready)
    return sum(right[-last:]) / last


def test_contexts_decide_after_a_while(served: Served, compiles_here: None, seed: int) -> None:
    async def game(ask: Client) -> None:
        assert await share_right(ask, 240, 100, 20, seed) > 0.7  # by chance 4 of 100,000 times

    served(game)


@pytest.mark.slow
def test_contexts_decide_in_the_last_500_of_2000_rounds(
    served: Served, compiles_here: None, seed: int
) -> None:
    async def game(ask: Client) -> None:
        assert await share_right(ask, 2000, 500, 1, seed) > 0.8

    served(game)
