"""How often 95 % intervals of `giro.evaluate` cover a truth that is known.

    python benchmarks/coverage.py [--logs 600]

The logs are those of tests/evaluation/known_log.py with seed 0: three arms in four contexts, with
200 events and large weights, and with 400 events and small ones. Prints the share of intervals that
cover the truth, and writes results/evaluation/coverage.csv.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from evaluation.known_log import HEAVY, LOGGING, TRUTH, contextual_log, target  # noqa: E402

from giro import evaluate  # noqa: E402
from giro.tables import write_csv  # noqa: E402
from giro.version import stamp  # noqa: E402

LOGS = {"large weights": (200, HEAVY), "small weights": (400, LOGGING)}


def covered(kind: str, interval: Any, logs: int) -> dict[str, object]:
    """Return the share of intervals of each estimator that cover the truth."""
    events, logging = LOGS[kind]
    found: dict[str, list[bool]] = {}
    effective = []
    for number in range(logs):
        log = contextual_log(0, number, events=events, logging=logging)
        for row in evaluate(log, target, interval=interval).rows:
            found.setdefault(row.estimator, []).append(row.low <= TRUTH <= row.high)
        effective.append(row.effective)
    shares = {name: float(np.mean(several)) for name, several in found.items()}
    sizes = {"events": events, "effective": float(np.mean(effective)), "logs": logs}
    return {"weights": kind, "interval": interval, **sizes, **shares}


def main() -> None:
    """Evaluate all logs, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--logs", type=int, default=600)
    logs, records = parser.parse_args().logs, []
    for kind in LOGS:
        for interval in ("normal", "bootstrap", "bernstein"):
            records.append(covered(kind, interval, logs))
            print(*records[-1].values(), flush=True)
    note = str(stamp(f"python benchmarks/coverage.py --logs {logs}"))
    write_csv(ROOT / "results" / "evaluation" / "coverage.csv", records, note=note)


if __name__ == "__main__":
    main()
