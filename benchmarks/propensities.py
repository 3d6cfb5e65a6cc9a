"""What a policy's own probabilities cost, by the number of arms, beside giro 0.1.0.

    python benchmarks/propensities.py [--only POLICY ...] [--arms K ...] [--rewards]

Both versions learn the same rewards, half of them of the best arm, each in a process of its own;
the least processor time of some calls counts. Then a decision with rewards 0 and 1 and exact
probabilities is held against one with fractional rewards and tries (geometric resampling), or with
a vote of 100. Writes results/bandit/propensities.csv. With --rewards, prints instead what they cost
by the number of rewards, of arms alike and unlike, less what a call of `uniform` takes.
"""

import argparse
import csv
import functools
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from bandit_latency import EARLIER, ROOT, earlier
from ratio import Ratio

from giro import Policy
from giro.seeds import stream

ARMS = (10, 100, 300, 1_000)
WIDTH = 20
POLICIES = {  # features of a context, rewards
    "giro": (0, 100_000),
    "thompson": (0, 100_000),
    "giro-ensemble": (WIDTH, 20_000),
    "lin-ts": (WIDTH, 20_000),
    "rand-ucb": (WIDTH, 20_000),
    "default": (WIDTH, 20_000),
}
SINCE = ("rand-ucb", "default")  # 0.1.0 has no rand-ucb, and another default
BY_REWARDS = ("ucb1", "thompson", "giro", "phe")
REWARDS = (10, 1_000, 100_000, 1_000_000, 10_000_000)
BAR_MS = {"giro": 10.0, "thompson": 10.0, "giro-ensemble": 10.0}  # with a thousand arms
FRACTIONAL_BAR = 10.0
LIMIT = 1_000  # of tries
SECONDS = 0.3  # of calls to time


def everything(folder: Path, *, quick: bool) -> Iterator[Ratio]:
    """Compare all policies with 0.1.0, and fractional rewards with 0 and 1."""
    arms = ARMS[:1] if quick else ARMS
    found = measured(tuple(POLICIES), arms)
    for (policy, n_arms), (now, before) in found.items():
        what = f"{policy}, K={n_arms}: propensities"
        if before is not None:
            name = f"{what} against 0.1.0's"
            yield Ratio.faster(name, ours=now, theirs=before, bar=1.0, unit="ms")
        if n_arms == ARMS[-1] and policy in BAR_MS:
            name = f"{what} against {BAR_MS[policy]:g} ms"
            yield Ratio.at_most(name, ours=now, theirs=BAR_MS[policy], bar=1.0, unit="ms")
    costs = decisions()
    write(folder.parent, found, costs)
    yield Ratio.at_most(
        "giro, K=10: fractional rewards and tries against 0/1 and propensities",
        ours=costs["fractional, tries"],
        theirs=costs["0/1, propensities"],
        bar=FRACTIONAL_BAR,
        unit="µs per decision",
        note=f"a vote of 100 takes {costs['fractional, vote of 100']:.0f}",
    )


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=POLICIES, default=list(POLICIES))
    parser.add_argument("--arms", nargs="+", type=int, default=list(ARMS))
    parser.add_argument("--rewards", action="store_true")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        _law_of(arguments.measure, 3)()  # compile
        cost = [milliseconds(arguments.measure, n_arms) for n_arms in arguments.arms]
        print(json.dumps(cost))
        return
    if arguments.rewards:
        by_rewards()
        return
    found = measured(tuple(arguments.only), tuple(arguments.arms))
    write(ROOT / "results", found, decisions())


def by_rewards() -> None:
    """Print the microseconds of a call by policy, arms and rewards."""
    print(f"{'policy':<10}{'arms':>5}  {'':<7}" + "".join(f"{n:>12,}" for n in REWARDS))
    for policy, n_arms, alike in itertools.product(BY_REWARDS, (2, 10, 100), (True, False)):
        costs = [_microseconds(policy, n_arms, n, alike) if n >= n_arms else None for n in REWARDS]
        cells = "".join(f"{'' if cost is None else f'{cost:.1f}':>12}" for cost in costs)
        print(f"{policy:<10}{n_arms:>5}  {'alike' if alike else 'unlike':<7}{cells}", flush=True)


def _microseconds(policy: str, n_arms: int, n: int, alike: bool) -> float:
    """Return the time of a call after n rewards, less that of `uniform`."""
    from giro.live import LivePolicy  # noqa: PLC0415  # 0.1.0 has none
    from giro.offer import Shape, offer_of  # noqa: PLC0415

    rng, means = stream(7), np.full(n_arms, 0.4) if alike else np.linspace(0.6, 0.3, n_arms)
    pulls = np.full(n_arms, n // n_arms)
    if not alike:  # about as a bandit pulls, log n / gap² times
        gaps = np.maximum(means[0] - means, 1e-9)
        pulls = np.ceil(np.minimum(pulls, 2.0 * np.log(n) / gaps**2)).astype(int)
    pulls = rng.binomial(2 * pulls, 0.5) + 1
    arms = np.repeat(np.arange(n_arms), pulls)
    arms = np.append(arms, np.zeros(max(0, n - arms.size) if not alike else 0, np.int64))
    rewards, offer = (rng.random(arms.size) < means[arms]).astype(float), offer_of(n_arms)
    calls, none = [], np.empty((arms.size, 0))
    for each in (policy, "uniform"):
        live = LivePolicy(Policy.parse(each), Shape(n_arms, 0, 0, arms.size, arms.size), seed=1)
        live.learn_all(none, none, arms, rewards)
        calls.append(functools.partial(live.propensities, offer))
    ours, empty = (min(timeit.repeat(call, number=20, repeat=20)) * 5e4 for call in calls)
    return ours - empty


def measured(
    policies: tuple[str, ...], arms: tuple[int, ...]
) -> dict[tuple[str, int], tuple[float, float | None]]:
    """Return milliseconds of each policy and number of arms, now and in 0.1.0."""
    found: dict[tuple[str, int], tuple[float, float | None]] = {}
    with tempfile.TemporaryDirectory() as folder:
        before = earlier(EARLIER, Path(folder))
        for policy in policies:
            now = _in_process(policy, arms, ROOT / "src")
            then = [None] * len(arms) if policy in SINCE else _in_process(policy, arms, before)
            for n_arms, ours, theirs in zip(arms, now, then, strict=True):
                found[policy, n_arms] = (ours, theirs)
    return found


def _in_process(policy: str, arms: tuple[int, ...], source: Path) -> list[float]:
    command = [sys.executable, __file__, "--measure", policy, "--arms", *map(str, arms)]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    costs: list[float] = json.loads(done.stdout)
    return costs


def milliseconds(policy: str, n_arms: int) -> float:
    """Return the processor time of a call in the version that is imported."""
    return 1e3 * _least(_law_of(policy, n_arms))


def _least(call: Callable[[], Any]) -> float:
    """Return the least of the times of some calls, or that of one if it takes long."""
    times: list[float] = []
    while len(times) < 3 or (sum(times) < SECONDS and len(times) < 1_000):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
        if times[-1] > 1.0:
            break
    return min(times)


def _law_of(policy: str, n_arms: int) -> Callable[[], Any]:
    """Return a call of the probabilities, after some rewards."""
    width, n = POLICIES[policy]
    rng = stream(5)
    means = 0.2 + 0.5 * rng.random(n_arms)
    arms = np.where(rng.random(n) < 0.5, means.argmax(), (rng.random(n) * n_arms).astype(int))
    arms[:n_arms] = np.arange(n_arms)
    contexts, rewards = rng.random((n, width)), (rng.random(n) < means[arms]).astype(float)
    played = Policy.parse(policy)
    try:
        from giro.live import LivePolicy  # noqa: PLC0415  # 0.1.0 has none
        from giro.offer import Shape, offer_of  # noqa: PLC0415
    except ImportError:
        return _law_in_0_1_0(played, n_arms, contexts, arms, rewards)
    live = LivePolicy(played, Shape(n_arms, width, 0, n, n), seed=1)
    live.learn_all(contexts, np.empty((n, 0)), arms, rewards)
    offer = offer_of(n_arms, contexts[0])
    return lambda: live.propensities(offer)


def _law_in_0_1_0(
    policy: Any, n_arms: int, contexts: np.ndarray, arms: np.ndarray, rewards: np.ndarray
) -> Callable[[], Any]:
    from giro.policy import start  # noqa: PLC0415  # its form of that time

    rng, (n, width) = stream(1), contexts.shape
    state = start(policy, n_arms, width, n, rng)
    _, learn = policy.functions(width)
    for context, arm, reward in zip(contexts, arms.tolist(), rewards.tolist(), strict=True):
        learn(state, context, arm, reward, rng)
    return lambda: policy.propensities(state, contexts[0])


def decisions(n_arms: int = 10, rounds: int = 10_000) -> dict[str, float]:
    """Return the microseconds of a decision of giro with what stands for its probability."""
    ways: dict[str, Callable[..., Any]] = {
        "0/1, propensities": lambda live, offer, arm: live.propensities(offer),
        "fractional, tries": lambda live, offer, arm: live.tries(offer, arm, LIMIT),
        "fractional, vote of 100": lambda live, offer, arm: live.vote(offer, 100),
    }
    played = {each: _played_giro(n_arms, rounds, fractional=each) for each in (False, True)}
    return {
        what: _per_decision(played[what.startswith("fractional")], weigh)
        for what, weigh in ways.items()
    }


def _played_giro(n_arms: int, rounds: int, *, fractional: bool) -> tuple[Any, Any]:
    from giro.live import LivePolicy  # noqa: PLC0415  # 0.1.0 has none
    from giro.offer import Case, Shape, offer_of  # noqa: PLC0415

    shape, rng = Shape(n_arms, 0, 0, rounds, rounds), stream(6)
    live = LivePolicy(Policy.parse("giro"), shape, seed=1)
    offer, means = offer_of(n_arms), 0.2 + 0.5 * rng.random(n_arms)
    for number in range(rounds):
        live.stream_of(number)
        arm, u = live.choose(offer), rng.random()
        reward = means[arm] * 2.0 * u if fractional else float(u < means[arm])
        live.learn(Case(np.empty(0), np.empty(0)), arm, min(reward, 1.0))
    return live, offer


def _per_decision(played: tuple[Any, Any], weigh: Callable[..., Any], n: int = 2_000) -> float:
    """Return the mean processor time, in microseconds, the least of three times n decisions."""
    (live, offer), times = played, []
    weigh(live, offer, live.choose(offer))
    for _ in range(3):
        began = time.process_time()
        for number in range(n):
            live.stream_of(number)
            weigh(live, offer, live.choose(offer))
        times.append(time.process_time() - began)
    return 1e6 * min(times) / n


def write(
    folder: Path,
    found: dict[tuple[str, int], tuple[float, float | None]],
    costs: dict[str, float],
) -> None:
    """Print both tables, and write them into one file."""
    path = folder / "bandit" / "propensities.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("what", "arms", "ms_now", "ms_before"))
        for (policy, n_arms), (now, before) in found.items():
            row = (policy, n_arms, f"{now:.3g}", "" if before is None else f"{before:.3g}")
            rows.writerow(row)
            then = "" if before is None else f"{row[3]:>10} ms in 0.1.0"
            print(f"{row[0]:<16}{row[1]:>6} arms{row[2]:>10} ms{then}")
        for what, cost in costs.items():
            rows.writerow((f"a decision of giro, {what}", 10, f"{cost / 1e3:.3g}", ""))
            print(f"a decision of giro among 10 arms, {what:<24}{cost:>8.1f} µs")


if __name__ == "__main__":
    main()
