"""Who looks at pages, and what that one may do."""

import asyncio
from collections.abc import Callable

import pytest
from service.conftest import SECRET, Client

from giro.service.dashboard.visitors import (
    COOKIE,
    KIND,
    Anybody,
    Sessions,
    Visitor,
    check_origin,
)
from giro.service.errors import Problem
from giro.service.keys import Key, revoke_key

Served = Callable[..., None]
KEY = Key("id", "hash")


def test_a_cookie_stands_for_a_key_and_does_not_hold_it(served: Served) -> None:
    async def game(ask: Client) -> None:
        sessions = Sessions(ask.service)
        line = await sessions.begin(SECRET, {})
        assert "HttpOnly" in line
        assert "SameSite=Strict" in line
        assert "Secure" not in line
        assert SECRET not in line
        cookie = line.partition(";")[0]
        visitor = await sessions.visitor({"cookie": f'a; b={{"x": [1]}}; {cookie}; c'})
        assert visitor.key == ask.service.keys.key_of(SECRET)
        kept = await ask.service.call(ask.service.records.all, KIND)
        assert visitor.session not in str(kept)
        assert SECRET not in str(kept)
        await sessions.end(visitor, {})
        with pytest.raises(Problem, match="sign in"):
            await sessions.visitor({"cookie": cookie})

    served(game)


def test_a_cookie_is_for_encrypted_connections_alone_behind_a_proxy_that_encrypts(
    served: Served,
) -> None:
    async def game(ask: Client) -> None:
        line = await Sessions(ask.service).begin(SECRET, {"x-forwarded-proto": "https"})
        assert line.endswith("; Secure")

    served(game)


def test_a_session_ends_with_its_key(served: Served) -> None:
    async def game(ask: Client) -> None:
        secret, sessions = await ask.key(scopes=("read",)), Sessions(ask.service)
        cookie = (await sessions.begin(secret, {})).partition(";")[0]
        key = (await sessions.visitor({"cookie": cookie})).key
        await ask.service.call(revoke_key, ask.service.records, key.id)
        await ask.service.follow_once()
        with pytest.raises(Problem, match="sign in"):
            await sessions.visitor({"cookie": cookie})

    served(game)


@pytest.mark.parametrize(
    "cookie", ["", f"{COOKIE}=", f"{COOKIE}=guess", "a=b", f'{COOKIE}="', ";;=", f"{COOKIE}=é"]
)
def test_a_made_up_cookie_is_nobody(served: Served, cookie: str) -> None:
    async def game(ask: Client) -> None:
        with pytest.raises(Problem) as caught:
            await Sessions(ask.service).visitor({"cookie": cookie})
        assert caught.value.status == 401

    served(game)


def test_a_key_that_may_not_read_begins_no_session(served: Served) -> None:
    async def game(ask: Client) -> None:
        secret = await ask.key(scopes=("decide", "reward"))
        with pytest.raises(Problem, match="does not allow 'read'"):
            await Sessions(ask.service).begin(secret, {})
        with pytest.raises(Problem, match="not valid"):
            await Sessions(ask.service).begin("a key that nobody has", {})

    served(game)


def test_forms_of_another_site_are_refused() -> None:
    own = {"host": "giro:8720", "origin": "http://giro:8720"}
    for headers in ({}, own, own | {"sec-fetch-site": "same-origin"}):
        check_origin(headers)
    for headers in (
        own | {"origin": "http://elsewhere.org"},
        own | {"origin": "null"},
        own | {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        with pytest.raises(Problem, match="another site"):
            check_origin(headers)


def test_a_form_needs_the_text_of_its_session() -> None:
    one, other = Visitor(KEY, "one"), Visitor(KEY, "other")
    one.check_form(one.token)
    for given in ("", "one", other.token):
        with pytest.raises(Problem, match="not from your session"):
            one.check_form(given)
    with pytest.raises(Problem):
        Visitor(KEY).check_form("")


def test_anybody_on_this_machine_may_read_and_do_no_more() -> None:
    for host in ("127.0.0.1:8721", "localhost", "[::1]:80"):
        visitor = asyncio.run(Anybody().visitor({"host": host}))
        assert visitor.key.may("read", "a bandit")
        assert not visitor.key.may("admin", "a bandit")
        assert visitor.token == ""


@pytest.mark.parametrize(
    "host", ["elsewhere.org", "127.0.0.1.elsewhere.org:8721", "", "[", "10.0.0.1"]
)
def test_a_name_that_leads_to_this_machine_is_not_enough(host: str) -> None:
    with pytest.raises(Problem, match="open these pages as"):
        asyncio.run(Anybody().visitor({"host": host}))
