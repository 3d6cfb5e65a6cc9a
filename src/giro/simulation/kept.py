"""Kept: runs of an experiment in one file, and which of them the present code reproduces.

Numbers are repeatable bit for bit, so the numbers, and not the code, decide which runs belong
together. Before runs are added to a setting, the beginning of one of its runs is played again. If
the numbers are the same, the new runs join the old ones. If not, the old runs stay in the file
under the version of giro that made them, and the new ones are kept beside them. Both are draws from
the same distribution, so both are evidence. But run 7 of one version and run 7 of another are
different instances, so such runs are never paired. Runs of a GPU are those of another version,
whose name ends with -cuda.
"""

import dataclasses
import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from giro.errors import BadFile, GiroError
from giro.policy import Policy
from giro.simulation.play import Player, Work, play_run
from giro.simulation.trace import Setting, Trace, load_traces, merge, save_traces
from giro.version import __version__

FILE = "runs.parquet"
CUDA = "-cuda"  # ends the version of runs that a GPU has played

_SAVE_EVERY = 20.0  # seconds, times the seconds (at least one) that saving takes
_SHARE, _LEAST = 40, 100  # the beginning of a run: a fortieth of it, at least 100 rounds


class Evidence(NamedTuple):
    """The traces that an experiment is judged by."""

    traces: list[Trace]
    version: str  # which made the traces of all settings that it played
    is_present: bool  # whether the present code reproduces them
    others: list[Trace]  # of the same settings, made by other versions


class Kept:
    """The runs of an experiment, and the file that holds them if there is a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        """Read the runs in the folder."""
        self.folder = folder
        self._file = folder / FILE if folder else None
        self._traces = {trace.setting: trace for trace in _read(folder)}  # in order of their start
        self._reproduced: dict[Setting, bool] = {}
        self._play: Player = play_run
        self._suffix = ""  # of the version that plays
        self._is_saved, self._stamp = True, _stamp(self._file)
        self._next_save = time.monotonic() + _SAVE_EVERY

    def played_by(self, play: Player, suffix: str) -> None:
        """Make another player than this processor's the present code, see `player_of`."""
        if suffix != self._suffix:
            self._play, self._suffix, self._reproduced = play, suffix, {}

    def check(self, all_work: Iterable[Work]) -> None:
        """Find out which kept runs of this work the present code reproduces."""
        for work in all_work:
            for trace in self._of(work.setting):
                if trace.setting not in self._reproduced:
                    same_kind = trace.setting.version.endswith(CUDA) == bool(self._suffix)
                    reproduced = same_kind and is_reproduced(work, trace, self._play)
                    self._reproduced[trace.setting] = reproduced

    def present(self, setting: Setting) -> Trace | None:
        """Return the checked runs of a setting that the present code reproduces."""
        reproduced = (trace for trace in self._of(setting) if self._reproduced.get(trace.setting))
        return next(reproduced, None)

    def newest(self, setting: Setting) -> Trace | None:
        """Return the runs of a setting that the present code reproduces, else the newest."""
        return self.present(setting) or next(self._of(setting), None)

    def label(self, setting: Setting) -> Setting:
        """Return the setting under which further runs are kept."""
        present = self.present(setting)
        return present.setting if present else _made_by(self._version(), setting)

    def put(self, trace: Trace) -> None:
        """Keep runs that the present code has played."""
        self._add(trace)
        self._reproduced[trace.setting] = True
        self._is_saved = False

    @property
    def is_due(self) -> bool:
        """Whether it is time to save."""
        return time.monotonic() > self._next_save

    def save(self) -> None:
        """Write the file, if there is one and there are new runs.

        Runs that another process has added in the meantime are not lost.
        """
        if self._file is None or self._is_saved:
            return
        began = time.monotonic()
        if _stamp(self._file) != self._stamp:
            for trace in load_traces(self._file):
                self._add(trace)
        save_traces(self._traces.values(), self._file)
        self._is_saved, self._stamp = True, _stamp(self._file)
        self._next_save = time.monotonic() + _SAVE_EVERY * max(1.0, time.monotonic() - began)

    def evidence(self, all_work: Sequence[Work], *, runs: int) -> Evidence:
        """Return the runs that this work is judged by: those of the version with most of them.

        Ties go to the newer version. The present code counts as the newest. For a setting that this
        version did not play, the runs of another are returned. They are not paired with the rest.
        """
        self.check(all_work)
        settings = list(dict.fromkeys(work.setting for work in all_work))
        made = [(v, [self._traces.get(_made_by(v, s)) for s in settings]) for v in self._versions()]
        played = [self.present(setting) for setting in settings]
        choices = [*made, (self._version(), played)]
        version, chosen = max(reversed(choices), key=lambda choice: _count(choice[1], runs))
        evidence = [
            dataclasses.replace(trace, setting=_made_by(version, setting))
            if trace
            else self.newest(setting)
            for setting, trace in zip(settings, chosen, strict=True)
        ]
        asked_for = [trace.only(runs) for trace in evidence if trace]
        others = [trace.only(runs) for setting in settings for trace in self._of(setting)]
        return Evidence([t for t in asked_for if t.runs.size], version, chosen is played, others)

    def _add(self, trace: Trace) -> None:
        older = self._traces.get(trace.setting)
        self._traces[trace.setting] = merge([older, trace]) if older else trace

    def _of(self, setting: Setting) -> Iterator[Trace]:
        """Yield the runs of a setting by version, the newest first."""
        for version in reversed(self._versions()):
            trace = self._traces.get(_made_by(version, setting))
            if trace:
                yield trace

    def _versions(self) -> list[str]:
        """Return the versions that have played, in order of their start."""
        return list(dict.fromkeys(setting.version for setting in self._traces))

    def _version(self) -> str:
        """Return the name of the present code: its version, numbered if other code has the name."""
        taken = {setting.version for setting, same in self._reproduced.items() if not same}
        own = __version__ + self._suffix
        names = itertools.chain(
            [own], (f"{__version__}+{i}{self._suffix}" for i in itertools.count(1))
        )
        return next(name for name in names if name not in taken)


def is_reproduced(work: Work, kept: Trace, play: Player = play_run) -> bool:
    """Return whether the present code reproduces the beginning of the first kept run.

    It is False for a policy that its text does not describe completely.
    """
    try:
        if Policy.parse(work.policy.text) != work.policy:  # a user's function has only a name
            return False
    except GiroError:
        return False
    rounds, seed, run = kept.setting.rounds, kept.setting.seed, int(kept.runs[0])
    enough = min(rounds, max(rounds // _SHARE, _LEAST))
    points = 1 + int(np.searchsorted(kept.checkpoints, enough))
    for upto in (1, points):  # most changes show at once
        stops = kept.checkpoints[:upto]
        record = play(work.policy, work.problem, stops, seed=seed, run=run, rounds=rounds)
        pairs = (record.regret, kept.regret), (record.reward, kept.reward), (record.best, kept.best)
        if not all(np.array_equal(now, then[0, :upto]) for now, then in pairs):
            return False
    return True


def load_folder(folder: Path) -> list[Trace]:
    """Return the newest trace of every policy on every problem, ordered by problem and policy."""
    if not folder.is_dir():
        raise BadFile(f"there is no folder {folder}")
    newest = {_made_by("", trace.setting): trace for trace in _read(folder)}.values()
    if not newest:
        raise BadFile(f"no results of giro in {folder}: make some with giro simulate --out")
    return sorted(newest, key=lambda trace: (trace.setting.problem, trace.setting.policy))


def _read(folder: Path | None) -> list[Trace]:
    """Return the traces of a folder in order of their start."""
    return load_traces(folder / FILE) if folder and (folder / FILE).exists() else []


def _made_by(version: str, setting: Setting) -> Setting:
    return dataclasses.replace(setting, version=version)


def _count(traces: Iterable[Trace | None], runs: int) -> int:
    """Return how many of the first `runs` runs the traces hold."""
    return sum(int((trace.runs < runs).sum()) for trace in traces if trace)


def _stamp(path: Path | None) -> tuple[int, int] | None:
    """Return a mark that changes when the file is replaced, None if there is no file."""
    if path is None or not path.exists():
        return None
    status = path.stat()
    return status.st_ino, status.st_mtime_ns
