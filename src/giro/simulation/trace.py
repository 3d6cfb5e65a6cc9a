"""Trace: what happened in the runs of one policy on one problem; to Parquet and back."""

import dataclasses
import functools
import hashlib
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from giro.errors import BadFile, BadParameter
from giro.simulation.checkpoints import Spacing, checkpoints
from giro.simulation.play import Record
from giro.version import __version__

if TYPE_CHECKING:
    import polars as pl

_FORMAT = "1"
_KEY = "giro-trace"


@dataclasses.dataclass(frozen=True)
class Setting:
    """Everything that decides the numbers of a trace, besides the numbers of its runs."""

    policy: str
    problem: str
    rounds: int
    seed: int
    points: int = 200
    spacing: Spacing = "even"
    version: str = __version__

    @functools.cached_property
    def checkpoints(self) -> np.ndarray:
        """Rounds after which the curves are noted, [point]."""
        return checkpoints(self.rounds, points=self.points, spacing=self.spacing)

    @property
    def slug(self) -> str:
        """A file name that is readable and differs for every setting."""
        digest = hashlib.sha256(json.dumps(dataclasses.asdict(self)).encode()).hexdigest()[:10]
        words = re.sub(r"[^a-z0-9.]+", "-", f"{self.policy}-{self.problem}".lower())
        return f"{words[:80].strip('-')}-{digest}"


@dataclasses.dataclass(frozen=True, eq=False)
class Trace:
    """Curves and counts of some runs of one setting. Curves are sums over rounds."""

    setting: Setting
    runs: np.ndarray  # [i] number of the run, ascending
    regret: np.ndarray  # [i, point] sum of highest mean minus mean of the pulled arm
    reward: np.ndarray  # [i, point] sum of rewards
    best: np.ndarray  # [i, point] pulls of an arm with the highest mean
    pulls: np.ndarray  # [i, arm] pulls of each arm at the end
    seconds: np.ndarray  # [i] computing time of the run

    @classmethod
    def from_record(cls, setting: Setting, run: int, record: Record, seconds: float) -> Self:
        """Return the trace of a single run."""
        return cls(
            setting,
            np.array([run]),
            record.regret[None],
            record.reward[None],
            record.best[None],
            record.pulls[None],
            np.array([seconds]),
        )

    @property
    def checkpoints(self) -> np.ndarray:
        """Rounds after which the curves were noted, [point]."""
        return self.setting.checkpoints

    def only(self, n_runs: int) -> "Trace":
        """Return the trace of the runs numbered below `n_runs`."""
        return _select(self, self.runs < n_runs)

    def table(self) -> "pl.DataFrame":
        """Return one row per run and checkpoint; `pulls` stand in the last row of a run."""
        import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

        points, n_runs = self.checkpoints.size, self.runs.size
        last = np.tile(np.arange(points) == points - 1, n_runs)
        pulls = pl.Series(self.pulls.tolist(), dtype=pl.List(pl.Int64))
        seconds = pl.Series(self.seconds)
        which = pl.Series(np.repeat(np.arange(n_runs), points))
        return (
            pl.DataFrame(
                {
                    "run": np.repeat(self.runs, points),
                    "round": np.tile(self.checkpoints, n_runs),
                    "regret": self.regret.ravel(),
                    "reward": self.reward.ravel(),
                    "best": self.best.ravel(),
                    "seconds": seconds.gather(which),
                    "last": last,
                    "pulls": pulls.gather(which),
                }
            )
            .with_columns(pulls=pl.when("last").then("pulls"))
            .drop("last")
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a Parquet file, whole or not at all."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        metadata = {_KEY: _FORMAT, "setting": json.dumps(dataclasses.asdict(self.setting))}
        partial = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            self.table().write_parquet(partial, metadata=metadata)
            os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Trace":
        """Return the trace in a file written by `save`."""
        import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

        setting = _read_setting(Path(path))
        try:
            table = pl.read_parquet(Path(path)).sort("run", "round")
            return _from_table(setting, table)
        except (pl.exceptions.PolarsError, OSError, ValueError) as error:
            raise BadFile(f"{path} is a damaged result of giro: {error}") from error


def merge(traces: Sequence[Trace]) -> Trace:
    """Return all runs of traces of one setting; a run that occurs twice counts once."""
    if not traces:
        raise BadParameter("there is no trace to merge")
    settings = {trace.setting for trace in traces}
    if len(settings) > 1:
        raise BadParameter(f"only traces of one setting can be merged, got {len(settings)}")
    if len(traces) == 1:
        return traces[0]
    joined = Trace(traces[0].setting, *_joined(traces))
    _, first = np.unique(joined.runs, return_index=True)
    return _select(joined, first)


def _joined(traces: Sequence[Trace]) -> list[np.ndarray]:
    names = [field.name for field in dataclasses.fields(Trace)][1:]
    return [np.concatenate([getattr(trace, name) for trace in traces]) for name in names]


def _select(trace: Trace, which: np.ndarray) -> Trace:
    names = [field.name for field in dataclasses.fields(Trace)][1:]
    return Trace(trace.setting, *(getattr(trace, name)[which] for name in names))


def _read_setting(path: Path) -> Setting:
    """Return what made the file, from its metadata."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    try:
        metadata = pl.read_parquet_metadata(path)
    except FileNotFoundError:
        raise BadFile(f"there is no file {path}") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadFile(f"{path} cannot be read as Parquet: {error}") from error
    if metadata.get(_KEY) != _FORMAT:
        raise BadFile(f"{path} was not written by giro, or by a version this one cannot read")
    try:
        return Setting(**json.loads(metadata["setting"]))
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"{path} does not say how it was made: {error}") from error


def _from_table(setting: Setting, table: Any) -> Trace:
    runs = table["run"].unique().sort().to_numpy()
    shape = (runs.size, setting.checkpoints.size)
    if table.height != shape[0] * shape[1]:
        raise ValueError(f"{table.height} rows for {shape[0]} runs of {shape[1]} checkpoints")
    ends = table.filter(table["pulls"].is_not_null())
    return Trace(
        setting,
        runs,
        table["regret"].to_numpy().reshape(shape),
        table["reward"].to_numpy().reshape(shape),
        table["best"].to_numpy().reshape(shape),
        np.array(ends["pulls"].to_list(), np.int64),
        ends["seconds"].to_numpy(),
    )
