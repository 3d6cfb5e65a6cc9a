"""Put runs that a GPU machine without polars has played into a folder of kept runs.

Such a machine plays with `giro.simulation.engines.cuda` and brings its traces back as arrays, named
POLICY|PROBLEM|FIRST RUN|ARRAY in .npz files:

    python scripts/cuda_runs.py results/contextual pieces/*.npz
"""

import sys
from pathlib import Path

import numpy as np

from giro.simulation.kept import CUDA, Kept
from giro.simulation.trace import Setting, Trace
from giro.version import __version__

ROUNDS, SEED = 50_000, 0
ARRAYS = ("runs", "regret", "reward", "best", "pulls", "seconds")


def traces_of(path: Path) -> list[Trace]:
    """Return the traces in one file."""
    content = np.load(path)
    keys = dict.fromkeys(name.rpartition("|")[0] for name in content.files)
    traces = []
    for key in keys:
        policy, problem, _ = key.split("|")
        setting = Setting(policy, problem, ROUNDS, SEED, version=__version__ + CUDA)
        traces.append(Trace(setting, *(content[f"{key}|{name}"] for name in ARRAYS)))
    return traces


def main(folder: Path, paths: list[Path]) -> None:
    """Add all traces, and write the folder's file."""
    kept = Kept(folder)
    for path in paths:
        for trace in traces_of(path):
            kept.put(trace)
    kept.save()


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
