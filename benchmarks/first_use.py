"""Time the first decision and reward of a bandit, which compile, beside an earlier revision.

    python benchmarks/first_use.py [--revision REVISION] [--repeats N]

Both versions take turns, each time in its own process with an empty cache; the least processor time
of all repeats counts. Prints seconds, now and then, and their ratio.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bandit_latency import EARLIER, ROOT, earlier

from giro import Bandit

FEATURES = {"thompson": 0, "giro": 0, "lin-ucb": 4, "default": 4}  # of a context, by policy


def main() -> None:
    """Measure both versions, policy by policy."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--revision", default=EARLIER)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(_seconds(arguments.measure))
        return
    with tempfile.TemporaryDirectory() as folder:
        sources = ROOT / "src", earlier(arguments.revision, Path(folder))
        for policy in FEATURES:
            times = [
                [_in_process(policy, each) for each in sources] for _ in range(arguments.repeats)
            ]
            now, before = (min(column) for column in zip(*times, strict=True))
            print(f"{policy:<12}{now:>8.1f} s{before:>8.1f} s{now / before:>7.2f}", flush=True)


def _in_process(policy: str, source: Path) -> float:
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, __file__, "--measure", policy],
            env={**os.environ, "PYTHONPATH": str(source), "GIRO_CACHE_DIR": cache},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return float(done.stdout)


def _seconds(policy: str) -> float:
    """Return the processor time of a decision and its reward."""
    bandit = Bandit(["a", "b", "c"], policy, seed=1)
    began = time.process_time()
    features = FEATURES[policy]
    decision = bandit.decide([0.5] * features if features else None)
    bandit.reward(decision.id, 1.0)
    return time.process_time() - began


if __name__ == "__main__":
    main()
