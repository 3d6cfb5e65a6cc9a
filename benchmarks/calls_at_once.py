"""Calls that do much at once: many decisions, rankings, slow fits beside decisions, forks.

`benchmarks/bandit_costs.py --only many ranks beside forks` measures these, and writes them.
"""

import functools
import itertools
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from ratio import Ratio, say

from giro import Bandit
from giro.policies import EpsilonGreedy
from giro.seeds import stream

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from bandit.stores.postgres import new_database, url_or_reason  # of the tests

MANY, TURNS = 1_000, 5  # contexts at once
MANY_BAR, RANK_BAR = 0.2, 3.0
KNOWN = {  # a policy, and how many numbers are known of each round
    "`thompson`": ("thompson", 0),
    "`giro`": ("giro", 0),
    "`lin-ucb`, 20 numbers": ("lin-ucb", 20),
    "`default`, 20 numbers": ("default", 20),
}
RANKED = {
    "`thompson`": ("thompson", 0),
    "`giro`": ("giro", 0),
    "`giro-ensemble:model=hashed`, 4 features an arm": ("giro-ensemble:model=hashed", 4),
    "`default`, 4 features an arm": ("default", 4),
}
SLOTS, ON_OFFER = 10, 1_000
FORKS, PATIENCE = 40, 20.0  # seconds until a child counts as stuck


def stores(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield memory and the stores there are, each with the arguments of a bandit there."""
    yield "memory", {}
    yield "sqlite", {"name": "b", "store": f"sqlite:///{folder}/{time.monotonic_ns()}.db"}
    url, reason = url_or_reason(fsync=True)
    if url is None:
        say(f"  without PostgreSQL: {reason}")
    else:
        yield "postgres", {"name": "b", "store": new_database(url)}


def arms(n: int) -> list[str]:
    """Return names of arms."""
    return [f"arm {i}" for i in range(n)]


def taught(bandit: Bandit, contexts: Any, rounds: int = 500) -> Bandit:
    """Return a bandit after some rounds."""
    rng = stream(1, 5)
    for i in range(rounds):
        decision = bandit.decide(None if contexts is None else contexts[i % len(contexts)])
        bandit.reward(decision.id, float(rng.random() < 0.5))
    return bandit


def in_turn(calls: dict[str, Callable[[], Any]], clock: Callable[[], float]) -> dict[str, float]:
    """Return the median seconds of each call, made in turn."""
    took: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(TURNS):
        for name, call in calls.items():
            begun = clock()
            call()
            took[name].append(clock() - begun)
    return {name: statistics.median(times) for name, times in took.items()}


def many(quick: bool) -> list[dict[str, Any]]:
    """Return what a decision costs alone, and among many of one call.

    In memory in processor time of the thread that asks, in stores in time that passes.
    """
    n, rows = 50 if quick else MANY, []
    for what, (policy, numbers) in KNOWN.items():
        with tempfile.TemporaryDirectory() as folder:
            for store, where in stores(folder):
                say(f"  many decisions of {what} in {store}")
                contexts = stream(1, 4).normal(size=(n, numbers)) if numbers else None
                with Bandit(arms(10), policy, seed=1, **where) as bandit:
                    taught(bandit, contexts)
                    given = [None] * n if contexts is None else list(contexts)
                    calls = {
                        "alone": functools.partial(_each, bandit, given),
                        "together": functools.partial(bandit.decide_many, given),
                    }
                    clock = time.thread_time if store == "memory" else time.perf_counter
                    took = in_turn(calls, clock)
                us = {f"{name}_us": round(1e6 * s / n, 2) for name, s in took.items()}
                share = round(us["together_us"] / us["alone_us"], 3)
                rows.append({"what": what, "store": store, "contexts": n, **us, "share": share})
    return rows


def _each(bandit: Bandit, contexts: list[Any]) -> None:
    for context in contexts:
        bandit.decide(context)


def many_bars(rows: list[dict[str, Any]]) -> Iterator[Ratio]:
    """Yield a decision among many against one alone."""
    for row in rows:
        name = (
            f"{row['what']}, {row['store']}: a decision among {row['contexts']} against one alone"
        )
        ours, theirs = row["together_us"], row["alone_us"]
        yield Ratio.at_most(name, ours=ours, theirs=theirs, bar=MANY_BAR, unit="µs")


def ranks(quick: bool) -> list[dict[str, Any]]:
    """Return what a ranking of ten slots costs, beside a decision among the same arms."""
    n, rows = 50 if quick else ON_OFFER, []
    for what, (policy, features) in RANKED.items():
        say(f"  rankings of {what}")
        rng = stream(1, 6)
        offer = {a: {f"x{j}": float(rng.random()) for j in range(features)} for a in arms(n)}
        bandit = Bandit(None if features else arms(n), policy, seed=1)
        given: Any = offer if features else None
        for i in range(200):
            decision = bandit.decide({"hour": float(i % 24)} if features else None, arms=given)
            bandit.reward(decision.id, float(rng.random() < 0.3))
        known = {"hour": 3.0} if features else None
        calls = {
            "one": lambda bandit=bandit, k=known, g=given: bandit.decide(k, arms=g),
            "ten": lambda bandit=bandit, k=known, g=given: bandit.rank(k, arms=g, slots=SLOTS),
        }
        for call in calls.values():
            call()
        ms = {
            f"{name}_ms": round(1e3 * s, 3) for name, s in in_turn(calls, time.thread_time).items()
        }
        times = round(ms["ten_ms"] / ms["one_ms"], 2)
        rows.append({"what": what, "arms": n, "slots": SLOTS, **ms, "times": times})
    return rows


def rank_bars(rows: list[dict[str, Any]]) -> Iterator[Ratio]:
    """Yield a ranking against one decision."""
    for row in rows:
        name = (
            f"{row['what']}: {row['slots']} slots among {row['arms']:,} arms against one decision"
        )
        ours, theirs = row["ten_ms"], row["one_ms"]
        yield Ratio.at_most(name, ours=ours, theirs=theirs, bar=RANK_BAR, unit="ms")


# -- fits beside decisions ---------------------------------------------------------------------


def beside(quick: bool) -> list[dict[str, Any]]:
    """Return how long rewards take that fit an estimator, and decisions meanwhile."""
    from sklearn.ensemble import RandomForestRegressor  # noqa: PLC0415  # an extra

    rows, rounds, seconds = [], 20, 0.5 if quick else 4.0
    with tempfile.TemporaryDirectory() as folder:
        for store, where in stores(folder):
            say(f"  decisions in {store} while a forest is fitted")
            forest = RandomForestRegressor(n_estimators=50, random_state=0)
            contexts = stream(1, 7).normal(size=(rounds, 5))
            with Bandit(
                arms(2), EpsilonGreedy(epsilon=0.1, model=forest), seed=1, **where
            ) as bandit:
                decisions = bandit.decide_many(contexts)
                bandit.reward_many([(d.id, float(i % 2)) for i, d in enumerate(decisions)])
                fits, waits = _beside(bandit, contexts, seconds)
            rows.append(
                {
                    "store": store,
                    "rewards": len(fits),
                    "reward_p50_ms": round(1e3 * statistics.median(fits), 1),
                    "decisions": len(waits),
                    "decide_p50_ms": round(1e3 * statistics.median(waits), 2),
                    "decide_p99_ms": round(1e3 * float(np.quantile(waits, 0.99)), 2),
                }
            )
    return rows


def _beside(bandit: Bandit, contexts: Any, seconds: float) -> tuple[list[float], list[float]]:
    """Return the seconds of rewards in this thread, and of decisions in another."""
    stop, fits, waits = threading.Event(), list[float](), list[float]()

    def decide() -> None:
        for i in itertools.cycle(range(len(contexts))):
            begun = time.perf_counter()
            bandit.decide(contexts[i])
            waits.append(time.perf_counter() - begun)
            if stop.wait(0.002):
                return

    thread = threading.Thread(target=decide)
    end = time.perf_counter() + seconds
    thread.start()
    while time.perf_counter() < end or not fits:
        decision = bandit.decide(contexts[0])
        begun = time.perf_counter()
        bandit.reward(decision.id, 1.0)
        fits.append(time.perf_counter() - begun)
    stop.set()
    thread.join()
    return fits, waits


# -- forks -------------------------------------------------------------------------------------


def forks(quick: bool) -> list[dict[str, Any]]:
    """Return how children fare that are forked while other threads decide, reward and read."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for store, where in stores(folder):
            say(f"  forks beside threads that use {store}")
            with Bandit(arms(3), "thompson", **where) as bandit:
                bandit.reward(bandit.decide().id, 1.0)
                stop = threading.Event()
                threads = [
                    threading.Thread(target=_until, args=(stop, work))
                    for work in (functools.partial(_round, bandit), bandit.events)
                ]
                for thread in threads:
                    thread.start()
                n = 3 if quick else FORKS
                took = [_forked(bandit) for _ in range(n)]
                stop.set()
                for thread in threads:
                    thread.join()
            known = [seconds for seconds in took if seconds is not None]
            row = {"store": store, "forks": n, "stuck_or_failed": n - len(known)}
            rows.append(row | {"longest_child_s": round(max(known, default=0.0), 2)})
    return rows


def _until(stop: threading.Event, work: Callable[[], Any]) -> None:
    while not stop.is_set():
        work()


def _round(bandit: Bandit) -> None:
    bandit.reward(bandit.decide().id, 1.0)


def _forked(bandit: Bandit) -> float | None:
    """Return the seconds until a child has played a round and ended, None if it did not."""
    begun = time.perf_counter()
    child = os.fork()
    if child == 0:
        try:
            _round(bandit)
            os._exit(0)
        finally:
            os._exit(1)
    while time.perf_counter() < begun + PATIENCE:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return time.perf_counter() - begun if status == 0 else None
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
