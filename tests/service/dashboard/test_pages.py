"""What is shown to a visitor, and with which headers."""

import asyncio
from collections.abc import Callable

import pytest
from service.conftest import Client

from giro.service.dashboard.pages import HEADERS, being_opened, moved, opened, page, refused
from giro.service.dashboard.visitors import Visitor
from giro.service.errors import Problem
from giro.service.keys import Key

Served = Callable[..., None]


def test_a_page_runs_no_script_but_ours_and_no_other_site_may_frame_it() -> None:
    policy = dict(part.split(" ", 1) for part in HEADERS["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
    assert "unsafe" not in HEADERS["content-security-policy"]
    answer = page("problem", problem=Problem(404, "x"), title="x", visitor=None)
    assert answer.headers == HEADERS


def test_who_is_not_signed_in_is_led_to_the_form() -> None:
    answer = refused(Problem(401, "sign in"))
    assert (answer.status, answer.headers["location"]) == (303, "sign-in")


def test_other_problems_are_a_page() -> None:
    answer = refused(Problem(503, "too busy", wait=3))
    assert answer.status == 503
    assert answer.headers["retry-after"] == "3"
    assert b"Too busy." in answer.content


def test_a_cookie_is_set_on_the_way_to_another_page() -> None:
    assert moved("./", "a=b").headers["set-cookie"] == "a=b"
    assert "set-cookie" not in moved("./").headers
    assert "set-cookie" not in HEADERS


def test_a_page_asks_again_while_a_bandit_is_being_opened() -> None:
    answer = being_opened("shop", Visitor(Key("", "")))
    assert (answer.status, answer.headers["refresh"]) == (202, "2")


def test_a_bandit_that_takes_long_to_open_is_none_at_first(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("giro.service.dashboard.pages.PATIENCE", 0.01)

    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", {"name": "b", "arms": ["x", "y"]})
        end, bandits = asyncio.Event(), ask.service.bandits
        get = bandits.get

        async def slow(name: str) -> object:
            await end.wait()
            return await get(name)

        monkeypatch.setattr(bandits, "get", slow)
        assert await opened(ask.service, "b") is None
        end.set()
        running = None
        while running is None:
            running = await opened(ask.service, "b")
        assert running.name == "b"

    served(game)


def test_a_bandit_that_there_is_not_is_said_so(served: Served) -> None:
    async def game(ask: Client) -> None:
        for name in ("", "nobody"):
            with pytest.raises(Problem) as caught:
                await opened(ask.service, name)
            assert caught.value.status == 404

    served(game)
