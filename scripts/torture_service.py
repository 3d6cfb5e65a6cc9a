"""Kill `giro serve` again and again under load, and look whether anything was lost.

    python scripts/torture_service.py [--store sqlite|postgres] [--workers 1] [--kills 200]
    python scripts/torture_service.py --events 1_000_000 [--folder FOLDER]

Callers decide and reward through three doors: the own API, with ids of their own or of the service;
Personalizer's, where half of the events are deferred, rewarded and then activated; and that of
OpenFeature, where a visitor reads a flag several times. At random moments all processes of the
server are killed by SIGKILL, with several workers often only one of them, and now and then while it
starts. Callers that get no answer ask again. In the end the logs are compared with all that callers
were told:

- every decision that was acknowledged is in the log, once, with that arm and that probability;
- every reward that was acknowledged is there, once, with that value;
- the same request got the same decision, and a visitor has one, whatever was killed in between.

This goes on in stretches of 20 kills, each with a store of its own, whose logs are compared at its
end. After each, results/service/kills.json has what was acknowledged so far, and how long the
server took from its start to ready. With --events it makes a log of that many events (once, in the
folder), and prints how long a server takes from its start until it is ready and until it has
decided, after a kill and after a good end (results/service/restarts.json). It needs Linux.
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from servers import SERVE, Said, Server, Wire, empty_store, free_port  # noqa: E402  # of the tests

from giro import Bandit  # noqa: E402
from giro.seeds import stream  # noqa: E402
from giro.version import stamp  # noqa: E402

CALLERS = 8
STRETCH = 20  # kills
STARTS = 5  # with a long log, after each way to end
ARMS = [f"arm {i}" for i in range(10)]
BANDIT = {"name": "b", "arms": ARMS, "policy": "thompson"}
FLAG = {"name": "flag", "arms": ["old", "new"], "policy": "thompson", "sticky": 86_400}
RANK = {"actions": [{"id": word, "features": [{"taste": word}]} for word in ARMS]}
BUSY = 503


class Callers:
    """Programs that use the service, and remember what they were told."""

    def __init__(self, port: int, seed: int) -> None:
        """Begin knowing nothing."""
        self._port, self._seed, self.is_over = port, seed, False
        self.told = Counter[str]()
        self.decisions: dict[str, dict[str, tuple[str, float | None]]] = {
            name: {} for name in ("b", "default", "flag")
        }
        self.rewards: dict[str, dict[str, float]] = {name: {} for name in self.decisions}
        self.of_visitor: dict[str, str] = {}  # a decision
        self.visitors: set[str] = set()  # who asked
        self.failed = False

    async def hear(self, answers: int, seconds: float = 600.0) -> None:
        """Wait until they were told so many more decisions and rewards."""
        until, wanted = time.monotonic() + seconds, self.told.total() + answers
        while self.told.total() < wanted and not self.failed:
            assert time.monotonic() < until, "the service hangs"
            await asyncio.sleep(0.01)

    async def call(self, number: int) -> None:
        """Do one thing after the other, until it is over."""
        rng, count = stream(self._seed, number), 0
        acts: list[Callable[..., Awaitable[None]]] = [self._decide, self._rank, self._read]
        async with Wire(self._port) as wire:
            while not self.is_over:
                act = acts[int(rng.random() * len(acts))]
                try:
                    await act(wire, rng, f"{self._seed}/{number}/{count}")
                except BaseException:
                    self.failed = True
                    raise
                count += 1

    async def _ask(self, wire: Wire, path: str, body: Any = None) -> Said:
        """Return an answer, whatever happens to the server meanwhile."""
        while True:
            try:
                said = await wire.ask("POST", path, body)
            except OSError:
                said = Said(BUSY, b"")
            if said.status != BUSY:
                if said.status >= 300:
                    raise AssertionError(f"{path} {body}: {said}")
                return said
            await asyncio.sleep(0.02)

    def _note(self, bandit: str, id: str, arm: str, propensity: float | None) -> None:
        """Note a decision, and check that it is the one that was told before."""
        self.told["decisions"] += 1
        known = self.decisions[bandit].setdefault(id, (arm, propensity))
        assert known == (arm, propensity), (bandit, id, known, arm, propensity)

    async def _reward(
        self, wire: Wire, bandit: str, id: str, value: float, path: str, body: Any = None
    ) -> None:
        await self._ask(wire, path, body or {"value": value})
        self.told["rewards"] += 1
        self.rewards[bandit][id] = value

    async def _decide(self, wire: Wire, rng: np.random.Generator, name: str) -> None:
        """Decide by the own API, again with the same id, and reward."""
        body = {"id": name} if rng.random() < 0.5 else {}
        for _ in range(1 + len(body)):
            found = (await self._ask(wire, "/v1/bandits/b/decisions", body)).json()
            self._note("b", found["id"], found["arm"], found["propensity"])
        value = float(rng.random() < 0.5)
        if body:
            batch = [{"id": name, "value": value}]
            await self._reward(wire, "b", name, value, "/v1/bandits/b/rewards", batch)
        else:
            id = found["id"]
            await self._reward(wire, "b", id, value, f"/v1/decisions/{id}/reward")

    async def _rank(self, wire: Wire, rng: np.random.Generator, name: str) -> None:
        """Rank by Personalizer's API, reward, and activate what is deferred."""
        body = {**RANK, "eventId": name, "deferActivation": bool(rng.random() < 0.5)}
        found = (await self._ask(wire, "/personalizer/v1.0/rank", body)).json()
        again = (await self._ask(wire, "/personalizer/v1.0/rank", body)).json()
        assert again == found, (found, again)
        chances = {each["id"]: each["probability"] for each in found["ranking"]}
        value, path = round(2.0 * rng.random() - 1.0, 3), f"/personalizer/v1.0/events/{name}"
        await self._ask(wire, f"{path}/reward", {"value": value})
        if body["deferActivation"]:
            if rng.random() < 0.2:
                return  # never shown
            await self._ask(wire, f"{path}/activate")
        arm = found["rewardActionId"]
        self._note("default", name, arm, chances[arm])
        self.told["rewards"] += 1
        self.rewards["default"][name] = value

    async def _read(self, wire: Wire, rng: np.random.Generator, name: str) -> None:
        """Read a flag for a visitor, who comes several times, and reward the first time."""
        visitor = f"{self._seed}/{int(200 * rng.random())}"
        self.visitors.add(visitor)
        path, context = "/ofrep/v1/evaluate/flags/flag", {"targetingKey": visitor}
        found = (await self._ask(wire, path, {"context": context})).json()
        id, metadata = found["metadata"]["decision"], found["metadata"]
        self._note("flag", id, found["variant"], metadata["propensity"])
        assert self.of_visitor.setdefault(visitor, id) == id, (visitor, id)
        body = {"targetingKey": visitor, "value": 1.0}
        await self._reward(wire, "flag", id, 1.0, "/v1/bandits/flag/rewards", body)

    def complaints(self, store: str) -> Iterator[str]:
        """Compare what was told with the logs, and yield all that differs."""
        for name, decisions in self.decisions.items():
            with Bandit.open(store, name) as bandit:
                events = bandit.events()
                logged = events.filter(events["kind"] == "decision")
                rewards = events.filter(events["kind"] == "reward")
                rewarded = dict(zip(rewards["id"], rewards["reward"], strict=True))
                ids = set(logged["id"])
                for id, told in decisions.items():
                    if id not in ids:
                        yield f"{name} has lost the decision {id}"
                        continue
                    found = bandit.decision(id)
                    if (found.arm, found.propensity) != told:
                        yield f"{name} has {found.arm}, {found.propensity} for {id}, not {told}"
            for table, kind in ((logged, "decision"), (rewards, "reward")):
                if table["id"].n_unique() < table.height:
                    yield f"{name} has a {kind} twice"
            for id, value in self.rewards[name].items():
                if rewarded.get(id) != value:
                    yield f"{name} has the reward {rewarded.get(id)} for {id}, not {value}"
            if name == "flag" and logged.height > len(self.visitors):
                yield "a visitor has two decisions"


async def torture(
    store: str, folder: Path, *, workers: int, kills: int, seed: int
) -> tuple[Counter[str], list[float]]:
    """Kill a server this often.

    Return how much callers were told, and how many seconds it took from each start to ready.
    """
    rng, port = stream(seed), free_port()
    callers = Callers(port, seed)
    program = [*SERVE, "--workers", str(workers)]
    waits = list[float]()

    def start() -> Server:
        return Server(program, port=port, folder=folder, environment={"GIRO_STORE": store})

    server = start()
    try:
        await asyncio.to_thread(server.ready)
        async with Wire(port) as wire:
            for bandit in (BANDIT, FLAG):
                assert (await wire.ask("POST", "/v1/bandits", bandit)).status in (200, 201)
        tasks = [asyncio.create_task(callers.call(number)) for number in range(CALLERS)]
        for _ in range(kills):
            is_early = rng.random() < 0.1
            if is_early:
                await asyncio.sleep(2.0 * rng.random())
            else:
                await callers.hear(int(200 * rng.random() ** 2))
            _raise_failures(tasks)
            alive = server.workers()
            if alive and rng.random() < 0.5:
                callers.told["kills of a worker"] += 1
                _end(alive[int(rng.random() * len(alive))])
            else:
                callers.told["kills of all"] += 1
                server.kill()
                server, begun = start(), time.perf_counter()
                if not is_early:
                    await asyncio.to_thread(server.ready)
                    waits.append(time.perf_counter() - begun)
        await asyncio.to_thread(server.ready)
        callers.is_over = True
        await asyncio.gather(*tasks)
    finally:
        server.kill()
    complaints = list(callers.complaints(store))
    print(*complaints, sep="\n")  # noqa: T201
    callers.told["lost"] = len(complaints)
    return callers.told, waits


def tortured(kind: str, folder: Path, *, kills: int, workers: int, seed: int) -> Iterator[Any]:
    """Yield a row of all that came of it so far, after each stretch."""
    told, waits = Counter[str](), list[float]()
    for begin in range(0, kills, STRETCH):
        n = min(STRETCH, kills - begin)
        with empty_store(kind) as store:
            part = torture(store, folder, workers=workers, kills=n, seed=seed + begin)
            more, took = asyncio.run(part)
        told, waits = told + more, waits + took
        row = {"store": kind, "workers": workers, "kills": begin + n, "seed": seed, **told}
        row["lost"] = told["lost"]
        if waits:
            row["median ready ms"] = round(1e3 * float(np.median(waits)))
            row["longest ready ms"] = round(1e3 * max(waits))
        print(json.dumps(row), flush=True)  # noqa: T201
        yield row


def _raise_failures(tasks: list[asyncio.Task[None]]) -> None:
    """Raise what a caller has raised, rather than go on without it."""
    for task in tasks:
        if task.done():
            task.result()


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


# -- restarting with a long log ----------------------------------------------------------------


def long_log(folder: Path, events: int) -> str:
    """Return a store with a bandit whose log has this many events."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from stores import filled  # noqa: PLC0415  # of benchmarks/

    store = f"sqlite:///{folder}/long.db"
    if BANDIT["name"] not in Bandit.names(store):
        with Bandit(ARMS, "thompson", name="b", store=store) as bandit:
            bandit.reward(bandit.decide().id, 1.0)
            filled(bandit, events, stream(1))
    return store


def restarted(store: str, folder: Path, events: int) -> Iterator[dict[str, Any]]:
    """Yield how long it takes from the start to ready, and to a decision, after each end."""
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in BANDIT.items())
    (folder / "giro.toml").write_text(f"[[bandits]]\n{lines}", "utf-8")
    for how, end in (("kill -9", Server.kill), ("well", Server.stop)):
        _started(store, folder, end)
        times = np.array([_started(store, folder, end) for _ in range(STARTS)])
        ready, decided, cpu = np.median(times, axis=0).round(2).tolist()
        row = {"ended": how, "events": events, "starts": STARTS, "ready_s": ready}
        row |= {"longest_ready_s": float(times[:, 0].max().round(2)), "decided_s": decided}
        row |= {"cpu_s": cpu}
        print(row, flush=True)  # noqa: T201
        yield row


def _started(store: str, folder: Path, end: Callable[[Server], None]) -> tuple[float, ...]:
    """Return the seconds until a server was ready, until it had decided, and of its processor."""
    begun, port = time.perf_counter(), free_port()
    program, environment = [*SERVE, "--config", "giro.toml"], {"GIRO_STORE": store}
    with Server(program, port=port, folder=folder, environment=environment) as server:
        server.ready()
        ready = time.perf_counter() - begun
        asyncio.run(_decided(port))
        decided, cpu = time.perf_counter() - begun, server.usage().cpu
        end(server)
    return ready, decided, cpu


async def _decided(port: int) -> None:
    async with Wire(port) as wire:
        said = await wire.ask("POST", "/v1/bandits/b/decisions", {})
        path = f"/v1/decisions/{said.json()['id']}/reward"
        assert (await wire.ask("POST", path, {"value": 1})).status == 204


def keep(name: str, rows: list[dict[str, Any]], made_by: dict[str, Any]) -> None:
    """Write rows to a file of results, in the place of those of the same kind."""
    path = options.out / f"{name}.json"
    old = json.loads(path.read_text("utf-8"))["rows"] if path.exists() else []
    kinds = ("store", "workers", "ended")
    new = [row | {"made_by": made_by} for row in rows]
    kept = {tuple(row.get(kind) for kind in kinds): row for row in [*old, *new]}
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"made_by": made_by, "rows": list(kept.values())}
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--events", type=int)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "service")
    options = parser.parse_args()
    words = " ".join(["python scripts/torture_service.py", *sys.argv[1:]])
    made_by = stamp(words)._asdict()
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        if options.events:
            store = long_log(folder, options.events)
            keep("restarts", list(restarted(store, folder, options.events)), made_by)
        else:
            how = {"workers": options.workers, "kills": options.kills, "seed": options.seed}
            for row in tortured(options.store, folder, **how):
                keep("kills", [row], made_by)
            sys.exit(row["lost"] > 0)
