"""Play settings on a GPU machine that has no polars, and put the runs that come back into a folder.

Three steps, of which the second runs on that machine:

    python scripts/cuda_pieces.py rows rows.npz statlog covertype adult
    python scripts/cuda_pieces.py play rows.npz settings.txt pieces.npz begun.npz 540
    python scripts/cuda_pieces.py keep results/contextual pieces.npz ...

Each line of settings.txt has policy, problem, rounds, first run and number of runs. Several settings
are played at once, in that order. After so many seconds the machine stops. Traces that have ended are
in pieces.npz. Most of those under way are in begun.npz, with which the next call goes on.
"""

import queue
import sys
import threading
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from giro.datasets.dataset import Dataset, load
from giro.policy import Policy
from giro.problem import Problem
from giro.problems import classification
from giro.simulation.engines._cuda_play import Rows, lay, play_rounds, put_rows, trace_of
from giro.simulation.kept import CUDA, Kept
from giro.simulation.play import Work
from giro.simulation.simulate import make_setting
from giro.simulation.trace import Setting, Trace
from giro.version import __version__

SEED, AT_ONCE, AT_A_TIME = 0, 8, 100
MODELS = ("theta", "made", "weights")  # what policies remember, see `giro.kernels.cuda.source`
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


class Arrays:
    """Named arrays in one file."""

    def __init__(self, path: Path) -> None:
        """Begin an empty file."""
        self._path, self._lock = path, threading.Lock()
        self._arrays: dict[str, np.ndarray] = {}

    def add(self, key: str, arrays: dict[str, np.ndarray]) -> None:
        """Write the file again, with these arrays."""
        with self._lock:
            self._arrays |= {f"{key}|{name}": array for name, array in arrays.items()}
            unfinished = self._path.with_suffix(".new.npz")
            np.savez_compressed(unfinished, **self._arrays)
            unfinished.replace(self._path)


class Begun:
    """Runs that are played piece by piece."""

    def __init__(self, device: Any, work: Work, runs: range, rows: Rows) -> None:
        """Lay runs before their first round."""
        self._device, self._work, self._runs = device, work, runs
        self._table, self.played, self.seconds = lay(device, work, runs, rows), 0, 0.0

    @property
    def can_be_kept(self) -> bool:
        """Whether all that a policy remembers is small, beside its histories."""
        return not {"factor", "hessian"} & self._table.plan.arrays.keys()

    def go_on(self, last: int) -> None:
        """Play the rounds before `last`."""
        began = time.perf_counter()
        play_rounds(self._device, self._table, self.played, last)
        self._device.wait()
        self.played, self.seconds = last, self.seconds + time.perf_counter() - began

    def trace(self) -> Trace:
        """Return the traces of runs that have ended."""
        arms, seconds = self._get("arms"), self.seconds / len(self._runs)
        return trace_of(self._work, self._runs, arms, self._table.order, seconds)

    def kept(self) -> dict[str, np.ndarray]:
        """Return what the runs need to go on."""
        models = {name: self._get(name) for name in MODELS if name in self._table.plan.arrays}
        arms = self._get("arms")[:, : self.played]
        return models | {"arms": arms, "seconds": np.array(self.seconds)}

    def resume(self, kept: dict[str, np.ndarray]) -> None:
        """Set histories and models to those of the runs that were kept."""
        arms, problem = kept.pop("arms"), self._work.problem
        self.played, self.seconds = arms.shape[1], float(kept.pop("seconds"))
        arrays = {"arms": self._get("arms"), "history": self._get("history")} | kept
        arrays["arms"][:, : self.played] = arms
        for run, arm in np.ndindex(len(self._runs), problem.n_arms):
            rows = self._table.order[run, : self.played][arms[run] == arm]
            rewards = (problem.rows.labels[rows] == arm).astype(np.float32)
            arrays["history"][run, arm, : rows.size] = np.stack([rows, rewards.view(np.int32)], 1)
        lengths = np.array([np.bincount(row, minlength=problem.n_arms) for row in arms])
        arrays |= {"length": lengths, "ranks": np.argsort(-lengths, axis=1, kind="stable")}
        for name, array in arrays.items():
            to = self._table.arrays[name]
            to[...] = self._device.put(array.astype(to.dtype))

    def _get(self, name: str) -> np.ndarray:
        return self._device.get(self._table.arrays[name])


def play(rows: Path, settings: Path, pieces: Path, begun: Path, seconds: str) -> None:
    """Play the settings in a file until the time is over."""
    import cupy  # noqa: PLC0415  # this step alone has it

    from giro.simulation.engines.cuda import Gpu  # noqa: PLC0415

    classification.load = lru_cache(lambda name: read_rows(rows, name))
    end = time.monotonic() + float(seconds)
    before = dict(np.load(begun)) if begun.exists() else {}
    ended, under_way = Arrays(pieces), Arrays(begun)
    waiting: queue.SimpleQueue[list[str]] = queue.SimpleQueue()
    lines = [line.split() for line in settings.read_text().splitlines() if line.strip()]
    device, problems = Gpu(), {line[1]: Problem.parse(line[1]) for line in lines}
    on_device = {problem.text: put_rows(device, problem) for problem in problems.values()}
    for line in lines:
        waiting.put(line)

    def work_on() -> None:
        while not waiting.empty() and time.monotonic() < end:
            policy, problem, rounds, first, runs = waiting.get()
            setting = make_setting(policy, problem, rounds=int(rounds), seed=SEED)
            work = Work(Policy.parse(policy), problems[problem], setting)
            key = f"{setting.policy}|{setting.problem}|{rounds}|{first}"
            play_one(work, range(int(first), int(first) + int(runs)), key)

    def play_one(work: Work, numbers: range, key: str) -> None:
        some = Begun(device, work, numbers, on_device[work.setting.problem])
        if f"{key}|arms" in before:
            names = (*MODELS, "arms", "seconds")
            some.resume({n: before[f"{key}|{n}"] for n in names if f"{key}|{n}" in before})
        while some.played < work.setting.rounds and time.monotonic() < end:
            some.go_on(min(some.played + AT_A_TIME, work.setting.rounds))
        if some.played == work.setting.rounds:
            trace = some.trace()
            ended.add(key, {name: getattr(trace, name) for name in ARRAYS})
        elif some.can_be_kept:
            under_way.add(key, some.kept())
        sys.stderr.write(f"{key}: {some.played} rounds, {some.seconds:.1f} s\n")

    def in_stream() -> None:
        with cupy.cuda.Stream(non_blocking=True):
            work_on()

    threads = [threading.Thread(target=in_stream) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


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
        play(Path(first), *map(Path, others[:3]), others[3])
    else:
        {"rows": write_rows, "keep": keep}[verb](Path(first), *others)
