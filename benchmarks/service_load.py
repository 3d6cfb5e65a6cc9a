"""Load on a server: as much as it can answer, or so many requests a second whatever it answers."""

import asyncio
import json
import re
import resource
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from servers import KEY, Server, Wire  # of the tests

CONNECTIONS = 64
_DECIDE = """
wrk.method = "POST"
wrk.body = {body}
wrk.headers["Authorization"] = "Bearer {key}"
wrk.headers["Content-Type"] = "application/json"
"""
_ROUND = """
local ask, todo = wrk.format(), {}
request = function()
  local id = table.remove(todo)
  if id == nil then return ask end
  return wrk.format("POST", "/v1/decisions/" .. id .. "/reward", nil, '{"value": 1}')
end
response = function(status, headers, body)
  local id = string.match(body, '"id":"([^"]+)"')
  if id ~= nil then todo[#todo + 1] = id end
end
"""


class Load(NamedTuple):
    """What a server answered."""

    per_second: float
    server_us: float  # of processor time for each request, all of its processes
    client_us: float
    p50_ms: float
    p99_ms: float


def load(server: Server, path: str, body: dict[str, Any], *, seconds: float, rounds: bool) -> Load:
    """Return what the server answers to clients that ask again as soon as they have an answer."""
    text = _DECIDE.format(body=f"[==[{json.dumps(body)}]==]", key=KEY)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "load.lua")
        script.write_text(text + (_ROUND if rounds else ""), "utf-8")
        words = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{max(1, round(seconds))}", "--latency"]
        before, own = server.usage().cpu, _children()
        words += ["-s", str(script), f"{server.url}{path}"]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        after, later = server.usage().cpu, _children()
    if "Non-2xx" in said or "Socket errors" in said:
        raise SystemExit(f"requests were refused:\n{said}")
    found = re.search(r"(\d+) requests in", said)
    n = int(found[1]) if found else 0
    rate = re.search(r"Requests/sec:\s+([\d.]+)", said)
    return Load(
        float(rate[1]) if rate else 0.0,
        1e6 * (after - before) / n,
        1e6 * (later - own) / n,
        *(_ms(said, share) for share in ("50%", "99%")),
    )


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _ms(said: str, share: str) -> float:
    found = re.search(rf"{share}\s+([\d.]+)(us|ms|s)\b", said)
    assert found is not None, said
    return float(found[1]) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[found[2]]


class Steady:
    """Decisions and rewards at a rate that does not depend on the answers."""

    def __init__(self, server: Server, path: str, body: dict[str, Any], *, rate: int) -> None:
        """Begin without connections. `rate` is that of decisions, a second."""
        self._server, self._path, self._body, self._rate = server, path, body, rate
        self._free: list[Wire] = []
        self._asked: set[asyncio.Task[None]] = set()
        self._errors: list[BaseException] = []
        self.times: list[tuple[float, str, float]] = []  # seconds since the start, kind, ms
        self.memory: list[tuple[float, float]] = []
        self.failed = 0

    async def run(self, seconds: float) -> None:
        """Ask when it is time, whatever is not answered yet. Rewards come a second later."""
        self._begun = begun = time.perf_counter()
        for number in range(int(self._rate * seconds)):
            due = begun + number / self._rate
            if (wait := due - time.perf_counter()) > 0.0:
                await asyncio.sleep(wait)
            self._start(self._decide(due))
            if number % (self._rate * 5) == 0:
                self.memory.append((due - begun, self._server.usage().memory))
        while self._asked:
            await asyncio.wait(self._asked)
        for error in self._errors:
            raise error
        for wire in self._free:
            wire.close()

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._asked.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._asked.discard(task)
        error = task.exception()
        if error is not None:
            self._errors.append(error)

    async def _decide(self, due: float) -> None:
        said = await self._ask("decide", due, self._path, self._body)
        if said is not None:
            await asyncio.sleep(due + 1.0 - time.perf_counter())
            path = f"/v1/decisions/{said.json()['id']}/reward"
            await self._ask("reward", due + 1.0, path, {"value": 1})

    async def _ask(self, kind: str, due: float, path: str, body: Any) -> Any:
        """Return the answer, and note how long after its time it came."""
        wire = self._free.pop() if self._free else Wire(self._server.port)
        try:
            said = await wire.ask("POST", path, body)
        except OSError:
            self.failed += 1
            return None
        self._free.append(wire)
        ms = 1e3 * (time.perf_counter() - due)
        self.times.append((due - self._begun, kind, ms))
        if said.status >= 300:
            self.failed += 1
            return None
        return said
