"""A server in processes of its own: started, watched, killed, and asked at little cost.

This is for programs that put load on a server or kill it. It reads /proc, so it needs Linux.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

from bandit.stores.postgres import new_database, url_or_reason

KEY = "a key for everything"
# A server ends when nobody holds the other end of its standard input: also if a test is killed.
_END = "os.read(0, 1), os.kill(os.getpid(), signal.SIGTERM)"
_WATCH = f"threading.Thread(target=lambda: ({_END}), daemon=True).start()"
_CODE = f"import os, signal, threading; {_WATCH}; from giro.cli.main import main; main()"
SERVE = (sys.executable, "-c", _CODE, "serve")
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def empty_store(kind: str, *, fsync: bool = False) -> Iterator[str]:
    """Lend the address of an empty store: `sqlite`, or `postgres`.

    PostgreSQL waits for the disk if `fsync`. The program ends where there is none.
    """
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/giro.db"
        return
    url, reason = url_or_reason(fsync=fsync)
    if url is None:
        raise SystemExit(reason)
    yield new_database(url)


class Usage(NamedTuple):
    """What the processes of a server have used so far, and use now."""

    cpu: float  # seconds
    memory: float  # MB


class Server:
    """A program that listens on a port of this machine, in a group of processes."""

    def __init__(
        self,
        program: Sequence[str] = SERVE,
        *,
        port: int,
        folder: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start it; `ready` waits for it. It writes into the file `log` of its folder."""
        self.port, self.log = port, folder / "log"
        own = os.environ | {"GIRO_ADMIN_KEY": KEY} | dict(environment or {})
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*program, "--port", str(port)],
                cwd=folder,
                env=own,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ready(self, path: str = "/readyz", *, seconds: float = 120.0) -> Self:
        """Wait until it says that it is ready."""
        until = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < until:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                if asyncio.run(self._status(path)) == 200:
                    return self
            time.sleep(0.01)
        said = self.log.read_text("utf-8", errors="replace")
        raise TimeoutError(f"it ended, or was not ready after {seconds:g} s: {said[-2000:]}")

    async def _status(self, path: str) -> int:
        async with Wire(self.port) as wire:
            return (await wire.ask("GET", path)).status

    def pids(self) -> list[int]:
        """Return the processes of its group that live."""
        return [pid for pid, fields in _processes() if int(fields[2]) == self.process.pid]

    def workers(self) -> list[int]:
        """Return the processes that answer, if there are several: children of the first."""
        own = self.process.pid
        children = [pid for pid, fields in _processes() if int(fields[1]) == own]
        return [pid for pid in children if _command(pid) == _command(own)]

    def usage(self) -> Usage:
        """Return what it has used."""
        cpu = memory = 0.0
        for _, fields in _processes():
            if int(fields[2]) == self.process.pid:
                cpu += (int(fields[11]) + int(fields[12])) / _TICKS
                memory += int(fields[21]) * _PAGE / 1e6
        return Usage(cpu, memory)

    def memory(self, pid: int) -> float:
        """Return the MB that one of its processes has."""
        pages = Path(f"/proc/{pid}/statm").read_text("utf-8").split()[1]
        return int(pages) * _PAGE / 1e6

    def kill(self) -> None:
        """End all of its processes at once, as a power cut would."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def stop(self) -> None:
        """End it well."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        finally:
            self.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.kill()


def _processes() -> list[tuple[int, list[str]]]:
    """Return all processes with the fields of their `stat` behind the name: state, parent, ..."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields = path.read_text("utf-8", errors="replace").rpartition(")")[2].split()
            if fields[0] != "Z":
                found.append((int(path.parent.name), fields))
    return found


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


class Said(NamedTuple):
    """An answer."""

    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Wire(asyncio.Protocol):
    """A connection that is kept, for one request after the other."""

    def __init__(self, port: int, *, key: str = KEY) -> None:
        """Prepare. It connects when it is entered, and again when it was closed."""
        self._port, self._head = port, f"Host: giro\r\nAuthorization: Bearer {key}\r\n"
        self._transport: asyncio.Transport | None = None
        self._got = b""
        self._answer: asyncio.Future[Said] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    async def ask(self, method: str, path: str, body: Any = None) -> Said:
        """Return the answer to a request. It raises an `OSError` if the connection breaks."""
        content = b"" if body is None else json.dumps(body).encode()
        kind = "" if body is None else "Content-Type: application/json\r\n"
        head = (
            f"{method} {path} HTTP/1.1\r\n{self._head}{kind}Content-Length: {len(content)}\r\n\r\n"
        )
        loop = asyncio.get_running_loop()
        if self._transport is None:
            await loop.create_connection(lambda: self, "127.0.0.1", self._port)
        assert self._transport is not None
        self._got, self._answer = b"", loop.create_future()
        self._transport.write(head.encode() + content)
        return await self._answer

    async def told(self, path: str, body: Any = None) -> Any:
        """Return the content of the answer to a request that has to succeed: a POST with a body."""
        said = await self.ask("GET" if body is None else "POST", path, body)
        if said.status >= 300:
            raise SystemExit(f"{path}: {said}")
        return said.json() if said.body else None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # that of uvloop says so of itself

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, there, body = self._got.partition(b"\r\n\r\n")
        if not there or self._answer is None or self._answer.done():
            return
        length = head.lower().partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]
        if len(body) >= int(length or 0):
            self._answer.set_result(Said(int(head[9:12]), body))

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionResetError("the server closed the connection"))
