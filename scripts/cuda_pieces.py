"""Play settings on a GPU machine that has no polars, and put the runs that come back into a folder.

Steps, of which the second runs on that machine:

    python scripts/cuda_pieces.py rows rows.npz statlog covertype adult
    python scripts/cuda_pieces.py play rows.npz settings.txt pieces.npz begun.npz 540
    python scripts/cuda_pieces.py keep results/contextual pieces.npz ...

Each line of settings.txt has policy, problem, rounds, first run and number of runs. Several
settings are played at once, in that order. After so many seconds the machine stops. Traces that
have ended are in pieces.npz. Most of those under way are in begun.npz, with which the next call
goes on.
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

SEED, AT_ONCE, AT_A_TIME = 0, 16, 100
KEEP_EVERY = 10_000  # rounds
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

    def put(self, key: str, arrays: dict[str, np.ndarray]) -> None:
        """Write the file again, with these arrays in place of those that the key had."""
        with self._lock:
            others = (name for name in self._arrays if not name.startswith(f"{key}|"))
            self._arrays = {name: self._arrays[name] for name in others}
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


class Session:
    """Settings that are played until the time is over."""

    def __init__(self, device: Any, lines: list[list[str]], pieces: Path, begun: Path) -> None:
        """Put all rows on the device, and read what an earlier session has begun."""
        self._device, problems = (
            device,
            [Problem.parse(text) for text in {line[1] for line in lines}],
        )
        self._rows = {problem.text: put_rows(device, problem) for problem in problems}
        device.wait()  # other streams read them
        self._before = dict(np.load(begun)) if begun.exists() else {}
        self._ended, self._under_way = Arrays(pieces), Arrays(begun)
        self._waiting: queue.SimpleQueue[list[str]] = queue.SimpleQueue()
        for line in lines:
            self._waiting.put(line)

    def work_on(self, stream: Any, end: float) -> None:
        """Play one setting after the other in a stream of the device."""
        with stream:
            while time.monotonic() < end:
                try:
                    policy, problem, rounds, first, runs = self._waiting.get_nowait()
                except queue.Empty:
                    return
                setting = make_setting(policy, problem, rounds=int(rounds), seed=SEED)
                work = Work(Policy.parse(policy), Problem.parse(problem), setting)
                self._play(work, range(int(first), int(first) + int(runs)), end)

    def _play(self, work: Work, runs: range, end: float) -> None:
        setting = work.setting
        some = Begun(self._device, work, runs, self._rows[setting.problem])
        key = f"{setting.policy}|{setting.problem}|{setting.rounds}|{runs[0]}"
        if f"{key}|arms" in self._before:
            names = (*MODELS, "arms", "seconds")
            before = {name: self._before.get(f"{key}|{name}") for name in names}
            some.resume({name: array for name, array in before.items() if array is not None})
        while some.played < setting.rounds and time.monotonic() < end:
            some.go_on(min(some.played + AT_A_TIME, setting.rounds))
            is_over = some.played == setting.rounds or time.monotonic() >= end
            if some.played % KEEP_EVERY == 0 or is_over:
                self._keep(key, some, setting.rounds)

    def _keep(self, key: str, some: Begun, rounds: int) -> None:
        sys.stderr.write(f"{key}: {some.played} rounds, {some.seconds:.1f} s\n")
        if some.played == rounds:
            trace = some.trace()
            self._ended.put(key, {name: getattr(trace, name) for name in ARRAYS})
            self._under_way.put(key, {})
        elif some.can_be_kept:
            self._under_way.put(key, some.kept())


def play(rows: Path, settings: Path, pieces: Path, begun: Path, seconds: str) -> None:
    """Play the settings in a file until the time is over."""
    import cupy  # noqa: PLC0415  # this step alone has it

    from giro.simulation.engines.cuda import Gpu  # noqa: PLC0415

    end = time.monotonic() + float(seconds)
    classification.load = lru_cache(lambda name: read_rows(rows, name))
    lines = [line.split() for line in settings.read_text().splitlines() if line.strip()]
    session = Session(Gpu(), lines, pieces, begun)
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(AT_ONCE)]
    threads = [threading.Thread(target=session.work_on, args=(s, end)) for s in streams]
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
