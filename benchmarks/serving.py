"""The service under load: how much it answers, how fast, and with how much memory.

    python benchmarks/serving.py [--only saturated steady] [--seconds 10] [--steady 600] [--quick]

Writes results/service/load.json: decisions a second that `giro serve` answers when they are
durable, at most (`saturated`), beside `plain_service.py`, which inserts a row for each request, in
turns; and how long answers take at 500 decisions and 500 rewards a second (`steady`). Then `python
scripts/tables.py` writes docs/service.md, and the figure there is drawn. Clients are included: they
run on the same cores. `wrk` puts the load on; PostgreSQL is a server of its own that waits for the
disk. --quick does little of everything, to see that it works, and writes to .benchmarks/quick.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import uvloop
from matplotlib.figure import Figure
from plain_service import ARMS
from ratio import results, say

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "service.png"
sys.path.insert(0, str(ROOT / "tests"))

from bandit.stores.postgres import new_database, url_or_reason  # noqa: E402  # of the tests
from servers import SERVE, Server, Wire, free_port  # noqa: E402  # of the tests
from service_load import CONNECTIONS, Load, Steady, load  # noqa: E402

from giro.plots import save  # noqa: E402
from giro.plots.style import COLOURS, STYLE  # noqa: E402
from giro.version import Stamp, stamp  # noqa: E402

TURNS = 3
RATE = 500  # decisions a second, and rewards, of the steady load
WINDOW = 10.0  # seconds of a row over time
SETUPS = (("sqlite", 1), ("sqlite", 2), ("postgres", 4))
CONTEXT = {"country": "de", "age": 31, "device": "phone"}
ARTICLES = {f"{i}": {"topic": f"t{i % 7}", "length": i, "author": f"a{i}"} for i in range(20)}
LOOPS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # a bandit, and what it is asked
    "thompson": ({"arms": ARMS, "policy": "thompson"}, {}),
    "default, 3 features": ({"arms": ARMS}, {"context": CONTEXT}),
    "greedy:model=hashed, 20 arms of 3 features": (
        {"policy": "greedy:model=hashed", "floor": 0.2},
        {"context": CONTEXT, "arms": ARTICLES},
    ),
}
# -- servers ---------------------------------------------------------------------------------


@contextlib.contextmanager
def store(kind: str) -> Iterator[str]:
    """Lend an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        if kind == "sqlite":
            yield f"sqlite:///{folder}/bench.db"
        else:
            url, reason = url_or_reason(fsync=True)
            if url is None:
                raise SystemExit(reason)
            yield new_database(url)


@contextlib.contextmanager
def giro(where: str, workers: int) -> Iterator[Server]:
    """Lend a `giro serve` whose bandits are ready."""
    with tempfile.TemporaryDirectory() as name:
        folder, environment = Path(name), {"GIRO_STORE": where}
        settings = [f"workers = {workers}\n"]
        for loop, (bandit, _) in LOOPS.items():
            plain = {"name": name_of(loop), **bandit}
            lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in plain.items())
            settings.append(f"[[bandits]]\n{lines}")
        (folder / "giro.toml").write_text("\n".join(settings), "utf-8")
        program = [*SERVE, "--config", "giro.toml"]
        port = free_port()
        with Server(program, port=port, folder=folder, environment=environment) as server:
            server.ready()
            asyncio.run(_warm(server))
            yield server
            server.stop()


async def _warm(server: Server) -> None:
    """Decide and reward with each bandit, over many connections, until all workers are ready."""
    until = time.monotonic() + 180.0
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
    for loop, (_, body) in LOOPS.items():
        path = f"/v1/bandits/{name_of(loop)}"
        said = await wire.ask("POST", f"{path}/decisions", body)
        await wire.ask("POST", f"/v1/decisions/{said.json()['id']}/reward", {"value": 1})
        ready = (await wire.ask("GET", f"{path}/summary")).json()["ready"] and ready
    return ready


def name_of(loop: str) -> str:
    """Return a name for the bandit of a loop."""
    return re.sub(r"\W+", "-", loop)


@contextlib.contextmanager
def plain(where: str, workers: int) -> Iterator[Server]:
    """Lend the plain service."""
    with tempfile.TemporaryDirectory() as name:
        program = [sys.executable, str(ROOT / "benchmarks" / "plain_service.py")]
        program += ["--store", where, "--workers", str(workers)]
        environment = {"PYTHONPATH": str(ROOT / "benchmarks")}
        port = free_port()
        with Server(program, port=port, folder=Path(name), environment=environment) as server:
            yield server.ready()


# -- as many requests as it can answer ---------------------------------------------------------


def saturated(kind: str, workers: int, *, seconds: float, turns: int) -> Iterator[dict[str, Any]]:
    """Yield how many requests a second are answered, and with how much processor time."""
    with store(kind) as where, giro(where, workers) as ours, plain(where, workers) as theirs:
        for loop, (_, body) in LOOPS.items():
            path = f"/v1/bandits/{name_of(loop)}/decisions"
            for rounds in (False, True):
                beside = loop == "thompson" and not rounds
                pairs = []
                for _ in range(turns):
                    own = load(ours, path, body, seconds=seconds, rounds=rounds)
                    other = (
                        load(theirs, "/decisions", {}, seconds=seconds, rounds=False)
                        if beside
                        else None
                    )
                    pairs.append((own, other))
                yield _row(kind, workers, loop, rounds, pairs)


def _row(
    kind: str, workers: int, loop: str, rounds: bool, pairs: list[tuple[Load, Load | None]]
) -> dict[str, Any]:
    ours = [own for own, _ in pairs]
    theirs = [other for _, other in pairs if other is not None]
    ratios = [own.per_second / other.per_second for own, other in pairs if other is not None]

    def median(loads: list[Load], field: str, digits: int = 0) -> float | None:
        if not loads:
            return None
        value = round(statistics.median(getattr(load, field) for load in loads), digits)
        return value if digits else int(value)

    return {
        "store": kind,
        "workers": workers,
        "policy": loop,
        "requests": "decisions and rewards" if rounds else "decisions",
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


def steady(kind: str, workers: int, *, seconds: float) -> dict[str, Any]:
    """Return how long answers take under a steady load, and the memory meanwhile."""
    loop = "thompson"
    with store(kind) as where, giro(where, workers) as server:
        body = LOOPS[loop][1]
        path = f"/v1/bandits/{name_of(loop)}/decisions"
        client = Steady(server, path, body, rate=RATE)
        before = server.usage().cpu
        uvloop.run(client.run(seconds))
        cpu = server.usage().cpu - before
    at = np.array([time for time, _, _ in client.times])
    ms = np.array([ms for _, _, ms in client.times])
    is_reward = np.array([kind == "reward" for _, kind, _ in client.times])
    row: dict[str, Any] = {
        "store": kind,
        "workers": workers,
        "policy": loop,
        "seconds": seconds,
        "answers": len(client.times),
        "failed": client.failed,
        "server_us": round(1e6 * cpu / len(client.times)),
    }
    for call, chosen in (("decide", ~is_reward), ("reward", is_reward)):
        for name, q in (("p50", 0.5), ("p99", 0.99), ("max", 1.0)):
            row[f"{call}_{name}_ms"] = round(float(np.quantile(ms[chosen], q)), 2)
    memory = [mb for _, mb in client.memory]
    row |= {"memory_first_MB": round(memory[0]), "memory_last_MB": round(memory[-1])}
    row["others"] = round(os.getloadavg()[0], 1)
    row["over time"] = [
        {
            "second": round(begin),
            "p50_ms": round(float(np.quantile(part, 0.5)), 2),
            "p99_ms": round(float(np.quantile(part, 0.99)), 2),
            "memory_MB": round(_memory_at(client.memory, begin), 1),
        }
        for begin in np.arange(0.0, seconds, WINDOW)
        if (part := ms[(at >= begin) & (at < begin + WINDOW)]).size
    ]
    return row


def _memory_at(memory: list[tuple[float, float]], second: float) -> float:
    return next((mb for at, mb in memory if at >= second), memory[-1][1])


# -- the figure ------------------------------------------------------------------------------


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
        drawn.legend(*waits.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn


# -- the program -----------------------------------------------------------------------------


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=["saturated", "steady"])
    parser.add_argument("--stores", nargs="+", choices=["sqlite", "postgres"])
    parser.add_argument("--seconds", type=float, default=10.0, help="of each saturated turn")
    parser.add_argument("--steady", type=float, default=600.0, help="seconds of the steady load")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("this needs wrk (Debian: wrk)")
    seconds, long = (1.0, 12.0) if options.quick else (options.seconds, options.steady)
    turns = 1 if options.quick else TURNS
    setups = [each for each in SETUPS if options.stores is None or each[0] in options.stores]
    parts: dict[str, Callable[[str, int], Iterator[dict[str, Any]]]] = {
        "saturated": lambda kind, n: saturated(kind, n, seconds=seconds, turns=turns),
        "steady": lambda kind, n: iter([steady(kind, n, seconds=long)] if n != 2 else []),
    }
    path = results(options.quick) / "service" / "load.json"
    content = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for part in options.only or parts:
        rows = [row for row in content.get(part, []) if row["store"] not in dict(setups)]
        for setup in setups:
            say(f"{part}: {setup[0]}, {setup[1]} workers")
            for row in parts[part](*setup):
                rows.append(row | {"commit": stamp("")._asdict()["commit"]})
                say(f"  { ({k: v for k, v in row.items() if k != 'over time'}) }")
        words = " ".join(["python benchmarks/serving.py", *sys.argv[1:]])
        made_by = stamp(words)._asdict()
        content |= {"made_by": made_by, f"{part} made by": made_by, part: rows}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    if "steady" not in content:
        return
    picture = path.with_suffix(".png") if options.quick else PICTURE
    save(figure(content["steady"]), picture, note=str(Stamp(**content["steady made by"])))


if __name__ == "__main__":
    main()
