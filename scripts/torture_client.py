"""Kill `giro serve`, and now and then its clients, while these decide and reward.

    python scripts/torture_client.py [--kills 100] [--callers 4]

Callers are processes of their own that share a queue, half with `giro.Client` and half with
`giro.AsyncClient`. They write down what they ask for and what they are told. The service is killed
by SIGKILL at random moments, and at every third kill a caller is, too. In the end the service
starts once more, what waits is sent, and its log is compared with what the callers wrote down:

- every decision that a caller was given is in the log, once, with that arm;
- every reward that was reported is there, once, with that value: rewards add up here, so one that
  was sent twice would show;
- what else is in the log was asked for: its answer was lost, or its caller killed.

It needs Linux.
"""

import argparse
import asyncio
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from servers import KEY, Server, free_port  # noqa: E402  # of the tests

from giro import AsyncClient, Bandit, Client  # noqa: E402
from giro.seeds import stream  # noqa: E402

ARMS = [f"arm {i}" for i in range(5)]
PARTS = (0.25, 0.5)  # rewards of each decision
PAUSE = 0.01  # seconds between the decisions of a caller
ADDING = {"reward_aggregation": "sum", "reward_wait": 86400.0}


# -- a caller ----------------------------------------------------------------------------------


async def call(url: str, folder: Path, number: int) -> None:
    """Decide and reward until it is over, and write everything down."""
    made: Any = (AsyncClient if number % 2 else Client)(
        url, KEY, timeout=0.5, queue=folder / "queue.db"
    )
    bandit, count = made.bandit("b", baseline=ARMS[0]), 0
    with (folder / f"journal {number}").open("a", encoding="utf-8", buffering=1) as journal:

        def note(**facts: Any) -> None:
            journal.write(json.dumps(facts) + "\n")

        while not (folder / "over").exists():
            id, count = f"{number}.{os.getpid()}.{count}", count + 1
            note(asking=id)
            decision = await _result(bandit.decide({"x": count % 7}, id=id))
            note(decided=decision.id, arm=decision.arm, fallback=decision.is_fallback)
            for value in PARTS:
                report = os.urandom(8).hex()
                note(reporting=report, id=decision.id, value=value)
                await _result(bandit.reward(decision.id, value, report=report))
                note(reported=report)
            await asyncio.sleep(PAUSE)
    await _result(made.close())


async def _result(given: Any) -> Any:
    return await given if inspect.isawaitable(given) else given


# -- what they wrote down, against the log -----------------------------------------------------


class Told:
    """What the callers asked for, and what they were told."""

    def __init__(self, folder: Path) -> None:
        """Read what they wrote down. A line that ends early is of a caller that was killed."""
        self.asked, self.arms, self.fallbacks = set[str](), dict[str, str](), 0
        self.begun, self.done = dict[str, tuple[str, float]](), set[str]()
        for path in folder.glob("journal *"):
            for line in path.read_text("utf-8").splitlines(keepends=True):
                if line.endswith("}\n"):
                    self._read(json.loads(line))

    def _read(self, facts: dict[str, Any]) -> None:
        match facts:
            case {"asking": id}:
                self.asked.add(id)
            case {"decided": id, "arm": arm, "fallback": fallback}:
                self.arms[id], self.fallbacks = arm, self.fallbacks + fallback
            case {"reporting": report, "id": id, "value": value}:
                self.begun[report] = (id, value)
            case {"reported": report}:
                self.done.add(report)

    def check(self, store: str) -> int:
        """Compare it with the log, and return how many decisions there nobody was told of."""
        with Bandit.open(store, "b", at_once=True, progress=False) as bandit:
            events = bandit.events()
        decided = events.filter(events["kind"] == "decision")
        arms = dict(decided[["id", "arm"]].iter_rows())
        assert len(arms) == decided.height, "a decision is in the log twice"
        assert arms.items() >= self.arms.items(), "a decision is lost, or has another arm"
        more = arms.keys() - self.arms.keys()
        assert {id.removesuffix("~") for id in more} <= self.asked, "nobody asked for a decision"
        reported = events.filter(events["kind"] == "report")
        rewards = {row[0]: row[1:] for row in reported[["report", "id", "reward"]].iter_rows()}
        assert len(rewards) == reported.height, "a reward counts twice"
        assert rewards.keys() >= self.done, "a reward is lost"
        assert self.begun.items() >= rewards.items(), "a reward is not what was reported"
        return len(more)


# -- killing -----------------------------------------------------------------------------------


def torture(folder: Path, *, kills: int, callers: int, seed: int) -> str:
    """Return what happened."""
    store, port, rng = f"sqlite:///{folder}/giro.db", free_port(), stream(seed)
    counts = Counter[str]()

    def serving() -> Server:
        return Server(port=port, folder=folder, environment={"GIRO_STORE": store})

    def calling(number: int) -> subprocess.Popen[bytes]:
        words = ["--caller", str(number), "--url", server.url, "--folder", str(folder)]
        return subprocess.Popen([sys.executable, __file__, *words])

    server = serving().ready()
    with Client(server.url, KEY, queue=None, timeout=30.0) as client:
        client.create("b", ARMS, "uniform", **ADDING)
    processes = [calling(number) for number in range(callers)]
    try:
        for kill in range(kills):
            if kill % 4:  # otherwise it may be killed while it starts
                server.ready()
                _served(folder, processes)
            time.sleep(rng.random())
            server.kill()
            if kill % 3 == 2:
                number = int(callers * rng.random())
                processes[number].kill()
                processes[number].wait()
                processes[number] = calling(number)
                counts["callers killed"] += 1
            time.sleep(rng.random())
            server = serving()
            if kill % 10 == 9:
                print(f"{kill + 1} kills", flush=True)  # noqa: T201
        (folder / "over").touch()
        assert [process.wait(60) for process in processes] == [0] * callers
        server.ready()
        with Client(server.url, KEY, queue=folder / "queue.db", timeout=30.0) as client:
            assert client.flush(3_600.0) == 0, "something still waits"
            assert client.refused() == [], client.refused()[:3]
    finally:
        for process in processes:
            process.kill()
            process.wait()
        server.kill()
    told = Told(folder)
    more = told.check(store)
    return (
        f"{kills} kills of giro serve and {counts['callers killed']} of callers: "
        f"{len(told.arms)} decisions, {told.fallbacks} of them taken while it was away, and "
        f"{len(told.done)} rewards, each in the log once; {more} decisions of which no caller knows"
    )


def _served(folder: Path, processes: list[subprocess.Popen[bytes]]) -> None:
    """Wait until the service has decided something for a caller."""
    known = _decisions(folder)
    while _decisions(folder) == known:
        assert [process.poll() for process in processes] == [None] * len(processes)
        time.sleep(0.02)


def _decisions(folder: Path) -> int:
    """Return how many decisions of the service callers know."""
    texts = (path.read_bytes() for path in folder.glob("journal *"))
    return sum(text.count(b'"fallback": false') for text in texts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--callers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--caller", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.caller is not None:
        asyncio.run(call(given.url, given.folder, given.caller))
    else:
        with tempfile.TemporaryDirectory() as name:
            how = {"kills": given.kills, "callers": given.callers, "seed": given.seed}
            print(torture(Path(name), **how))  # noqa: T201
