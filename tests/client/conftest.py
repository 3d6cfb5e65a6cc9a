"""A service in a thread of this process, and both clients of it, called in the same way."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest

from giro import AsyncClient, Client
from giro.service.app import application_of
from giro.service.keys import create_key
from giro.service.service import Service
from giro.service.settings import Settings

KEY = "a key of sixteen characters or more"
Handler: TypeAlias = Callable[[httpx.Request], httpx.Response]
KINDS = ["sync", "async"]


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(120)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Through(httpx.BaseTransport):
    """Asks the application of a loop."""

    def __init__(self, app: Any, loop: Loop) -> None:
        self._inner, self._loop = httpx.ASGITransport(app, raise_app_exceptions=False), loop

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        async def answered() -> httpx.Response:
            own = httpx.Request(request.method, request.url, headers=request.headers, content=body)
            answer = await self._inner.handle_async_request(own)
            content = await answer.aread()
            return httpx.Response(answer.status_code, headers=answer.headers, content=content)

        body = request.read()
        return self._loop.run(answered())


class Switch:
    """A way to the service that can be cut: before it (`unsent`), or behind it (`unheard`)."""

    def __init__(self, inner: Handler) -> None:
        self.inner, self.cut, self.calls = inner, "", list[str]()
        self.instead: httpx.Response | None = None

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.calls.append(f"{request.method} {request.url.path}")
        if self.cut == "unsent":
            raise httpx.ConnectError("refused")
        if self.instead is not None:
            return self.instead
        answer = self.inner(request)
        if self.cut == "unheard":
            raise httpx.ReadTimeout("timed out")
        return answer


class Awaiting:
    """Something whose methods are awaited in a loop, called as if they were not."""

    def __init__(self, inner: Any, loop: Loop) -> None:
        self._inner, self._loop = inner, loop

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if name == "bandit":
            return lambda *a, **b: Awaiting(value(*a, **b), self._loop)
        if not callable(value) or name == "refused":
            return value

        def call(*given: Any, **more: Any) -> Any:
            result = self._loop.run(value(*given, **more))
            return Awaiting(result, self._loop) if name == "create" else result

        return call


class World:
    """A service, and clients whose way to it can be cut."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder, self.kind, self.loop = folder, kind, Loop()
        self.store = f"sqlite:///{folder}/giro.db"
        self.service = Service(Settings(store=self.store))
        self._app = application_of(self.service)
        self._life = self._app.lifespan_context(self._app)
        self.loop.run(self._life.__aenter__())
        self.loop.run(self._with_key())
        self.switch = Switch(Through(self._app, self.loop).handle_request)
        self._clients = list[Any]()
        self._own = Loop()

    async def _with_key(self, **more: Any) -> str:
        parameters = more or {"secret": KEY}
        _, text = await self.service.call(lambda: create_key(self.service.records, **parameters))
        await self.service.follow_once()
        return text

    def key(self, **parameters: Any) -> str:
        return str(self.loop.run(self._with_key(**parameters)))

    def client(self, key: str = KEY, **more: Any) -> Any:
        options: dict[str, Any] = {
            "queue": self.folder / "queue.db",
            "background": False,
            "timeout": 5.0,
        } | more
        if self.kind == "sync":
            made: Any = Client("http://giro", key, transport=_mocked(self.switch), **options)
        else:
            made = Awaiting(self._own.run(self._made(key, options)), self._own)
        self._clients.append(made)
        return made

    async def _made(self, key: str, options: dict[str, Any]) -> AsyncClient:
        def aside(request: httpx.Request) -> Any:
            return asyncio.to_thread(self.switch, request)

        return AsyncClient("http://giro", key, transport=_mocked(aside), **options)

    def close(self) -> None:
        self.switch.cut = "unsent"
        for client in self._clients:
            client.close()
        self._own.close()
        self.loop.run(self._life.__aexit__(None, None, None))
        self.loop.close()


def _mocked(handler: Any) -> httpx.MockTransport:
    return httpx.MockTransport(handler)


@pytest.fixture(params=KINDS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path, request.param)
    yield made
    made.close()
