"""Requests that are no HTTP, too long, or never end, against a server with a short patience."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from service.conftest import SECRET

from giro.service.app import application_of
from giro.service.connection import Connection
from giro.service.keys import create_key
from giro.service.service import Service
from giro.service.settings import Limits, Settings

Speak = Callable[..., Awaitable[bytes]]
HEAD = f"POST /v1/bandits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {SECRET}\r\n".encode()
BODY = b'{"name": "b", "arms": ["x"], "policy": "uniform"}'
WHOLE = HEAD + f"Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY


@asynccontextmanager
async def serving(folder: Path, seconds: float) -> AsyncIterator[tuple[Service, Speak]]:
    """Serve on a socket, and give what sends bytes and reads until the connection is closed."""
    socket = str(folder / "s")
    limits = Limits(seconds=seconds, body=1000)
    service = Service(Settings(store=f"sqlite:///{folder}/giro.db", limits=limits))
    config = uvicorn.Config(application_of(service), uds=socket, http=Connection, log_config=None)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    await service.call(lambda: create_key(service.records, secret=SECRET))
    await service.follow_once()

    async def speak(*parts: bytes) -> bytes:
        reader, writer = await asyncio.open_unix_connection(socket)
        for part in parts:
            writer.write(part)
            await writer.drain()
        said = await reader.read()
        writer.close()
        return said

    try:
        yield service, speak
    finally:
        server.should_exit = True
        await running


def refused(service: Service) -> list[str]:
    """Return the statuses of requests that were refused, once for each."""
    counts = service.metrics.now().requests
    return sorted(key[-3:] for key, n in counts.items() for _ in range(n) if key[-3] == "4")


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ((b"NONSENSE\r\n\r\n",), b"400"),
        ((b"GET / HTTP/1.1\r\nHost : x\r\nbroken\r\n\r\n",), b"400"),
        ((b"CONNECT shop:443 HTTP/1.1\r\n\r\n",), b"400"),
        ((b"GET /" + b"a" * 40_000, b"a" * 40_000), b"431"),
        ((HEAD,), b"408"),
        ((HEAD + b"Content-Length: 10\r\n\r\n",), b"408"),
        ((HEAD + b"Content-Length: 10\r\n\r\n", b"{"), b"408"),
        ((WHOLE, HEAD), b"408"),
    ],
)
def test_what_is_no_request_is_refused_counted_and_closed(
    tmp_path: Path, parts: tuple[bytes, ...], status: bytes
) -> None:
    async def whole() -> None:
        async with serving(tmp_path, seconds=0.2) as (service, speak):
            said = await speak(*parts)
            assert status in [part[:3] for part in said.split(b"HTTP/1.1 ")]
            assert b"application/problem+json" in said
        assert refused(service) == [status.decode()]

    asyncio.run(whole())


def test_a_connection_on_which_nothing_comes_is_closed_and_is_no_request(tmp_path: Path) -> None:
    async def whole() -> None:
        async with serving(tmp_path, seconds=0.1) as (service, speak):
            assert await speak() == b""
            assert refused(service) == []

    asyncio.run(whole())


def test_a_body_that_is_refused_early_may_be_sent_but_not_for_ever(tmp_path: Path) -> None:
    async def whole() -> None:
        async with serving(tmp_path, seconds=0.2) as (service, speak):
            said = await speak(HEAD + b"Content-Length: 100000\r\n\r\n", b" " * 100)
            assert said.startswith(b"HTTP/1.1 413 ") and said.count(b"HTTP/1.1") == 1
        assert refused(service) == ["413"]

    asyncio.run(whole())


def test_a_request_that_comes_in_pieces_is_answered(tmp_path: Path) -> None:
    async def whole() -> None:
        async with serving(tmp_path, seconds=30.0) as (service, speak):
            pieces = [WHOLE[i : i + 20] for i in range(0, len(WHOLE), 20)]
            said = await speak(*pieces, b"GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n")
            assert [part[:3] for part in said.split(b"HTTP/1.1 ")[1:]] == [b"201", b"200"]
            assert refused(service) == []

    asyncio.run(whole())
