"""A browser without a screen: asks for pages of a service, and keeps its cookie."""

import asyncio
import html
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from service.conftest import SECRET, Client

from giro import Bandit
from giro.service.dashboard.alone import application_of_store

POLICY = "thompson"
NASTY = """<script>alert("x")</script> & 'q' 😀"""  # a name that must be escaped


class Browser:
    """Asks for pages as a browser would, signed in or not."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def get(self, path: str, **query: str) -> httpx.Response:
        return await self.http.get(path, params=query or None)

    async def page(self, path: str, **query: str) -> str:
        """Return the text of a page that is there."""
        answer = await self.get(path, **query)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[-300:])
        return answer.text

    async def sign_in(self, key: str = SECRET, back: str = "") -> httpx.Response:
        return await self.http.post("/sign-in", data={"key": key, "back": back})

    async def token(self, name: str) -> str:
        """Return the text that forms of this session hold."""
        found = re.search(r'name="token" value="(\w+)"', await self.page("/manage", name=name))
        assert found
        return found[1]

    async def act(self, name: str, do: str, **fields: str) -> httpx.Response:
        """Send a form."""
        form = {"do": do, "token": await self.token(name), **fields}
        return await self.http.post("/manage", params={"name": name}, data=form)


def browser_of(ask: Client) -> Browser:
    """Return a browser that asks the same service, without a key."""
    transport = ask.http._transport
    return Browser(httpx.AsyncClient(transport=transport, base_url="http://giro"))


def text_of(page: str) -> str:
    """Return what a page says, without its marks."""
    without = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(without).split())


def played(bandit: Bandit, rounds: int = 60) -> Bandit:
    """Return the bandit after some rounds, with a reward for most of them."""
    for i in range(rounds):
        decision = bandit.decide(id=str(bandit.n_decisions))  # the same draws each time
        if i % 6:
            bandit.reward(decision.id, float(i % 3 == 0))
    return bandit


@asynccontextmanager
async def looking(place: str) -> AsyncIterator[Browser]:
    """Show a store or a file by itself."""
    app = application_of_store(place)
    async with app.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            yield Browser(http)


Look = Callable[[Browser], Awaitable[None]]


@pytest.fixture
def shown(tmp_path: Path) -> Callable[..., None]:
    """Return what has a look at a store, by default one in a folder of the test."""

    def play(look: Look, place: str = f"sqlite:///{tmp_path}/shop.db") -> None:
        async def whole() -> None:
            async with looking(place) as browser:
                await look(browser)

        asyncio.run(whole())

    return play


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/shop.db"


Fields = dict[str, Any]
