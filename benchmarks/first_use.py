"""Time what a first use costs, beside an earlier revision: imports, help, and what is compiled.

    python benchmarks/first_use.py [--revision REVISION] [--repeats N]

Both versions take turns, each time in its own process. `import giro` and `giro --help` find their
bytecode; a bandit's first decision and first reward, with contexts of 20 numbers where the policy
takes any, find an empty cache of kernels. The least processor time of all repeats counts. Prints
seconds, now and then, and their ratio.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bandit_latency import EARLIER, ROOT, earlier

FEATURES = {"thompson": 0, "giro": 0, "giro-ensemble:model=hashed": 20, "default": 20}
STARTS = {
    "import giro": "import giro",
    "giro --help": "import sys; from giro.cli.main import status_of; status_of(['--help'])",
}


def main() -> None:
    """Measure both versions, one thing after the other."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--revision", default=EARLIER)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(*_first_use(arguments.measure))
        return
    with tempfile.TemporaryDirectory() as folder:
        sources = ROOT / "src", earlier(arguments.revision, Path(folder))
        for name, code in STARTS.items():
            times = [[_start(code, each) for each in sources] for _ in range(arguments.repeats + 1)]
            _show(name, *(min(column) for column in zip(*times, strict=True)))
        for policy in FEATURES:
            pairs = [[_cold(policy, each) for each in sources] for _ in range(arguments.repeats)]
            for i, what in enumerate(("decision", "reward")):
                now, then = (min(use[i] for use in column) for column in zip(*pairs, strict=True))
                _show(f"{policy}, first {what}", now, then)


def _show(what: str, now: float, then: float) -> None:
    print(f"{what:<44}{now:>7.2f} s{then:>8.2f} s{now / then:>7.2f}", flush=True)


def _start(code: str, source: Path) -> float:
    """Return the processor time of a process that does nothing else."""
    before = os.times()
    subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(source)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def _cold(policy: str, source: Path) -> list[float]:
    """Return the processor times of a decision and its reward, in a process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, __file__, "--measure", policy],
            env={**os.environ, "PYTHONPATH": str(source), "GIRO_CACHE_DIR": cache},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return [float(seconds) for seconds in done.stdout.split()]


def _first_use(policy: str) -> tuple[float, float]:
    from giro import Bandit  # noqa: PLC0415  # importing is measured elsewhere

    bandit = Bandit(["a", "b", "c"], policy, seed=1)
    features = FEATURES[policy]
    times = [time.process_time()]
    decision = bandit.decide([0.5] * features if features else None)
    times.append(time.process_time())
    bandit.reward(decision.id, 1.0)
    times.append(time.process_time())
    return times[1] - times[0], times[2] - times[1]


if __name__ == "__main__":
    main()
