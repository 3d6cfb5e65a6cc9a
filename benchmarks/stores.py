"""Durable bandits: how fast, how long to open, how much memory.

    python benchmarks/stores.py [--events 10_000_000] [--seconds 3] [--stores sqlite,postgres]
                                [--only throughput appends bytes tails http idle "large log"]

Writes results/bandit/stores.json: decisions with rewards a second, beside plain inserts of the same
rows, taken in turns; the processor time of an append to PostgreSQL and what it is made of; how many
bytes a round takes; how long decisions take while several processes
write, and behind HTTP; what idle bandits cost; and how long calls take when the log is long. Then
`python scripts/tables.py` writes it into docs/production.md. Both databases wait for the disk.
"""

import argparse
import contextlib
import functools
import http.client
import itertools
import json
import multiprocessing
import os
import resource
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from bandit.stores.postgres import new_database, url_or_reason  # noqa: E402  # of the tests

from giro import Bandit  # noqa: E402
from giro.bandit.event import Decided, Event, Rewarded, row_of  # noqa: E402
from giro.bandit.stores import postgres  # noqa: E402
from giro.bandit.stores._appending import CALL, CALL_OF_ONE  # noqa: E402
from giro.bandit.stores._groups import Request, numbered, optimistic_head  # noqa: E402
from giro.seeds import stream  # noqa: E402
from giro.version import stamp  # noqa: E402

RESULTS = ROOT / "results" / "bandit" / "stores.json"
ARMS = [f"arm {i}" for i in range(10)]
POLICY, TURNS = "thompson", 3
ASKED, WORKERS, WIDTH = ("thompson", "default"), (1, 2, 4), 20  # of the default's contexts


def address(kind: str, folder: str) -> str:
    """Return an empty store."""
    if kind == "sqlite":
        return f"sqlite:///{folder}/bench.db"
    url, reason = url_or_reason(fsync=True)
    if url is None:
        raise SystemExit(reason)
    return new_database(url)


# -- throughput ------------------------------------------------------------------------------


def rounds_for(seconds: float, work: Callable[[], None]) -> int:
    """Return how often work can be done in this time."""
    end, n = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        work()
        n += 1
    return n


def in_threads(n: int, seconds: float, make: Callable[[int], Callable[[], None]]) -> float:
    """Return how often n threads together can do their work in a second."""
    done = [0] * n

    def run(i: int) -> None:
        done[i] = rounds_for(seconds, work[i])

    work = [make(i) for i in range(n)]
    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - begun)


def bandit_work(bandit: Bandit) -> Callable[[], None]:
    """Return a round of a bandit."""

    def work() -> None:
        bandit.reward(bandit.decide().id, 1.0)

    return work


def plain_work(kind: str, where: str) -> Callable[[], None]:
    """Return two plain inserts, each committed, of rows as large as those of a round."""
    p = np.full(len(ARMS), 0.1)
    decided = row_of(Decided("0" * 24, 1.0, 1, np.arange(len(ARMS)), p, 0.1, 7))
    rewarded = row_of(Rewarded("0" * 24, 1.0, 1.0))
    make = "CREATE TABLE IF NOT EXISTS plain (kind INT, id TEXT, time FLOAT, value FLOAT, data {})"
    if kind == "sqlite":
        path = where.removeprefix("sqlite:///") + ".plain"
        connection: Any = sqlite3.connect(
            path, isolation_level=None, timeout=60, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(make.format("BLOB"))
        text = "INSERT INTO plain VALUES (?, ?, ?, ?, ?)"
    else:
        import psycopg  # noqa: PLC0415  # an extra

        connection = psycopg.connect(where, autocommit=True)
        connection.execute(make.format("BYTEA"))
        text = "INSERT INTO plain VALUES (%s, %s, %s, %s, %s)"

    def work() -> None:
        connection.execute(text, tuple(decided))
        connection.execute(text, tuple(rewarded))

    return work


class Load(NamedTuple):
    """Work of several processes."""

    processes: int
    threads: int  # of each
    seconds: float


def _process(kind: str, where: str, load: Load, plain: bool, ready: Any, done: Any) -> None:
    if plain:
        works = [plain_work(kind, where) for _ in range(load.threads)]
    else:
        bandit = Bandit(ARMS, POLICY, name="b", store=where)
        works = [bandit_work(bandit)] * load.threads
    works[0]()
    ready.wait()
    done.put(in_threads(load.threads, load.seconds, works.__getitem__))


def in_processes(load: Load, kind: str, where: str, *, plain: bool) -> float:
    """Return how often processes together can do a round in a second."""
    spawn = multiprocessing.get_context("spawn")
    ready, done = spawn.Barrier(load.processes), spawn.Queue()
    children = [
        spawn.Process(target=_process, args=(kind, where, load, plain, ready, done))
        for _ in range(load.processes)
    ]
    for child in children:
        child.start()
    total = sum(done.get() for _ in children)
    for child in children:
        child.join()
    return total


def throughput(kind: str, seconds: float) -> list[dict[str, Any]]:
    """Return rounds a second, the bandit's and plain inserts' in turns; the median counts."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        where = address(kind, folder)
        bandit = Bandit(ARMS, POLICY, name="b", store=where)
        bandit.reward(bandit.decide().id, 1.0)
        for who in (
            "1 thread",
            "4 threads",
            "8 threads",
            "4 processes",
            "4 processes of 8 threads",
        ):
            n, found = int(who[0]), []
            load = Load(n, 8 if who.endswith("8 threads") else 1, seconds)
            for _ in range(TURNS):
                if "process" in who:
                    pair = [in_processes(load, kind, where, plain=plain) for plain in (False, True)]
                else:
                    pair = [
                        in_threads(n, seconds, lambda _: bandit_work(bandit)),
                        plain_in_threads(n, kind, where, seconds),
                    ]
                found.append(pair)
            ours, plain = np.median(found, axis=0)
            rows.append(
                {
                    "store": kind,
                    "from": who,
                    "rounds_per_second": round(ours),
                    "plain_inserts": round(plain),
                    "ratio": round(float(np.median([a / b for a, b in found])), 2),
                }
            )
            print(rows[-1], flush=True)
        bandit.close()
    return rows


def plain_in_threads(n: int, kind: str, where: str, seconds: float) -> float:
    """Return what plain inserts reach, each thread with a connection of its own."""
    done = [0] * n

    def run(i: int) -> None:
        done[i] = rounds_for(seconds, plain_work(kind, where))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / seconds


# -- appends ---------------------------------------------------------------------------------


def appends(kind: str, turns: int = 40, calls: int = 30) -> list[dict[str, Any]]:
    """Return the processor time of an append to PostgreSQL, of client and server, and of its parts.

    By turns of some calls, in the order of parts; the median of turns counts, and the least tenth
    of them, in which little else disturbed the processor's caches.
    """
    if kind != "postgres":
        return []
    where = address(kind, "")
    with Bandit(ARMS, POLICY, name="b", store=where) as bandit:
        number = bandit._store._bandit  # type: ignore[attr-defined]
    p, ids = np.full(len(ARMS), 0.1), itertools.count()
    insert = "INSERT INTO plain VALUES (%s, %s, %s, %s, %s)"

    def request() -> Request:
        event = Decided(f"{next(ids):024}", 1.0, 1, np.arange(len(ARMS)), p, 0.1, 7)
        return Request(number, [event])

    def lists() -> list[Any]:
        group = [request()]
        return [number, *postgres._lists(group, [], numbered(group, optimistic_head(group))), None]

    parts: dict[str, tuple[str, Callable[[], Sequence[Any]]]] = {
        "a query of nothing": ("SELECT 1", list),
        "a plain insert": (insert, lambda: request().rows[0]),
        "a flush": (postgres._FLUSH, list),
        "a decision by itself": (CALL_OF_ONE, lambda: [number, *request().rows[0], None]),
        "a decision as a group": (CALL, lists),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in parts}
    with contextlib.closing(postgres._connect(where)) as connection:
        connection.execute(
            "CREATE TABLE plain (kind INT, id TEXT, time FLOAT, value FLOAT, data BYTEA)"
        )
        ran = Path(f"/proc/{connection.info.backend_pid}/schedstat")
        for name, (text, parameters) in itertools.chain.from_iterable([parts.items()] * turns):
            given = [parameters() for _ in range(calls)]
            server, client = int(ran.read_text().split()[0]), time.thread_time()
            for each in given:
                cursor = connection.execute(text.encode(), each)
                if cursor.description:
                    cursor.fetchall()
            client = time.thread_time() - client
            server = int(ran.read_text().split()[0]) - server
            found[name].append((1e6 * client / calls, 1e-3 * server / calls))
    rows = []
    for name, times in found.items():
        (client, server), least = np.median(times, axis=0), np.quantile(times, 0.1, axis=0)
        row = {"store": kind, "what": name, "client_us": round(client), "server_us": round(server)}
        rows.append(row | {"least_client_us": round(least[0]), "least_server_us": round(least[1])})
        print(rows[-1], flush=True)
    return rows


# -- bytes -----------------------------------------------------------------------------------

ON_OFFER = 20
WORDS = {"topic": 6, "language": 3, "section": 8, "author": 200, "source": 30}
NUMBERS = {"price": 1_000, "age": 100, "length": 3_000, "images": 9, "links": 40}


def articles(rng: np.random.Generator) -> dict[str, Any]:
    """Return arms with ten features each."""
    every = (*WORDS.items(), *NUMBERS.items())
    arms = {}
    for _ in range(ON_OFFER):
        numbers = {name: int(rng.integers(n)) for name, n in every}
        words = {name: f"{name} {numbers[name]}" for name in WORDS}
        arms[f"article {rng.integers(10**6)}"] = numbers | words
    return arms


def play(bandit: Bandit, rounds: int, rng: np.random.Generator) -> None:
    """Play rounds, with features of arms where the bandit has no arms of its own."""
    for _ in range(rounds):
        context = {"country": f"c{rng.integers(30)}", "age": 31, "hour": int(rng.integers(24))}
        is_open = bandit.setting["open_arms"]
        shown = bandit.decide(context, arms=articles(rng)) if is_open else bandit.decide()
        bandit.reward(shown.id, float(rng.random() < 0.3))


def sizes(kind: str) -> list[dict[str, Any]]:
    """Return how many bytes the events of a round take, with their indexes."""
    rows = []
    for policy, arms, rounds in ((POLICY, ARMS, 2_000), ("giro-ensemble:model=hashed", None, 400)):
        with tempfile.TemporaryDirectory() as folder:
            where = address(kind, folder)
            with Bandit(arms, policy, name="b", store=where) as bandit:
                play(bandit, rounds, stream(1))
                events = bandit._store.read(0, 10 * rounds)
            data = [len(row_of(e).data or b"") for e in events if isinstance(e, Decided)]
            parts = _bytes_by_part(kind, where)
            row = {
                "store": kind,
                "policy": policy,
                "arms": len(ARMS) if arms else ON_OFFER,
                "bytes_per_round": round(sum(parts.values()) / rounds),
                "bytes_of_a_decision": round(float(np.mean(data))),
                "parts": {name: round(size / rounds, 1) for name, size in parts.items()},
            }
        rows.append(row)
        print(row, flush=True)
    return rows


def _bytes_by_part(kind: str, where: str) -> dict[str, int]:
    """Return the bytes of the table of events and of each of its indexes, without free room."""
    if kind == "sqlite":
        query = (
            "SELECT name, sum(pgsize) FROM dbstat WHERE name IN"
            " (SELECT name FROM sqlite_schema WHERE tbl_name = 'giro_events') GROUP BY name"
        )
        with contextlib.closing(sqlite3.connect(where.removeprefix("sqlite:///"))) as connection:
            connection.execute("VACUUM")
            return dict(connection.execute(query).fetchall())
    import psycopg  # noqa: PLC0415  # an extra

    query = (
        "SELECT relname, pg_total_relation_size(oid) - pg_indexes_size(oid) FROM pg_class"
        " WHERE relname = 'giro_events' UNION ALL SELECT relname, pg_total_relation_size(oid)"
        " FROM pg_class JOIN pg_index ON indexrelid = oid WHERE indrelid = 'giro_events'::regclass"
    )
    with psycopg.connect(where, autocommit=True) as connection:
        connection.execute("VACUUM FULL giro_events")
        return {name: int(size) for name, size in connection.execute(query).fetchall()}


# -- several processes -----------------------------------------------------------------------


def contexts_for(policy: str) -> list[Any]:
    """Return contexts to decide in, or one that is None."""
    if policy != "default":
        return [None]
    return [row.tolist() for row in stream(2).normal(size=(500, WIDTH))]


def _decide(where: str, policy: str, rounds: int, ready: Any, done: Any) -> None:
    bandit, contexts = Bandit(ARMS, policy, name="b", store=where), contexts_for(policy)
    bandit.warm_up(contexts[0])
    bandit.reward(bandit.decide(contexts[0]).id, 1.0)
    ready.wait()
    times = []
    for i in range(rounds):
        decide, decision = timed(lambda: bandit.decide(contexts[i % len(contexts)]))  # noqa: B023
        reward, _ = timed(functools.partial(bandit.reward, decision.id, 1.0))
        times.append((decide, reward))
    done.put(times)
    bandit.close()


def tails(kind: str, rounds: int = 3_000) -> list[dict[str, Any]]:
    """Return how long decisions and rewards take while several processes write."""
    rows, spawn = [], multiprocessing.get_context("spawn")
    for policy, n in itertools.product(ASKED, WORKERS):
        with tempfile.TemporaryDirectory() as folder:
            where = address(kind, folder)
            ready, done = spawn.Barrier(n + 1), spawn.Queue()
            arguments = (where, policy, rounds // n, ready, done)
            children = [spawn.Process(target=_decide, args=arguments) for _ in range(n)]
            for child in children:
                child.start()
            ready.wait()
            elapsed, answers = timed(lambda: [done.get() for _ in children])  # noqa: B023
            for child in children:
                child.join()
        times = np.concatenate(answers)
        p50, p99, longest = (np.quantile(times, q, axis=0).tolist() for q in (0.5, 0.99, 1.0))
        row = {
            "store": kind,
            "policy": policy,
            "processes": n,
            "rounds_per_second": round(1e3 * len(times) / elapsed),
        }
        for i, call in enumerate(("decide", "reward")):
            row[f"{call}_p50_ms"], row[f"{call}_p99_ms"] = round(p50[i], 2), round(p99[i], 2)
            row[f"{call}_max_ms"] = round(longest[i], 1)
        rows.append(row)
        print(row, flush=True)
    return rows


# -- behind HTTP -----------------------------------------------------------------------------

CLIENTS = 8  # each waits for its answers


class _Socket(http.client.HTTPConnection):
    """A connection to a server on a socket of the file system."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self) -> None:
        """Connect."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def ask(self, path: str, body: object) -> str:
        """Return the answer to a request."""
        self.request("POST", path, json.dumps(body))
        response = self.getresponse()
        answer = response.read().decode()
        if response.status != 200:
            raise SystemExit(f"{path} was answered by {response.status}: {answer}")
        return answer


@contextlib.contextmanager
def served(where: str, policy: str, workers: int, path: str) -> Iterator[None]:
    """Serve a bandit until its workers are not needed any more."""
    command = [sys.executable, "-m", "uvicorn", "web_app:app", "--uds", path]
    command += ["--workers", str(workers), "--log-level", "error", "--no-access-log"]
    environment = {**os.environ, "STORE": where, "POLICY": policy}
    server = subprocess.Popen(command, env=environment, cwd=Path(__file__).parent)
    try:
        yield
    finally:
        server.terminate()
        server.wait()


def behind_http(kind: str, seconds: float) -> list[dict[str, Any]]:
    """Return how long requests to workers of a web app take, one bandit in all of them."""
    rows = []
    for policy, n in itertools.product(ASKED, WORKERS):
        with tempfile.TemporaryDirectory() as folder:
            path, where = f"{folder}/socket", address(kind, folder)
            with served(where, policy, n, path):
                _wait_for(path, contexts_for(policy)[0], n)
                times, elapsed = _asked(path, policy, seconds)
        row = {
            "store": kind,
            "policy": policy,
            "workers": n,
            "requests_per_second": round(2 * len(times) / elapsed),
        }
        for i, call in enumerate(("decide", "reward")):
            for q in (50, 99):
                row[f"{call}_p{q}_ms"] = round(float(np.quantile(times[:, i], q / 100)), 2)
        rows.append(row)
        print(row, flush=True)
    return rows


def _wait_for(path: str, context: object, workers: int) -> None:
    """Wait until workers answer, and ask often enough that each of them has."""
    while True:
        with contextlib.suppress(OSError):
            _Socket(path).ask("/decide", context)
            break
        time.sleep(0.1)
    time.sleep(2.0 * workers)  # the others start at the same time
    for _ in range(20 * workers):
        _Socket(path).ask("/decide", context)


def _asked(path: str, policy: str, seconds: float) -> tuple[np.ndarray, float]:
    """Return milliseconds [round, (decide, reward)] of all clients, and how long they asked."""
    contexts, times = contexts_for(policy), list[tuple[float, float]]()

    def ask(number: int) -> Callable[[], None]:
        server, rounds = _Socket(path), itertools.count(number)

        def work() -> None:
            context = contexts[next(rounds) % len(contexts)]
            decide, id = timed(lambda: server.ask("/decide", context))
            reward, _ = timed(lambda: server.ask("/reward", id))
            times.append((decide, reward))

        return work

    begun = time.perf_counter()
    in_threads(CLIENTS, seconds, ask)
    return np.array(times), time.perf_counter() - begun


# -- many bandits ----------------------------------------------------------------------------


def idle(kind: str, n: int = 1_000, seconds: float = 10.0) -> list[dict[str, Any]]:
    """Return what bandits cost that nobody uses, and how long one of them then takes to decide."""
    with tempfile.TemporaryDirectory() as folder:
        where = address(kind, folder)
        bandits = [Bandit(["a", "b"], POLICY, name=f"{i}", store=where) for i in range(n)]
        for bandit in bandits:
            bandit.decide()
        time.sleep(3.0)
        begun = time.process_time()
        time.sleep(seconds)
        share = (time.process_time() - begun) / seconds
        times = [timed(bandits[i % n].decide)[0] for i in range(400)]
        row = {
            "store": kind,
            "bandits": n,
            "percent_of_a_core": round(100.0 * share, 2),
            "threads": threading.active_count() - 1,
            "decide_p50_ms": round(float(np.quantile(times, 0.5)), 2),
            "decide_p99_ms": round(float(np.quantile(times, 0.99)), 2),
        }
        if kind == "postgres":
            row["connections"] = _connections(where)
        for bandit in bandits:
            bandit.close()
    print(row, flush=True)
    return [row]


def _connections(where: str) -> int:
    import psycopg  # noqa: PLC0415  # an extra

    query = "SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = current_database()"
    with psycopg.connect(where) as connection:
        row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0


# -- long logs -------------------------------------------------------------------------------


def filled(
    bandit: Bandit, events: int, rng: np.random.Generator, *, begin: float = 1.0, step: float = 0.0
) -> None:
    """Append decisions and their rewards until the log has this many events.

    The first is at the time `begin`, and each comes `step` seconds after the one before.
    """
    arms, p = np.arange(len(ARMS)), np.full(len(ARMS), 1.0 / len(ARMS))
    while bandit.position < events:
        group: list[Event] = []
        for _ in range(min(1000, (events - bandit.position + 1) // 2)):
            id, arm = rng.bytes(12).hex(), int(rng.random() * len(ARMS))
            value = float(rng.random() < 0.1 + arm / 20)
            time = begin + step * (bandit.position + len(group))
            group += [Decided(id, time, arm, arms, p, 0.1, 0), Rewarded(id, time + 1.0, value)]
        bandit._follower.append(group)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the milliseconds that a call takes, and what it returns."""
    begun = time.perf_counter()
    found = call()
    return 1e3 * (time.perf_counter() - begun), found


def large_log(kind: str, most: int) -> list[dict[str, Any]]:
    """Return how long calls take as the log grows."""
    rows, rng = [], stream(1)
    with tempfile.TemporaryDirectory() as folder:
        where = address(kind, folder)
        bandit = Bandit(ARMS, POLICY, name="b", store=where)
        bandit.reward(bandit.decide().id, 1.0)
        for events in (n for n in (1_000, 100_000, 1_000_000, 10_000_000) if n <= most):
            filled(bandit, events, rng)
            bandit.close()
            opened, bandit = timed(lambda: Bandit.open(where, "b"))
            times = []
            for _ in range(1_000):
                decide, decision = timed(bandit.decide)
                reward, _ = timed(functools.partial(bandit.reward, decision.id, 1.0))
                times.append((decide, reward))
            p50, p99, longest = (np.quantile(times, q, axis=0).tolist() for q in (0.5, 0.99, 1.0))
            rows.append(
                {
                    "store": kind,
                    "events": events,
                    "open_ms": round(opened),
                    "decide_p50_ms": round(p50[0], 3),
                    "decide_p99_ms": round(p99[0], 3),
                    "decide_max_ms": round(longest[0], 1),
                    "reward_p50_ms": round(p50[1], 3),
                    "reward_p99_ms": round(p99[1], 3),
                    "reward_max_ms": round(longest[1], 1),
                    "most_memory_MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                }
            )
            print(rows[-1], flush=True)
        bandit.close()
    return rows


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--stores", default="sqlite,postgres")
    parser.add_argument("--only", nargs="+", help="take these again, and keep the others")
    options = parser.parse_args()
    command = f"python benchmarks/stores.py --events {options.events} --stores {options.stores}"
    command += f" --seconds {options.seconds:g}"
    content: dict[str, Any] = {"made_by": stamp(command)._asdict()}
    measures: dict[str, Callable[[str], list[dict[str, Any]]]] = {
        "throughput": lambda kind: throughput(kind, options.seconds),
        "appends": appends,
        "bytes": sizes,
        "tails": tails,
        "http": lambda kind: behind_http(kind, options.seconds),
        "idle": idle,
        "large log": lambda kind: large_log(kind, options.events),
    }
    if options.only:
        measures = {name: measures[name] for name in options.only}
        content = json.loads(RESULTS.read_text())
    for name, measure in measures.items():
        if options.only:
            content[f"{name} made by"] = stamp(f'{command} --only "{name}"')._asdict()
        content[name] = [row for kind in options.stores.split(",") for row in measure(kind)]
        RESULTS.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
