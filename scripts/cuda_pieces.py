"""Play settings on a GPU machine that has no polars, and put the runs that come back into a folder.

Three steps, of which the second runs on that machine:

    python scripts/cuda_pieces.py rows rows.npz statlog covertype adult
    python scripts/cuda_pieces.py play rows.npz settings.txt pieces.npz 540
    python scripts/cuda_pieces.py keep results/contextual pieces.npz ...

Each line of settings.txt has policy, problem, rounds, first run and number of runs. Several settings
are played at once, in that order. After so many seconds the machine stops with what has ended.
"""

import os
import queue
import sys
import threading
import time
from functools import lru_cache
from pathlib import Path

import numpy as np

from giro.datasets.dataset import Dataset, load
from giro.policy import Policy
from giro.problem import Problem
from giro.problems import classification
from giro.simulation.kept import CUDA, Kept
from giro.simulation.play import Work
from giro.simulation.simulate import make_setting
from giro.simulation.trace import Setting, Trace
from giro.version import __version__

SEED, AT_ONCE = 0, 6
ARRAYS = ("runs", "regret", "reward", "best", "pulls", "seconds")


def write_rows(path: Path, *names: str) -> None:
    """Write the paper's data sets as arrays."""
    arrays = {}
    for name in names:
        data = load(name)
        arrays |= {f"{name}|features": data.features.astype(np.float32)}
        arrays |= {f"{name}|labels": data.labels.astype(np.uint8)}
        arrays |= {f"{name}|classes": np.array(data.classes)}
        if (arrays[f"{name}|features"] != data.features).any():
            raise ValueError(f"{name} does not fit into single precision")
    np.savez_compressed(path, **arrays)


def read_rows(path: Path, name: str) -> Dataset:
    """Return a data set that `write_rows` has written."""
    content = np.load(path)
    features = np.asfortranarray(content[f"{name}|features"], np.float64)
    labels = content[f"{name}|labels"].astype(np.int64)
    return Dataset(features, labels, tuple(content[f"{name}|classes"].tolist()), ())


class Pieces:
    """Traces that have ended, in one file."""

    def __init__(self, path: Path) -> None:
        """Begin an empty file."""
        self._path, self._arrays, self._lock = path, {}, threading.Lock()

    def add(self, trace: Trace, first: int) -> None:
        """Write the file again, with this trace."""
        setting = trace.setting
        key = f"{setting.policy}|{setting.problem}|{setting.rounds}|{first}"
        with self._lock:
            self._arrays |= {f"{key}|{name}": getattr(trace, name) for name in ARRAYS}
            unfinished = self._path.with_suffix(".new.npz")
            np.savez_compressed(unfinished, **self._arrays)
            unfinished.replace(self._path)


def play(rows: Path, settings: Path, pieces: Path, seconds: str) -> None:
    """Play the settings in a file until the time is over."""
    import cupy  # noqa: PLC0415  # this step alone has it

    from giro.simulation.engines.cuda import Cuda, Gpu  # noqa: PLC0415

    classification.load = lru_cache(lambda name: read_rows(rows, name))
    began, out, waiting = time.monotonic(), Pieces(pieces), queue.SimpleQueue()
    lines = [line.split() for line in settings.read_text().splitlines() if line.strip()]
    problems = {line[1]: Problem.parse(line[1]) for line in lines}
    for line in lines:
        waiting.put(line)

    def work_on() -> None:
        with cupy.cuda.Stream(non_blocking=True):
            engine = Cuda(Gpu())
            while not waiting.empty():
                policy, problem, rounds, first, runs = waiting.get()
                setting = make_setting(policy, problem, rounds=int(rounds), seed=SEED)
                work = Work(Policy.parse(policy), problems[problem], setting)
                numbers, start = range(int(first), int(first) + int(runs)), time.monotonic()
                for trace in engine.finished(work, numbers):
                    out.add(trace, int(trace.runs[0]))
                now = time.monotonic()
                print(f"{now - began:.0f} s: {setting.policy} {problem} {now - start:.1f} s", flush=True)

    threads = [threading.Thread(target=work_on, daemon=True) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, began + float(seconds) - time.monotonic()))
    sys.stdout.flush()
    os._exit(0)  # threads that are not done wait for kernels


def keep(folder: Path, *paths: str) -> None:
    """Add all traces in these files to the folder's runs."""
    kept = Kept(folder)
    for content in map(np.load, paths):
        for key in dict.fromkeys(name.rpartition("|")[0] for name in content.files):
            policy, problem, rounds, _ = key.split("|")
            setting = Setting(policy, problem, int(rounds), SEED, version=__version__ + CUDA)
            kept.put(Trace(setting, *(content[f"{key}|{name}"] for name in ARRAYS)))
    kept.save()


if __name__ == "__main__":
    _, verb, first, *others = sys.argv
    if verb == "play":
        play(Path(first), *map(Path, others[:2]), others[2])
    else:
        {"rows": write_rows, "keep": keep}[verb](Path(first), *others)
