"""Send `giro serve` nonsense, and look whether it answers, how fast, and with how much memory.

    python scripts/fuzz_service.py [--requests 100_000] [--seed 1]

Schemathesis makes requests from the OpenAPI document, right ones and wrong ones, for a server with
bandits, a flag and a loop (`scripts/install_clients.sh` installs it). Before and after, requests
are sent that no such program would make: no HTTP, heads and bodies without an end, bodies that are
huge, deep or no JSON, wrong keys. Then results/service/fuzz.json has how many requests got which
status, the slowest answer of a probe meanwhile, and the memory over time. It fails if an answer was
a 5xx, did not follow the document, or did not come, if what was refused was not counted, and in a
long run if memory was not flat: if a line through its second half rises by more than a tenth.

Bandits are made all the while, and a server has few of them in its memory (`bandits` of its
limits); decisions wait for rewards for a minute. So what may be kept in memory does not grow.
Policies are compiled by processes of their own, whose memory is not counted.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
CLIENTS = ROOT / ".clients" / "python"
RESULT = ROOT / "results" / "service" / "fuzz.json"
sys.path.insert(0, str(ROOT / "tests"))

from servers import KEY, SERVE, Server, Wire, free_port  # noqa: E402  # of the tests

from giro.version import stamp  # noqa: E402

SETTINGS = """
[limits]
seconds = 2.0
bandits = 12

[[bandits]]
name = "b"
arms = ["red", "green"]
policy = "thompson"
reward_wait = 60

[[bandits]]
name = "open"
policy = "greedy:model=hashed"
floor = 0.2
reward_wait = 60

[[bandits]]
name = "flag"
arms = ["old", "new"]
policy = "thompson"
reward_wait = 60
payloads = {old = 1, new = 2}
"""
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance"
CHECKS += ",response_schema_conformance,unsupported_method"
CYCLES = 10  # of all passes
AT_ONCE = 2  # processes that send requests
SAMPLES = 40  # of the memory
LONG = 50_000  # requests of a run that decides whether memory is flat
MOST_RISE = 0.1  # of the memory, in the second half of it
PATIENCE = 30.0  # seconds for an answer
_HEAD = f"POST /v1/bandits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\n"


class Pass(NamedTuple):
    """A part of the run: the values of parameters, which operations, and the share of requests."""

    parameters: dict[str, str]
    leave_out: str  # a pattern of paths
    share: float


NOT_RETIRING = r"^/v1/(bandits|keys|bandits/\{name\}|bandits/\{name\}/evaluations)$"
PASSES = (
    Pass({"path.name": "b", "path.key": "flag"}, NOT_RETIRING, 0.55),
    Pass({"path.name": "open", "path.key": "open"}, NOT_RETIRING, 0.4),
    Pass({}, "^$", 0.05),
)

# -- requests that no client makes ---------------------------------------------------------------


class Raw(NamedTuple):
    """Bytes to send, the status to get, and the reason under which that is counted."""

    status: int
    reason: str
    parts: tuple[bytes, ...]


def raw_requests() -> list[Raw]:
    """Return one of each kind."""

    def with_body(body: bytes, head: str = _HEAD) -> tuple[bytes, ...]:
        length = f"Content-Length: {len(body)}\r\n\r\n"
        return head.encode() + length.encode(), body

    decide = _HEAD.replace("/v1/bandits ", "/v1/bandits/b/decisions ")
    deep = b'{"context": {"a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}}"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n"
    return [
        Raw(400, "malformed", (b"\x16\x03\x01 no HTTP\r\n\r\n",)),
        Raw(400, "malformed", (b"GET / HTTP/9.9\r\n\r\n",)),
        Raw(400, "malformed", with_body(b'{"name": ')),
        Raw(400, "malformed", with_body(b"\xff\xfe")),
        Raw(400, "malformed", (_HEAD.encode() + chunked, b"ZZ\r\n")),
        Raw(431, "size", (b"GET / HTTP/1.1\r\nX: " + b"a" * 65_000, b"a" * 1_000)),
        Raw(413, "size", with_body(b" " * 2_000_000)),
        Raw(422, "invalid", with_body(deep, decide)),
        Raw(401, "key", with_body(b"{}", _HEAD.replace(KEY, "wrong"))),
        Raw(401, "key", with_body(b"{}", _HEAD.replace(f"Authorization: Bearer {KEY}\r\n", ""))),
        Raw(404, "missing", with_body(b"{}", _HEAD.replace("/v1/bandits ", "/nowhere "))),
        Raw(405, "method", (b"OPTIONS /v1/bandits HTTP/1.1\r\nHost: x\r\n\r\n",)),
        Raw(405, "method", (b"TRACE /personalizer/v1.0/rank HTTP/1.1\r\nHost: x\r\n\r\n",)),
        Raw(404, "missing", (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",)),
        Raw(400, "malformed", (b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n",)),
        Raw(408, "slow", (_HEAD.encode(),)),
        Raw(408, "slow", (_HEAD.encode() + b"Content-Length: 10\r\n\r\n", b"{")),
    ]


async def send_raw(port: int, raw: Raw) -> int:
    """Return the status that such a request gets."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in raw.parts:
            writer.write(part)
            await writer.drain()
        said = await asyncio.wait_for(reader.read(12), PATIENCE)
        return int(said[9:12])
    finally:
        writer.close()


async def send_all_raw(port: int, times: int) -> Counter[str]:
    """Send each of them this often, and return how many were refused for which reason."""
    refused = Counter[str]()
    for raw in raw_requests():
        for _ in range(0, times, 50):  # so many at a time
            many = [send_raw(port, raw) for _ in range(min(50, times))]
            for status in await asyncio.gather(*many):
                if status != raw.status:
                    raise SystemExit(f"{raw.parts[0][:60]!r} got {status}, not {raw.status}")
                refused[raw.reason] += 1
    return refused


# -- looking on ----------------------------------------------------------------------------------


class Watch(threading.Thread):
    """Asks all the while whether the server lives, and how much memory it uses."""

    def __init__(self, server: Server) -> None:
        """Prepare."""
        super().__init__(daemon=True)
        self._server, self._is_over = server, threading.Event()
        self.memory: list[tuple[int, float, int]] = []  # requests so far, MB, open bandits
        self.slowest = 0.0  # seconds
        self.failures: list[str] = []

    def run(self) -> None:
        """Ask every second."""
        while not self._is_over.wait(1.0):
            begun = time.perf_counter()
            try:
                answers, _, bandits = asyncio.run(counted(self._server.port))
            except (OSError, TimeoutError) as error:
                self.failures.append(f"a probe got no answer: {error!r}")
                continue
            self.slowest = max(self.slowest, time.perf_counter() - begun)
            memory = self._server.memory(self._server.process.pid)
            self.memory.append((answers.total(), memory, bandits))

    def end(self) -> None:
        """Ask no more."""
        self._is_over.set()
        self.join()


class Counted(NamedTuple):
    """What the server counts: requests by status, those refused by reason, and open bandits."""

    answers: Counter[str]
    refused: Counter[str]
    bandits: int


async def counted(port: int) -> Counted:
    """Return what the server counts."""
    async with Wire(port) as wire:
        said = await asyncio.wait_for(wire.ask("GET", "/metrics"), PATIENCE)
    text = said.body.decode()
    answers = _sums(r'requests_total\{.*status="(\d+)"', text)
    return Counted(answers, _sums(r'reason="(\w+)"', text), text.count("\ngiro_ready{"))


def _sums(pattern: str, text: str) -> Counter[str]:
    sums = Counter[str]()
    for word, value in re.findall(pattern + r"[^}]*\} (\S+)", text):
        sums[word] += int(float(value))
    return sums


# -- Schemathesis --------------------------------------------------------------------------------


def schemathesis(port: int, folder: Path, part: Pass, examples: int, phases: str, seed: int) -> str:
    """Run it, and return what it says in the end, nothing if all was well."""
    lines = [f'"{name}" = "{value}"' for name, value in part.parameters.items()]
    folder = folder / str(seed)  # a process of its own has its own notes
    folder.mkdir()
    settings = folder / "schemathesis.toml"
    settings.write_text("\n".join(["[parameters]", *lines, ""]), "utf-8")
    words = [sys.executable, "-W", "ignore", "-m", "schemathesis.cli", f"--config-file={settings}"]
    words += ["run", f"http://127.0.0.1:{port}/openapi.json", f"--phases={phases}"]
    words += [f"--checks={CHECKS}", f"--max-examples={examples}", f"--seed={seed}", "--no-color"]
    words += [f"--header=Authorization: Bearer {KEY}", f"--request-timeout={PATIENCE:g}"]
    words += ["--exclude-path-regex", part.leave_out, "--suppress-health-check=all"]
    words += ["--warnings=off", "--continue-on-failure", "--no-shrink", "--workers=1"]
    environment = os.environ | {"PYTHONPATH": str(CLIENTS), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        words, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


# -- the program ---------------------------------------------------------------------------------


def rise_of(memory: Sequence[tuple[int, float, int]]) -> float:
    """Return by what share of its mean a line through the second half of the memory rises.

    >>> rise_of([(n, 100.0 + n / 10, 1) for n in range(101)]), rise_of([(0, 7.0, 1)])
    (0.04651..., 0.0)
    """
    half = [(n, mb) for n, mb, _ in memory if 2 * n >= memory[-1][0]]
    if len(half) < 2:
        return 0.0
    n, mb = np.array(half).T
    first, last = np.polynomial.Polynomial.fit(n, mb, 1)(n[[0, -1]])
    return float((last - first) / mb.mean())


class Run:
    """A server, what is sent to it, and what came of that so far."""

    def __init__(self, server: Server, folder: Path, *, raw: int, seed: int) -> None:
        """Begin with nothing."""
        self._server, self._folder, self._raw, self._seed = server, folder, raw, seed
        self._watch, self._begun = Watch(server), time.perf_counter()
        self._before = asyncio.run(counted(server.port)).answers  # 503 until policies were compiled
        self.failures: list[str] = []

    def odd_requests(self) -> None:
        """Send all that no client makes, and check that it is counted."""
        before = asyncio.run(counted(self._server.port)).refused
        sent = asyncio.run(send_all_raw(self._server.port, self._raw))
        after = asyncio.run(counted(self._server.port)).refused
        if after - before != sent:
            self.failures.append(f"counted {after - before}, not {sent}")

    def total(self) -> int:
        """Return how many requests were answered."""
        return asyncio.run(counted(self._server.port)).answers.total()

    def play(self, passes: Sequence[Pass], requests: int, first: str) -> Iterator[None]:
        """Let Schemathesis send requests, in phases `first` at first, and yield now and then."""
        self._watch.start()
        total, cycles = self.total(), 1 if requests < LONG else CYCLES
        for number, part in enumerate(passes * cycles):
            until, turn = total + part.share * requests / cycles, 0
            while total < until:
                examples = max(2, min(100, int((until - total) / 30 / AT_ONCE)))
                phases = first if turn == 0 and number < len(passes) else "fuzzing"
                begin = partial(
                    schemathesis, self._server.port, self._folder, part, examples, phases
                )
                seed = self._seed + 1000 * number + AT_ONCE * turn
                with ThreadPoolExecutor(AT_ONCE) as pool:
                    said = [text for text in pool.map(begin, range(seed, seed + AT_ONCE)) if text]
                for text in said:
                    print(text, flush=True)  # noqa: T201
                self.failures += said
                total, turn = self.total(), turn + 1
                print(f"{total} requests, {len(self.failures)} failures", flush=True)  # noqa: T201
                yield
        self._watch.end()

    def found(self) -> dict[str, Any]:
        """Return all that is worth keeping."""
        answers, refused, _ = asyncio.run(counted(self._server.port))
        answers -= self._before
        errors = [f"{n} answers {status}" for status, n in answers.items() if status[0] == "5"]
        memory = list(self._watch.memory)
        rise, is_long = rise_of(memory), answers.total() >= LONG
        if is_long and rise > MOST_RISE:
            errors.append(f"memory rose by {rise:.0%}")
        return {
            "seed": self._seed,
            "requests": answers.total(),
            "seconds": round(time.perf_counter() - self._begun),
            "answers": dict(sorted(answers.items())),
            "refused": dict(sorted((+refused).items())),
            "slowest_probe_ms": round(1e3 * self._watch.slowest),
            "rise_in_second_half": round(rise, 3) if is_long else None,
            "requests, MB, open bandits": [
                [n, round(mb), bandits]
                for n, mb, bandits in memory[:: max(1, len(memory) // SAMPLES)]
            ],
            "failures": len(self.failures + self._watch.failures + errors),
        }


def main() -> None:
    """Fuzz, and keep what happened."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--raw", type=int, default=50, help="of each kind, before and after")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", default="coverage,fuzzing", help="phases of Schemathesis")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    words = " ".join(["python scripts/fuzz_service.py", *sys.argv[1:]])
    made_by = stamp(words)._asdict()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "giro.toml").write_text(SETTINGS, "utf-8")
        program = [*SERVE, "--config", "giro.toml"]
        with Server(program, port=free_port(), folder=folder) as server:
            server.ready(seconds=600.0)
            run = Run(server, folder, raw=options.raw, seed=options.seed)
            run.odd_requests()
            for _ in run.play(PASSES, options.requests, options.first):
                keep({"made_by": made_by, **run.found()}, options.out)
            run.odd_requests()
            found = run.found()
            keep({"made_by": made_by, **found}, options.out)
            server.stop()
    print(json.dumps(found), *run.failures[-3:], sep="\n")  # noqa: T201
    if found["failures"]:
        raise SystemExit(1)


def keep(content: dict[str, Any], path: Path) -> None:
    """Write what happened so far."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
