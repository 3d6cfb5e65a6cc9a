"""A service in this process, on a store of its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from giro.service.app import application_of
from giro.service.keys import create_key
from giro.service.run import make_bandits
from giro.service.service import Service
from giro.service.settings import Settings

SECRET = "a key of sixteen characters or more"


class Client:
    """Asks a service as a program would."""

    def __init__(self, http: httpx.AsyncClient, service: Service) -> None:
        self.http, self.service = http, service

    async def __call__(
        self, method: str, path: str, body: Any = None, *, key: str | None = SECRET, **more: Any
    ) -> httpx.Response:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        if body is not None:
            more["json"] = body
        return await self.http.request(method, path, headers=headers, **more)

    async def post(self, path: str, body: Any = None, **more: Any) -> Any:
        """Return the content of an answer that is not a problem."""
        answer = await self("POST", path, body, **more)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    async def get(self, path: str) -> Any:
        answer = await self("GET", path)
        assert answer.is_success, answer.text
        return answer.json()

    async def key(self, **parameters: Any) -> str:
        """Return the secret of a new key that is known already."""
        _, secret = await self.service.call(lambda: create_key(self.service.records, **parameters))
        await self.service.follow_once()
        return secret


@asynccontextmanager
async def serving(folder: Path, **settings: Any) -> AsyncIterator[Client]:
    """Serve a store in a folder, and open it again where it was."""
    service = Service(Settings(store=f"sqlite:///{folder}/giro.db", **settings))
    make_bandits(service.settings)
    app = application_of(service)
    async with app.lifespan_context(app):
        await service.call(lambda: create_key(service.records, secret=SECRET))
        await service.follow_once()
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://giro") as http:
            yield Client(http, service)


Play = Callable[[Client], Awaitable[None]]


@pytest.fixture
def served(tmp_path: Path) -> Callable[..., None]:
    """Return what runs a game of a client and a service."""

    def play(game: Play, **settings: Any) -> None:
        async def whole() -> None:
            async with serving(tmp_path, **settings) as client:
                await game(client)

        asyncio.run(whole())

    return play
