"""giro's simulator against plain NumPy vectorised over runs, in one run.

    python benchmarks/numpy_vectorised.py [--rounds 10000] [--runs 100] [--repeats 3]

The NumPy side plays all runs at once: every round is a handful of array operations on
[run, arm] arrays, the way such simulations are usually written. Times are the best of some
repeats; compiling is not counted. The regret beside them shows that both play the same game.
"""

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from giro import simulate
from giro.seeds import stream

N_ARMS = 10
TITLES = (
    "numpy, s",
    "one thread, s",
    "all threads, s",
    "ratio, one",
    "ratio, all",
    "regret, numpy",
    "regret, giro",
)
Values = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


def ucb1(pulls: np.ndarray, ones: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return upper confidence bounds, [run, arm]."""
    t = pulls[0].sum()
    return ones / pulls + np.sqrt(2 * np.log(t) / pulls)


def thompson(pulls: np.ndarray, ones: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return draws from Beta(1, 1) posteriors, [run, arm]."""
    return rng.beta(1 + ones, 1 + pulls - ones)


def giro(pulls: np.ndarray, ones: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return bootstrap means of histories with a = 1, [run, arm]; sums of 0 and 1 are binomial."""
    m = 3 * pulls
    return rng.binomial(m, (ones + pulls) / m) / m


def play_vectorised(values: Values, *, rounds: int, runs: int, seed: int) -> float:
    """Return the mean regret of `runs` simultaneous runs of a Bernoulli problem."""
    rng = stream(seed)
    means = rng.uniform(0.25, 0.75, (runs, N_ARMS))
    gaps = means.max(axis=1, keepdims=True) - means
    pulls, ones = np.zeros((2, runs, N_ARMS), np.int64)
    every_run = np.arange(runs)
    regret = np.zeros(runs)
    for t in range(rounds):
        arm = np.full(runs, t) if t < N_ARMS else values(pulls, ones, rng).argmax(axis=1)
        pulls[every_run, arm] += 1
        ones[every_run, arm] += rng.random(runs) < means[every_run, arm]
        regret += gaps[every_run, arm]
    return float(regret.mean())


class Timed(NamedTuple):
    """The shortest time of some repeats, and the regret of the last."""

    seconds: float
    regret: float


def best_of(repeats: int, play: Callable[[], float]) -> Timed:
    """Return the shortest time in which `play` was done."""
    seconds, regret = [], 0.0
    for _ in range(repeats):
        began = time.perf_counter()
        regret = play()
        seconds.append(time.perf_counter() - began)
    return Timed(min(seconds), regret)


def compare(policy: str, values: Values, *, rounds: int, runs: int, repeats: int) -> str:
    """Return a line with the times of NumPy, of giro on one thread and on all, and the ratios."""

    def compiled(jobs: int | None) -> float:
        trace = simulate(policy, "bernoulli", rounds=rounds, runs=runs, jobs=jobs)
        return float(trace.regret[:, -1].mean())

    simulate(policy, "bernoulli", rounds=1, runs=1)  # compile
    numpy = best_of(repeats, lambda: play_vectorised(values, rounds=rounds, runs=runs, seed=0))
    one = best_of(repeats, lambda: compiled(1))
    every = best_of(repeats, lambda: compiled(None))
    numbers = (
        f"{numpy.seconds:.2f}",
        f"{one.seconds:.2f}",
        f"{every.seconds:.2f}",
        f"{numpy.seconds / one.seconds:.1f}",
        f"{numpy.seconds / every.seconds:.1f}",
        f"{numpy.regret:.0f}",
        f"{one.regret:.0f}",
    )
    return line(policy, *numbers)


def line(policy: str, *cells: str) -> str:
    """Return cells aligned below the titles."""
    aligned = (f"{cell:>{len(title)}}" for cell, title in zip(cells, TITLES, strict=True))
    return f"{policy:<10}{'   '.join(aligned)}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"bernoulli, {N_ARMS} arms, {options.rounds} rounds, {options.runs} runs; seconds\n")
    print(line("policy", *TITLES))
    for policy, values in (("ucb1", ucb1), ("thompson", thompson), ("giro:a=1", giro)):
        print(compare(policy, values, **vars(options)), flush=True)


if __name__ == "__main__":
    main()
