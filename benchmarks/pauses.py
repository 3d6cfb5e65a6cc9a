"""How long calls of a bandit in memory take that once stopped all others.

    python benchmarks/pauses.py [--rounds 1_000_000]

What a trial of giro 0.1.0 behind a web server measured, and the same now: compiling, saving and
loading, reading the log, probabilities, arrays that are full, arms that come and go. Where other
threads could wait for a call, one of them decides all the time, and its longest decision counts.
Writes results/bandit/pauses.csv; then `python scripts/stores_table.py` writes docs/production.md.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ratio import say

from giro import Bandit
from giro.bandit.event import Decided, Event, Rewarded
from giro.seeds import stream
from giro.tables import write_csv

RESULTS = Path(__file__).parents[1] / "results" / "bandit" / "pauses.csv"
WIDTHS = {"giro": 0, "lin-ucb:scale=0.5": 20, "giro-ensemble": 20}  # numbers of a context
COLD = """
import time
from giro import Bandit
bandit = Bandit(["a", "b", "c"], {policy!r})
begun = time.perf_counter()
bandit.decide({context})
print(time.perf_counter() - begun)
"""
# What 0.1.0 took, as the trial reports it: seconds, except where the name says otherwise.
BEFORE = {
    "first decide, nothing compiled: giro": "19",
    "first decide, nothing compiled: giro-ensemble": "22",
    "first decide, nothing compiled: thompson": "6",
    "save: giro": "16",
    "save: lin-ucb": "30",
    "save: giro-ensemble": "32",
    "events() at 100,000 rounds: giro, 3 arms": "95",
    "decide and its propensity, 1,000 arms: giro-ensemble": "18.8",
    "reward 524,289, when arrays are full: giro-ensemble": "24.5",
    "decide after add_arm: giro": "0.095",
    "decide after add_arm: lin-ucb": "1.4",
    "decide after add_arm: giro-ensemble": "35.8",
    "decide among a new set of arms, mean: giro": "0.074",
    "decide among a new set of arms, mean: lin-ucb": "1.4",
    "decide among a new set of arms, mean: giro-ensemble": "19",
    "load at 100,000 rounds: giro, fractional rewards": "165",
}
found: dict[str, tuple[float, float | None]] = {}


def note(what: str, seconds: float, waited: float | None = None) -> None:
    """Keep a figure: the call's own time, and the longest decision of others meanwhile."""
    found[what] = seconds, waited
    unit = "" if "MB" in what else " s"
    beside = "" if waited is None else f", others waited {waited:.3g} s"
    say(f"{what}: {seconds:.3g}{unit}{beside} (0.1.0: {BEFORE.get(what, '')})")
    records = [
        {
            "what": name,
            "before_s": BEFORE.get(name, ""),
            "now_s": f"{its:.3g}",
            "others_waited_s": "" if longest is None else f"{longest:.3g}",
        }
        for name, (its, longest) in found.items()
    ]
    write_csv(RESULTS, records, note="python benchmarks/pauses.py")


def timed(call: Callable[[], Any]) -> float:
    """Return the seconds that a call takes."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def meanwhile(call: Callable[[], Any], decide: Callable[[], Any]) -> tuple[float, float]:
    """Return the seconds that a call takes, and the longest decision of another thread."""
    took: list[float] = []
    thread = threading.Thread(target=lambda: took.append(timed(call)))
    thread.start()
    longest = 0.0
    while thread.is_alive():
        longest = max(longest, timed(decide))
    thread.join()
    return took[0], longest


def contexts(policy: str) -> Callable[[], Any]:
    """Return what gives contexts that a policy can use."""
    rng, width = stream(2), WIDTHS[policy]
    return (lambda: rng.normal(size=width)) if width else (lambda: None)


def filled(
    bandit: Bandit, rounds: int, context: Callable[[], Any], *, fractional: bool = False
) -> None:
    """Give a bandit rounds, until it has this many rewards."""
    rng, n = stream(1, bandit.n_rewards), len(bandit.arms)
    bandit.decide(context())  # fixes the form
    arms, p = np.arange(n), np.full(n, 1.0 / n)
    while (left := rounds - bandit.n_rewards) > 0:
        group: list[Event] = []
        for _ in range(min(1000, left)):
            id, arm, x = rng.bytes(12).hex(), int(rng.random() * n), context()
            value = rng.random() if fractional else float(rng.random() < 0.5)
            row = np.empty(0) if x is None else x
            group += [Decided(id, 1.0, arm, arms, p, 1.0 / n, 0, row), Rewarded(id, 2.0, value)]
        bandit._append(group)


def cold() -> None:
    """Measure first decisions, with an empty folder for compiled code."""
    for policy, width in (("giro", 0), ("thompson", 0), ("giro-ensemble", 20)):
        with tempfile.TemporaryDirectory() as folder:
            code = COLD.format(policy=policy, context=[0.5] * width or None)
            environment = {**os.environ, "GIRO_CACHE_DIR": folder}
            for name in ("first decide, nothing compiled", "first decide, compiled before"):
                done = subprocess.run(
                    [sys.executable, "-c", code], env=environment, capture_output=True, check=True
                )
                note(f"{name}: {policy}", float(done.stdout))


def grown(policy: str, rounds: int) -> None:
    """Measure a bandit that has many rewards."""
    name, context = policy.partition(":")[0], contexts(policy)
    bandit = Bandit([f"arm {i}" for i in range(10)], policy, seed=1)
    bandit.warm_up(context())
    if name == "giro-ensemble" and rounds > 524_400:
        filled(bandit, 524_200, context)
        ids = [bandit.decide(context()).id for _ in range(200)]
        longest = max(timed(lambda id=id: bandit.reward(id, 1.0)) for id in ids)
        note("reward 524,289, when arrays are full: giro-ensemble", longest)
    filled(bandit, rounds, context)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bandit.giro"
        note(
            f"save: {name}", *meanwhile(lambda: bandit.save(path), lambda: bandit.decide(context()))
        )
        note(f"save, the file's MB: {name}", path.stat().st_size / 1e6)
        note(f"load: {name}", timed(lambda: Bandit.load(path)))
    bandit.add_arm("new")
    note(f"decide after add_arm: {name}", timed(lambda: bandit.decide(context())))
    chosen = stream(3).random((200, 11)) < 0.5
    sets = [[arm for arm, on in zip(bandit.arms, row, strict=True) if on] for row in chosen]
    times = [timed(lambda some=some: bandit.decide(context(), arms=some)) for some in sets if some]
    note(f"decide among a new set of arms, mean: {name}", float(np.mean(times)))
    note(f"decide among a new set of arms, longest: {name}", max(times))


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=1_000_000)
    rounds = parser.parse_args().rounds
    few = min(rounds, 100_000)
    bandit = Bandit(["a", "b", "c"], "giro", seed=1)
    bandit.warm_up()
    bandit.events()  # loads polars
    filled(bandit, few, lambda: None)
    note("events() at 100,000 rounds: giro, 3 arms", *meanwhile(bandit.events, bandit.decide))
    fractional = Bandit(["a", "b", "c"], "giro", seed=1)
    filled(fractional, few, lambda: None, fractional=True)
    with tempfile.TemporaryDirectory() as folder:
        fractional.save(Path(folder) / "x.giro")
        took = timed(lambda: Bandit.load(Path(folder) / "x.giro"))
        note("load at 100,000 rounds: giro, fractional rewards", took)
    for policy, width in (("giro", 0), ("thompson", 0), ("giro-ensemble", 20)):
        many, context = Bandit([f"{i}" for i in range(1000)], policy), [0.5] * width or None
        for i in range(100):
            many.reward(many.decide(context).id, float(i % 2))
        took = float(np.median([timed(lambda: many.decide(context).propensity) for _ in range(20)]))  # noqa: B023
        note(f"decide and its propensity, 1,000 arms: {policy}", took)
    for policy in WIDTHS:
        grown(policy, rounds)
    cold()


if __name__ == "__main__":
    main()
