"""Time the simulator beside that of an earlier revision, in one run.

    python benchmarks/against_revision.py [--revision REVISION] [--repeats N]

Both versions take turns, each time in a process of its own that plays every policy on its problem;
the least processor time of all repeats counts. Kernels are compiled before anything is timed.
Prints nanoseconds a round, now and then, and their ratio.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from bandit_latency import EARLIER, ROOT, earlier

from giro import Policy, Problem
from giro.simulation.play import play_run

PAIRS = (
    ("giro:a=1", "bernoulli", 100_000),
    ("giro:a=1/10", "bernoulli", 100_000),
    ("giro:a=1", "bernoulli:n_arms=1000", 30_000),
    ("giro:a=1", "beta", 10_000),
    ("giro:a=1/10", "beta", 10_000),
    ("thompson", "bernoulli", 100_000),
    ("ucb1", "bernoulli", 100_000),
    ("kl-ucb", "bernoulli", 100_000),
    ("phe", "bernoulli", 100_000),
    ("greedy", "bernoulli", 200_000),
    ("uniform", "bernoulli", 200_000),
    ("epsilon-greedy:epsilon=0.1", "bernoulli", 100_000),
    ("besa", "bernoulli", 20_000),
    ("bootstrap", "bernoulli", 100_000),
    ("bootstrap-thompson", "bernoulli", 100_000),
    ("weighted-bootstrap", "bernoulli", 100_000),
    ("online-bootstrap:replicas=100", "bernoulli", 50_000),
    ("ensemble", "bernoulli", 50_000),
    ("lin-ucb:scale=1", "linear", 10_000),
    ("lin-ts:scale=1", "linear", 10_000),
    ("giro-ensemble", "linear", 5_000),
    ("epsilon-greedy:epsilon=0.1,model=linear", "linear", 10_000),
    ("contextual-giro", "linear:n_arms=3,dimension=4", 1_500),
    ("contextual-giro:model=logistic", "linear:n_arms=3,dimension=4", 400),
    ("lin-ucb:scale=1", "classification:data=covertype", 3_000),
)


def main() -> None:
    """Measure both versions and write down the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--revision", default=EARLIER)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps([_nanoseconds(*pair) for pair in PAIRS]))
        return
    with tempfile.TemporaryDirectory() as folder:
        sources = {"now": ROOT / "src", "before": earlier(arguments.revision, Path(folder))}
        found: dict[str, list[list[float]]] = {"now": [], "before": []}
        for _ in range(arguments.repeats):
            for version, source in sources.items():
                found[version].append(_in_process(source))
    least = {version: np.min(times, axis=0) for version, times in found.items()}
    _show(least["now"], least["before"])


def _in_process(source: Path) -> list[float]:
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, __file__, "--measure"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    times: list[float] = json.loads(done.stdout)
    return times


def _nanoseconds(policy: str, problem: str, rounds: int) -> float:
    """Return the processor time of a round."""
    played = Policy.parse(policy), Problem.parse(problem)
    play_run(*played, np.array([10]), seed=1, run=0)
    times = []
    for run in range(4):
        began = time.process_time()
        play_run(*played, np.array([rounds]), seed=1, run=run % 2)
        times.append(time.process_time() - began)
    return 1e9 * min(times) / rounds


def _show(now: np.ndarray, before: np.ndarray) -> None:
    for (policy, problem, _), ours, theirs in zip(PAIRS, now, before, strict=True):
        print(f"{policy:<42}{problem:<32}{ours:>9.0f}{theirs:>9.0f}{ours / theirs:>7.2f}")
    ratios = now / before
    print(f"geometric mean {np.exp(np.log(ratios).mean()):.2f}, worst {ratios.max():.2f}")


if __name__ == "__main__":
    main()
