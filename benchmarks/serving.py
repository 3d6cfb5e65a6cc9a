"""The service under load: how much it answers, how fast, and with how much memory.

    python benchmarks/serving.py [--only saturated steady] [--seconds 5] [--steady 600] [--quick]

Writes results/service/load.json: decisions a second that `giro serve` answers when they are
durable, at most (`saturated`), beside `plain_service.py`, which inserts a row for each request, in
turns; and how long answers take at 500 decisions and 500 rewards a second (`steady`). Then `python
scripts/tables.py` writes docs/service.md, and the figure there is drawn. The client is included: it
runs on the same cores. PostgreSQL is a server of its own that waits for the disk. All of it takes
about half an hour, twenty minutes of which are the steady load. --quick does little of everything,
to see that it works, and writes to .benchmarks/quick.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import uvloop
from matplotlib.figure import Figure
from plain_service import ARMS
from ratio import results, say

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "service.png"
sys.path.insert(0, str(ROOT / "tests"))

from servers import SERVE, Server, Wire, empty_store, free_port  # noqa: E402  # of the tests

from giro.plots import save  # noqa: E402
from giro.plots.style import COLOURS, STYLE  # noqa: E402
from giro.version import Stamp, stamp  # noqa: E402

CONNECTIONS = 64
TURNS = 3
RATE = 500  # decisions a second, and rewards, of the steady load
PATIENCE = 600.0  # seconds in which policies should be compiled
DELAY = 1.0  # seconds from a decision to its reward, in the steady load
WINDOW = 10.0  # seconds of a row over time
SETUPS = (("sqlite", 1), ("sqlite", 2), ("postgres", 4))  # store and workers
CONTEXT = {"country": "de", "age": 31, "device": "phone"}
ARTICLES = {f"{i}": {"topic": f"t{i % 7}", "length": i, "author": f"a{i}"} for i in range(20)}
BANDITS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # and what they are asked
    "thompson": ({"arms": ARMS, "policy": "thompson"}, {}),
    "default, 3 features": ({"arms": ARMS}, {"context": CONTEXT}),
    "greedy:model=hashed, 20 arms of 3 features": (
        {"policy": "greedy:model=hashed", "floor": 0.2},
        {"context": CONTEXT, "arms": ARTICLES},
    ),
}
STEADY = "thompson"

# -- servers ---------------------------------------------------------------------------------


@contextlib.contextmanager
def giro(where: str, workers: int) -> Iterator[Server]:
    """Lend a `giro serve` whose bandits are ready."""
    with tempfile.TemporaryDirectory() as name:
        folder, settings = Path(name), [f"workers = {workers}\n"]
        for bandit, (parameters, _) in BANDITS.items():
            plain = {"name": name_of(bandit), **parameters}
            lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in plain.items())
            settings.append(f"[[bandits]]\n{lines}")
        (folder / "giro.toml").write_text("\n".join(settings), "utf-8")
        program, environment = [*SERVE, "--config", "giro.toml"], {"GIRO_STORE": where}
        with Server(program, port=free_port(), folder=folder, environment=environment) as server:
            server.ready(seconds=PATIENCE)
            asyncio.run(_warm(server))
            yield server
            server.stop()


async def _warm(server: Server) -> None:
    """Decide and reward with each bandit, over many connections, until all workers are ready."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        wires = [Wire(server.port) for _ in range(CONNECTIONS)]
        ready = await asyncio.gather(*map(_is_ready, wires))
        for wire in wires:
            wire.close()
        if all(ready):
            return
        await asyncio.sleep(0.5)
    raise SystemExit("the bandits are not ready")


async def _is_ready(wire: Wire) -> bool:
    """Return whether all policies decide in the process at the other end."""
    ready = True
    for bandit, (_, body) in BANDITS.items():
        path = f"/v1/bandits/{name_of(bandit)}"
        decision = await wire.told(f"{path}/decisions", body)
        await wire.told(f"/v1/decisions/{decision['id']}/reward", {"value": 1})
        ready = (await wire.told(f"{path}/summary"))["ready"] and ready
    return ready


def name_of(bandit: str) -> str:
    """Return a name for a bandit that a path can have."""
    return re.sub(r"\W+", "-", bandit)


@contextlib.contextmanager
def plain(where: str, workers: int) -> Iterator[Server]:
    """Lend the plain service."""
    with tempfile.TemporaryDirectory() as name:
        program = [sys.executable, str(ROOT / "benchmarks" / "plain_service.py")]
        program += ["--store", where, "--workers", str(workers)]
        environment, port = {"PYTHONPATH": str(ROOT / "benchmarks")}, free_port()
        with Server(program, port=port, folder=Path(name), environment=environment) as server:
            yield server.ready()


# -- as many requests as it can answer ---------------------------------------------------------


class Load(NamedTuple):
    """What a server answered."""

    per_second: float
    server_us: float  # of processor time for each request, all of its processes
    client_us: float
    p50_ms: float
    p99_ms: float


def load(server: Server, path: str, body: dict[str, Any], *, seconds: float, rounds: bool) -> Load:
    """Return what the server answers to clients that ask again as soon as they have an answer."""
    ms = list[float]()

    async def call() -> None:
        async with Wire(server.port) as wire:
            while (begun := time.perf_counter()) < until:
                decision = await wire.told(path, body)
                ms.append(1e3 * (time.perf_counter() - begun))
                if rounds:
                    begun = time.perf_counter()
                    await wire.told(f"/v1/decisions/{decision['id']}/reward", {"value": 1})
                    ms.append(1e3 * (time.perf_counter() - begun))

    async def all_calls() -> None:
        await asyncio.gather(*(call() for _ in range(CONNECTIONS)))

    cpu, own, begun = server.usage().cpu, time.process_time(), time.perf_counter()
    until = begun + seconds
    uvloop.run(all_calls())
    took, own, cpu = (
        time.perf_counter() - begun,
        time.process_time() - own,
        server.usage().cpu - cpu,
    )
    p50, p99 = np.quantile(ms, (0.5, 0.99))
    return Load(len(ms) / took, 1e6 * cpu / len(ms), 1e6 * own / len(ms), float(p50), float(p99))


def saturated(kind: str, workers: int, *, seconds: float, turns: int) -> Iterator[dict[str, Any]]:
    """Yield how many requests a second are answered, and with how much processor time."""
    with (
        empty_store(kind, fsync=True) as where,
        giro(where, workers) as ours,
        plain(where, workers) as theirs,
    ):
        for bandit, (_, body) in BANDITS.items():
            path = f"/v1/bandits/{name_of(bandit)}/decisions"
            for rounds in (False, True):
                own, other = list[Load](), list[Load]()
                for _ in range(turns):
                    own.append(load(ours, path, body, seconds=seconds, rounds=rounds))
                    if bandit == STEADY:
                        other.append(load(theirs, "/decisions", {}, seconds=seconds, rounds=False))
                about = {"store": kind, "workers": workers, "policy": bandit}
                what = "decisions and rewards" if rounds else "decisions"
                yield {**about, "requests": what, **_medians(own, other)}


def _medians(ours: list[Load], theirs: list[Load]) -> dict[str, Any]:
    """Return the columns of a row: medians over turns, and of the ratios within turns."""

    def median(loads: list[Load], field: str, digits: int | None = None) -> float | None:
        values = [getattr(load, field) for load in loads]
        return round(statistics.median(values), digits) if values else None

    pairs = zip(ours, theirs, strict=bool(theirs))
    ratios = [own.per_second / other.per_second for own, other in pairs]
    return {
        "per_second": median(ours, "per_second"),
        "server_us": median(ours, "server_us"),
        "client_us": median(ours, "client_us"),
        "p50_ms": median(ours, "p50_ms", 2),
        "p99_ms": median(ours, "p99_ms", 1),
        "plain_per_second": median(theirs, "per_second"),
        "plain_us": median(theirs, "server_us"),
        "ratio": round(statistics.median(ratios), 2) if ratios else None,
        "others": round(os.getloadavg()[0], 1),
    }


# -- a steady load ---------------------------------------------------------------------------


class Steady:
    """Decisions and rewards at a rate that does not depend on the answers."""

    def __init__(self, server: Server) -> None:
        """Begin without connections."""
        self._server, self._free, self.repeated = server, list[Wire](), 0
        self.times: list[tuple[float, str, float]] = []  # seconds since the start, kind, ms
        self.memory: list[tuple[float, float]] = []  # seconds since the start, MB

    async def run(self, seconds: float) -> None:
        """Ask when it is time, whatever is not answered yet, and stop at the first failure."""
        self._begun = begun = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(int(RATE * seconds)):
                due = number / RATE
                await asyncio.sleep(max(0.0, begun + due - time.perf_counter()))
                group.create_task(self._round(due))
                if number % (RATE * 5) == 0:
                    self.memory.append((due, self._server.usage().memory))
        for wire in self._free:
            wire.close()

    async def _round(self, due: float) -> None:
        path = f"/v1/bandits/{name_of(STEADY)}/decisions"
        decision = await self._ask("decide", due, path, BANDITS[STEADY][1])
        await asyncio.sleep(self._begun + due + DELAY - time.perf_counter())
        path = f"/v1/decisions/{decision['id']}/reward"
        await self._ask("reward", due + DELAY, path, {"value": 1})

    async def _ask(self, kind: str, due: float, path: str, body: Any) -> Any:
        """Return the answer, and note how long after its time it came.

        A server closes a connection that was idle for long, perhaps just as it is used again.
        """
        wire = self._free.pop() if self._free else Wire(self._server.port)
        try:
            told = await wire.told(path, body)
        except OSError:
            self.repeated += 1
            told = await wire.told(path, body)
        self._free.append(wire)
        self.times.append((due, kind, 1e3 * (time.perf_counter() - self._begun - due)))
        return told


def steady(kind: str, workers: int, *, seconds: float) -> dict[str, Any]:
    """Return how long answers take under a steady load, and the memory meanwhile."""
    with empty_store(kind, fsync=True) as where, giro(where, workers) as server:
        client, cpu = Steady(server), server.usage().cpu
        uvloop.run(client.run(seconds))
        cpu = server.usage().cpu - cpu
    at, kinds, ms = (np.array(column) for column in zip(*client.times, strict=True))
    row: dict[str, Any] = {
        "store": kind,
        "workers": workers,
        "seconds": round(seconds),
        "answers": ms.size,
        "repeated": client.repeated,
        "server_us": round(1e6 * cpu / ms.size),
    }
    for call in ("decide", "reward"):
        for name, q in (("p50", 0.5), ("p99", 0.99), ("max", 1.0)):
            row[f"{call}_{name}_ms"] = round(float(np.quantile(ms[kinds == call], q)), 2)
    minutes = [mb for _, mb in client.memory]
    row |= {"memory_first_MB": round(minutes[0]), "memory_last_MB": round(minutes[-1])}
    row["others"] = round(os.getloadavg()[0], 1)
    row["over time"] = [
        {
            "second": round(begin),
            "p50_ms": round(float(np.quantile(part, 0.5)), 2),
            "p99_ms": round(float(np.quantile(part, 0.99)), 2),
            "memory_MB": round(next(mb for at, mb in client.memory if at >= begin), 1),
        }
        for begin in np.arange(0.0, seconds, WINDOW)
        if (part := ms[(at >= begin) & (at < begin + WINDOW)]).size
    ]
    return row


def figure(rows: list[dict[str, Any]]) -> Figure:
    """Return two panels over time: how long answers take, and the memory."""
    with mpl.rc_context({**STYLE, "legend.frameon": False}):
        drawn = Figure(figsize=(7.5, 2.9), layout="constrained")
        waits, memory = drawn.subplots(1, 2)
        for colour, row in zip(COLOURS, rows, strict=False):
            label = f"{row['store']}, {row['workers']} worker{'s' * (row['workers'] > 1)}"
            series = row["over time"]
            at = [each["second"] / 60 for each in series]
            for key, line in (("p50_ms", "-"), ("p99_ms", ":")):
                part = [each[key] for each in series]
                waits.plot(at, part, color=colour, linestyle=line, label=f"{label}, {key[:3]}")
            memory.plot(at, [each["memory_MB"] for each in series], color=colour, label=label)
        waits.set(title="waiting for an answer", xlabel="minutes", ylabel="ms", yscale="log")
        memory.set(title="memory of all processes", xlabel="minutes", ylabel="MB")
        memory.set_ylim(bottom=0)
        drawn.legend(*waits.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn


# -- the program -----------------------------------------------------------------------------


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=["saturated", "steady"])
    parser.add_argument("--stores", nargs="+", choices=["sqlite", "postgres"])
    parser.add_argument("--seconds", type=float, default=5.0, help="of each saturated turn")
    parser.add_argument("--steady", type=float, default=600.0, help="seconds of the steady load")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    seconds, long = (1.0, 12.0) if options.quick else (options.seconds, options.steady)
    turns = 1 if options.quick else TURNS
    setups = [each for each in SETUPS if options.stores is None or each[0] in options.stores]
    parts: dict[str, Callable[[str, int], Iterator[dict[str, Any]]]] = {
        "saturated": lambda kind, n: saturated(kind, n, seconds=seconds, turns=turns),
        "steady": lambda kind, n: iter([steady(kind, n, seconds=long)] if n != 2 else []),
    }
    path = results(options.quick) / "service" / "load.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.loads(path.read_text("utf-8")) if path.exists() else {}
    made_by = stamp(" ".join(["python benchmarks/serving.py", *sys.argv[1:]]))._asdict()
    for part in options.only or parts:
        rows = [row for row in content.get(part, []) if row["store"] not in dict(setups)]
        for setup in setups:
            say(f"{part}: {setup[0]}, {setup[1]} workers")
            for row in parts[part](*setup):
                rows.append(row)
                say(f"  { ({k: v for k, v in row.items() if k != 'over time'}) }")
        content |= {"made_by": made_by, f"{part} made by": made_by, part: rows}
        path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    if "steady" in content:
        picture = path.with_suffix(".png") if options.quick else PICTURE
        save(figure(content["steady"]), picture, note=str(Stamp(**content["steady made by"])))


if __name__ == "__main__":
    main()
