"""What calls of a bandit in memory cost, beside river's `UCB` in the same process.

    python benchmarks/bandit_costs.py [--rounds 100000] [--only calls steady first_use many ...]
                                       [--quick]

A round is a decision and its reward, with propensities on. The arms are equally good, which costs
most, or *apart*: each of ten pays in 8 of 100 rounds more. Every call is timed: medians,
the 99th percentile, the longest, and medians of the first and the last tenth of all rounds, which
tell whether a long past costs more. Policies without contexts take turns with river, block by
block. Then: memory, the longest calls of the default over a million rounds in processor time, calls
that copy or learn much while another thread decides, and the processor time of the first calls in a
process for which nothing is compiled. Then what is done at once (`calls_at_once.py`): *many*
decisions in one call, *ranks* of ten slots, fits *beside* decisions, and *forks*.

Writes results/bandit/costs.json; --only takes some parts again and keeps the others, --quick plays
little and writes to .benchmarks/quick. `make bench` holds these numbers against their bars.
"""

import argparse
import ctypes
import functools
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import calls_at_once
import numpy as np
from python_libraries import RIVER, Trouble, environment
from ratio import Ratio, results, say

from giro import Bandit, Policy
from giro.features import Schema
from giro.features.columns import Columns, Feature
from giro.live import LivePolicy
from giro.offer import NO_CONTEXT, NO_FEATURES, Case, Offer
from giro.seeds import stream
from giro.version import stamp

ROUNDS, QUICK_ROUNDS, BLOCK = 100_000, 2_000, 1_000
WARM = 50  # rounds that compile, and fill arrays for the first time
ENOUGH = 10_000  # rounds to see the memory of one
SEED = 1
UNIT = "µs, median"
Call = Callable[[], Any]


class Entrant(NamedTuple):
    """A bandit to be timed, with its bars."""

    policy: str
    arms: int = 10
    numbers: int = 0  # of a context
    features: int = 0  # of each arm, half of them words
    fractional: bool = False  # rewards between 0 and 1
    apart: bool = False  # some arms are better
    share: int = 1  # of all rounds, one in so many is played: these take longer
    times_river: float = 0.0  # bar for a round; 0 where there is none
    microseconds: float = 0.0  # bar for a round


ENTRANTS = {
    "`ucb1`": Entrant("ucb1", times_river=3.0),
    "`thompson`": Entrant("thompson", times_river=5.0),
    "`giro`": Entrant("giro", times_river=5.0),
    "`giro`, arms apart": Entrant("giro", apart=True, times_river=5.0),
    "`giro`, rewards in [0, 1]": Entrant("giro", fractional=True, share=5),
    "`thompson`, 1,000 arms": Entrant("thompson", arms=1_000, share=20),
    "`giro`, 1,000 arms": Entrant("giro", arms=1_000, share=20),
    "`default`, 20 numbers": Entrant("default", numbers=20, microseconds=100.0),
    "`default`, 50 numbers": Entrant("default", numbers=50, share=2, microseconds=300.0),
    "`default`, 200 numbers": Entrant("default", numbers=200, share=10, microseconds=1_000.0),
    "`giro-ensemble:model=hashed`, 20 arms of 10 features": Entrant(
        "giro-ensemble:model=hashed", arms=20, features=10, share=2, microseconds=150.0
    ),
}
STEADY = {  # arms of the default, played for long
    "`default`, 20 numbers, 10 arms": 10,
    "`default`, 20 numbers, 2 arms": 2,
}
STEADY_ROUNDS, STEADY_BAR = 1_000_000, 20.0  # ms of processor time
AT_ONCE = {
    "many": (calls_at_once.many, calls_at_once.many_bars),
    "ranks": (calls_at_once.ranks, calls_at_once.rank_bars),
    "beside": (calls_at_once.beside, None),
    "forks": (calls_at_once.forks, None),
}
PARTS = ("calls", "first_use", "steady", *AT_ONCE)
REWARD_BAR = 15.0  # µs, of policies without a model
COPIED = ("`giro`", "`default`, 20 numbers")  # whose long calls are timed
COLD = {  # a bandit, and how it is asked first
    "`giro`": ("['a', 'b'], 'giro'", ""),
    "`thompson`": ("['a', 'b'], 'thompson'", ""),
    "`default`, 20 numbers": ("['a', 'b']", "[0.5] * 20"),
    "`giro-ensemble:model=hashed`": (
        "policy='giro-ensemble:model=hashed'",
        "arms={'a': {'word': 'x'}, 'b': {'word': 'y'}}",
    ),
}
FIRST_CALLS = """
import time
def passed(begun=[0.0]):
    now, before = time.process_time(), begun[0]
    begun[0] = now
    return now - before
passed()
import giro
print(passed())
bandit = giro.Bandit({made})
passed()
decision = bandit.decide({asked})
print(passed())
bandit.reward(decision.id, 1.0)
print(passed())
"""


def everything(
    *, quick: bool, rounds: int = ROUNDS, only: Sequence[str] = PARTS
) -> Iterator[Ratio]:
    """Measure and write everything, or some parts; yield what has a bar."""
    rounds = QUICK_ROUNDS if quick else rounds
    path = results(quick) / "bandit" / "costs.json"
    content: dict[str, Any] = {}
    if set(only) < set(PARTS):
        content = json.loads(path.read_text("utf-8"))
    command = f"python benchmarks/bandit_costs.py --rounds {rounds} --only {' '.join(only)}"
    content["made_by"] = content.get("made_by") or stamp(command)._asdict()
    for part in PARTS:
        if part in only:
            content[f"{part}_made_by"] = stamp(command)._asdict()
            yield from MEASURES[part](content, rounds, quick)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


def all_calls(content: dict[str, Any], rounds: int, quick: bool) -> Iterator[Ratio]:
    """Measure calls and pauses."""
    calls, pauses = [], []
    try:
        river = rivers()
    except Trouble as trouble:
        say(f"  without river: {trouble}")
        river = None
    for what, entrant in ENTRANTS.items():
        say(f"  {what}")
        beside = river if entrant.times_river else None
        call, slow = measured(what, entrant, rounds // entrant.share, beside)
        calls.append(call)
        pauses += slow
        yield from held(what, entrant, call)
    content |= {"calls": calls, "pauses": pauses}


def all_first_calls(content: dict[str, Any], rounds: int, quick: bool) -> Iterator[Ratio]:
    """Measure first calls, which have no bar."""
    whats = list(COLD)[: 1 if quick else None]
    content["first_use"] = [first_calls(what, *COLD[what]) for what in whats]
    yield from ()


def all_long_lives(content: dict[str, Any], rounds: int, quick: bool) -> Iterator[Ratio]:
    """Measure the longest calls of long lives."""
    rounds = rounds if quick else STEADY_ROUNDS
    content["steady"] = [long_lived(what, n, rounds) for what, n in STEADY.items()]
    for line in content["steady"]:
        longest = max(line["longest_decide_ms"], line["longest_reward_ms"])
        name = (
            f"{line['what']}: longest call in {line['rounds']:,} rounds against {STEADY_BAR:g} ms"
        )
        unit = "ms of processor time"
        yield Ratio.at_most(name, ours=longest, theirs=STEADY_BAR, bar=1.0, unit=unit)


def all_at_once(part: str, content: dict[str, Any], rounds: int, quick: bool) -> Iterator[Ratio]:
    """Measure a part of calls that do much at once."""
    measure, bars = AT_ONCE[part]
    content[part] = measure(quick)
    if bars is not None:
        yield from bars(content[part])


MEASURES: dict[str, Callable[[dict[str, Any], int, bool], Iterator[Ratio]]] = {
    "calls": all_calls,
    "first_use": all_first_calls,
    "steady": all_long_lives,
    **{part: functools.partial(all_at_once, part) for part in AT_ONCE},
}


def measured(
    what: str, entrant: Entrant, rounds: int, river: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what rounds of a new bandit take, and its long calls after them."""
    names = [f"arm {i}" for i in range(entrant.arms)]
    bandit = Bandit(None if entrant.features else names, entrant.policy, seed=SEED)
    seconds, theirs, used = played(bandit, entrant, rounds, river)
    memory = used if rounds >= ENOUGH and used > 0 else None  # the system may take some back
    call = {"what": what, **summary(seconds), "bytes_per_round": memory, "river_p50": theirs}
    return call, list(long_calls(what, bandit, entrant)) if what in COPIED else []


def rivers() -> Callable[[], tuple[Call, Callable[[Any, float], Any]]]:
    """Return what makes a new `UCB` of river, imported here from its own environment.

    Its packages come last on the path, so that both libraries run on our NumPy.
    """
    python = environment(RIVER)
    sys.path.append(str(next(python.parents[1].glob("lib/python*/site-packages"))))
    from river.bandit import UCB  # noqa: PLC0415  # only there

    def new() -> tuple[Call, Callable[[Any, float], Any]]:
        policy, arms = UCB(delta=1), list(range(10))
        return lambda: policy.pull(arms), policy.update

    return new


def played(
    bandit: Bandit, entrant: Entrant, rounds: int, river: Any
) -> tuple[np.ndarray, float | None, int]:
    """Return seconds [round, (decide, reward)], river's median round in µs, and bytes a round."""
    asks = [functools.partial(ask, bandit) for ask in requests(entrant)]
    draw = stream(SEED, 1).random(rounds)
    rewards = draw if entrant.fractional or entrant.apart else (draw < 0.5).astype(float)
    means = {f"arm {i}": 0.1 + 0.08 * i for i in range(entrant.arms)}
    ours, theirs, used = np.empty((rounds, 2)), np.empty((rounds, 2)), 0
    for i in range(WARM):
        bandit.reward(asks[i % len(asks)]().id, float(i % 2))
    pull, update = river() if river else (None, None)

    def reward(made: Any, value: float) -> None:
        bandit.reward(made.id, float(value < means[made.arm]) if entrant.apart else value)

    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # or room that others left would be used first
    for begin in range(0, rounds, BLOCK):
        block, before = slice(begin, min(begin + BLOCK, rounds)), resident()
        timed(asks, reward, rewards[block], ours[block])
        used += resident() - before
        if river:
            timed([pull], update, rewards[block], theirs[block])
    median = round(1e6 * float(np.median(theirs.sum(axis=1))), 2) if river else None
    return ours, median, used // rounds


def timed(
    asks: list[Call], reward: Callable[[Any, float], Any], values: np.ndarray, out: np.ndarray
) -> None:
    """Write the seconds of each decision and reward; the calls that decide are taken in turn."""
    clock = time.perf_counter
    for i, value in enumerate(values.tolist()):
        ask = asks[i % len(asks)]
        begun = clock()
        made = ask()
        between = clock()
        reward(made, value)
        out[i] = between - begun, clock() - between


def requests(entrant: Entrant) -> list[Callable[[Bandit], Any]]:
    """Return calls of `decide`, each with a context or features of its own."""
    rng = stream(SEED, 2)
    if entrant.features:
        return [functools.partial(Bandit.decide, arms=offer(entrant, rng)) for _ in range(200)]
    if entrant.numbers:
        contexts = rng.normal(size=(2_000, entrant.numbers))
        return [functools.partial(Bandit.decide, context=row) for row in contexts]
    return [Bandit.decide]


def offer(entrant: Entrant, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
    """Return arms, half of whose features are words."""
    half = entrant.features // 2
    return {
        f"arm {i}": {f"number {j}": float(rng.random()) for j in range(half)}
        | {f"word {j}": f"w{rng.integers(100)}" for j in range(half)}
        for i in range(entrant.arms)
    }


def summary(seconds: np.ndarray) -> dict[str, float | int]:
    """Return microseconds: medians, percentiles, the longest, and how they change."""
    us, tenth = 1e6 * seconds, max(1, len(seconds) // 10)
    columns = {"decide": us[:, 0], "reward": us[:, 1], "both": us.sum(axis=1)}
    found = {
        f"{name}_p{q}": float(np.quantile(column, q / 100))
        for name, column in columns.items()
        for q in (50, 99)
    }
    found["first_p50"] = float(np.median(columns["both"][:tenth]))
    found["last_p50"] = float(np.median(columns["both"][-tenth:]))
    found["longest_decide"], found["longest_reward"] = us.max(axis=0).tolist()
    return {name: round(value, 2) for name, value in found.items()} | {"rounds": len(seconds)}


def held(what: str, entrant: Entrant, call: dict[str, Any]) -> Iterator[Ratio]:
    """Yield a round against its bar, and a reward without a model against its own."""
    ours, river, limit = call["both_p50"], call["river_p50"], entrant.microseconds
    if river:
        name, bar = f"{what}: a round of Bandit against river's UCB", entrant.times_river
        yield Ratio.at_most(name, ours=ours, theirs=river, bar=bar, unit=UNIT)
    if limit:
        name = f"{what}: a round of Bandit against {limit:g} µs"
        yield Ratio.at_most(name, ours=ours, theirs=limit, bar=1.0, unit=UNIT)
    else:
        name, ours = f"{what}: a reward against {REWARD_BAR:g} µs", call["reward_p50"]
        yield Ratio.at_most(name, ours=ours, theirs=REWARD_BAR, bar=1.0, unit=UNIT)


def resident() -> int:
    """Return the memory of this process now, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


# -- calls that take long --------------------------------------------------------------------------


def long_calls(what: str, bandit: Bandit, entrant: Entrant) -> Iterator[dict[str, Any]]:
    """Yield how long calls take that copy or learn much, and how long another thread waits."""
    decide = functools.partial(requests(entrant)[0], bandit)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bandit.giro"
        calls: dict[str, Call] = {
            "`events`": bandit.events,
            "`save`": lambda: bandit.save(path),
            "`load`": lambda: Bandit.load(path),
            "`add_arm` and a decision": lambda: (bandit.add_arm("new"), decide()),
            "a decision among some arms": lambda: decide(arms=["arm 1", "arm 3", "new"]),
        }
        for name, call in calls.items():
            if name != "`add_arm` and a decision":
                call()  # compiles and imports
            took, waited = meanwhile(call, decide)
            n = f"{bandit.n_rewards:,}"
            numbers = {"ms": round(1e3 * took, 3), "others_ms": round(1e3 * waited, 3)}
            yield {"what": f"{name}, {what}, after {n} rewards", **numbers}


def meanwhile(call: Call, decide: Call) -> tuple[float, float]:
    """Return the seconds that a call takes, and the longest decision of another thread."""
    took: list[float] = []
    thread = threading.Thread(target=lambda: took.append(seconds_of(call)))
    longest = seconds_of(decide)
    thread.start()
    while thread.is_alive():
        longest = max(longest, seconds_of(decide))
    return took[0], longest


def long_lived(what: str, arms: int, rounds: int) -> dict[str, Any]:
    """Return the longest decisions and rewards of a policy that plays for long, and its memory.

    It plays without a log, which would need more memory than the policy, and in processor time,
    because in so many calls some are interrupted by other programs.
    """
    say(f"  {rounds:,} rounds of {what}")
    columns = Columns(0, tuple(Feature(f"x{j}", "number") for j in range(20)), "a row of numbers")
    schema, rng = Schema(columns, contextual=True), stream(SEED, 3)
    live = LivePolicy(Policy.parse("default"), schema, n_arms=arms, seed=SEED)
    contexts, pays = rng.normal(size=(2_000, 20)), rng.normal(size=(arms, 20)) / 4
    draws, took, begun = rng.random(WARM + rounds), np.empty((rounds, 2)), 0
    for i in range(-WARM, rounds):
        if i == 0:
            begun = resident()
        offer = Offer(np.arange(arms), contexts[i % 2_000], NO_FEATURES)
        first = time.thread_time()
        drawn = live.draw(offer, i + WARM)
        second = time.thread_time()
        arm = drawn.position if drawn else 0
        reward = float(draws[i + WARM] < 1.0 / (1.0 + np.exp(-pays[arm] @ offer.context)))
        third = time.thread_time()
        live.learn(Case(offer.context, NO_CONTEXT), arm, reward)
        if i >= 0:
            took[i] = second - first, time.thread_time() - third
    ms = 1e3 * took
    return {
        "what": what,
        "rounds": rounds,
        "decide_p99_ms": round(float(np.quantile(ms[:, 0], 0.99)), 3),
        "longest_decide_ms": round(float(ms[:, 0].max()), 2),
        "reward_p99_ms": round(float(np.quantile(ms[:, 1], 0.99)), 3),
        "longest_reward_ms": round(float(ms[:, 1].max()), 2),
        "megabytes": round((resident() - begun) / 1e6, 1),
    }


def seconds_of(call: Call) -> float:
    """Return the seconds that a call takes."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def first_calls(what: str, made: str, asked: str) -> dict[str, Any]:
    """Return the processor time of the first calls, with an empty folder for compiled code."""
    say(f"  first calls of {what}")
    code = FIRST_CALLS.format(made=made, asked=asked)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "GIRO_CACHE_DIR": folder},
            capture_output=True,
            text=True,
            check=True,
        )
    names = ("import_s", "decide_s", "reward_s")
    times = (round(float(line), 2) for line in done.stdout.split())
    return {"what": what, **dict(zip(names, times, strict=True))}


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    for ratio in everything(quick=options.quick, rounds=options.rounds, only=options.only):
        print(f"{ratio.ratio:6.2f} {ratio.bar:<6} {ratio.verdict:<12} {ratio.name}", flush=True)
    content = json.loads((results(options.quick) / "bandit" / "costs.json").read_text("utf-8"))
    for part in ("calls", "pauses", "first_use", "steady", *AT_ONCE):
        for line in content.get(part, ()):
            print(", ".join(f"{key} {value}" for key, value in line.items()))


if __name__ == "__main__":
    main()
