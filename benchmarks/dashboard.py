"""The dashboard: how long its pages take, by the length of the log.

    python benchmarks/dashboard.py [--events 1_000,1_000_000,10_000_000] [--stores sqlite,postgres]
        [--lock FILE]

Writes results/bandit/dashboard.json: for each store and length, how long `giro dashboard` takes to
open the log, and how long each page takes, as a program on this machine sees it. Then
`python scripts/tables.py` writes it into docs/howto/dashboard.md. With `--lock` nobody who holds
the file's lock works while pages are timed; logs are filled at low priority.
"""

import argparse
import contextlib
import fcntl
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

from servers import Server, free_port  # noqa: E402  # of the tests
from stores import ARMS, POLICY, address, filled  # noqa: E402  # beside this file

from giro import Bandit  # noqa: E402
from giro.seeds import stream  # noqa: E402
from giro.version import stamp  # noqa: E402

RESULTS = ROOT / "results" / "bandit" / "dashboard.json"
PROGRAM = (sys.executable, "-c", "from giro.cli.main import main; main()", "dashboard")
SIZES = "1_000,1_000_000,10_000_000"
TIMES = 25  # that each page is asked for
BEGIN = 1.7e9  # of the log, in seconds
STEP = 0.25  # seconds between events: ten million take a month
PAGES = {
    "list": "/",
    "overview": "/bandit?name=b",
    "arms": "/arms?name=b",
    "decisions": "/decisions?name=b",
    "one decision": "/decision?name=b&id={id}",
    "late rewards": "/rewards?name=b",
    "learned": "/learned?name=b",
    "all events": "/events?name=b",
    "rare events": "/events?name=b&kind=arm_retired",
}


def fill(where: str, events: int) -> None:
    """Fill the log at low priority."""
    os.nice(15)
    with Bandit(ARMS, POLICY, name="b", store=where, clock=lambda: BEGIN) as bandit:
        if bandit.n_decisions == 0:
            bandit.reward(bandit.decide().id, 1.0)
        filled(bandit, events, stream(1, events), begin=BEGIN, step=STEP)
        bandit.keep()


@contextlib.contextmanager
def quiet(lock: Path | None) -> Iterator[None]:
    """Hold the lock of a file, if one is given."""
    if lock is None:
        yield
        return
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def timed(http: httpx.Client, path: str) -> float:
    """Return the milliseconds that a page takes."""
    begun = time.perf_counter()
    answer = http.get(path)
    seconds = time.perf_counter() - begun
    answer.raise_for_status()
    return 1e3 * seconds


def opened(http: httpx.Client) -> float:
    """Return the seconds until the page of the bandit is there."""
    begun = time.perf_counter()
    while http.get("/bandit?name=b").status_code != 200:
        time.sleep(0.01)
    return time.perf_counter() - begun


def measured(where: str, folder: str) -> dict[str, Any]:
    """Return how long the pages of a log take."""
    with Server((*PROGRAM, where), port=free_port(), folder=Path(folder)) as server:
        server.ready("/assets/icon.svg")
        with httpx.Client(base_url=server.url, timeout=600.0) as http:
            row: dict[str, Any] = {"open_s": round(opened(http), 2)}
            id = http.get("/decisions?name=b").text.partition("&amp;id=")[2].partition('"')[0]
            for name, path in PAGES.items():
                times = [timed(http, path.format(id=id)) for _ in range(TIMES)]
                row[name] = round(float(np.median(times)), 1)
                row[f"{name} max"] = round(max(times), 1)
        server.stop()
    return row


def measure(kind: str, sizes: Sequence[int], lock: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the times of each length of the log, when all logs are filled."""
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        places = dict[int, str]()
        for events in sizes:
            own = Path(folder) / str(events)
            own.mkdir()
            places[events] = address(kind, str(own))
            child = spawn.Process(target=fill, args=(places[events], events))
            child.start()
            child.join()
            print(f"{kind}: {events:,} events", flush=True)
        with quiet(lock):
            for events, where in places.items():
                row = {"store": kind, "events": events, **measured(where, folder)}
                print(row, flush=True)
                yield row


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--events", default=SIZES, help="of each log")
    parser.add_argument("--stores", default="sqlite,postgres")
    parser.add_argument("--lock", type=Path)
    options = parser.parse_args()
    made_by = stamp(f"python benchmarks/dashboard.py --events {options.events}")._asdict()
    for kind in options.stores.split(","):
        for row in measure(kind, [*map(int, options.events.split(","))], options.lock):
            keep(made_by, row)


def keep(made_by: dict[str, Any], row: dict[str, Any]) -> None:
    """Write a row in the place of the one of this store and length."""
    rows = json.loads(RESULTS.read_text("utf-8"))["pages"] if RESULTS.exists() else []
    place = (row["store"], row["events"])
    rows = [each for each in rows if (each["store"], each["events"]) != place]
    rows.append(row | {"made_by": made_by})
    rows.sort(key=lambda each: (-ord(each["store"][0]), each["events"]))
    RESULTS.write_text(json.dumps({"made_by": made_by, "pages": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
