"""Trace: the results of the runs of one policy on one problem, to Parquet and back."""

import dataclasses
import functools
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from giro.checks import check, whole
from giro.errors import BadFile, BadParameter
from giro.files import write_whole
from giro.version import __version__, stamp

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

_KEY = "giro-trace"
_FORMAT = "2"  # settings are columns, so that a file holds any number of traces

Spacing: TypeAlias = Literal["even", "log"]


def checkpoints(rounds: int, *, points: int = 200, spacing: Spacing = "even") -> np.ndarray:
    """Return about `points` numbers of rounds, ascending, that end with `rounds`.

    The round after which the last tenth begins is always among them.

    >>> checkpoints(10, points=3).tolist(), checkpoints(1000, points=4, spacing="log").tolist()
    ([3, 7, 9, 10], [1, 10, 100, 900, 1000])
    """
    check("a simulation", whole(1), rounds=rounds, points=points)
    if spacing == "even":
        spaced = np.linspace(rounds / points, rounds, points)
    elif spacing == "log":
        spaced = np.geomspace(1, rounds, points)
    else:
        raise BadParameter(f"spacing is even or log, got '{spacing}'")
    marks = np.append(np.maximum(np.rint(spaced), 1), [before_last_tenth(rounds), rounds])
    return np.unique(marks).astype(np.int64)


def before_last_tenth(rounds: int) -> int:
    """Return the number of rounds before the last tenth (at least one, if there are two)."""
    return max(1, rounds - max(1, rounds // 10))


@dataclasses.dataclass(frozen=True)
class Setting:
    """Everything that determines a trace, apart from which runs it holds."""

    policy: str
    problem: str
    rounds: int
    seed: int
    points: int = 200
    spacing: Spacing = "even"
    version: str = __version__

    @functools.cached_property
    def checkpoints(self) -> np.ndarray:
        """Rounds after which the curves are recorded, [point]."""
        return checkpoints(self.rounds, points=self.points, spacing=self.spacing)


_SETTING = [field.name for field in dataclasses.fields(Setting)]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Curves and counts of some runs of one setting. Curves are sums over rounds."""

    setting: Setting
    runs: np.ndarray  # [i] number of the run, ascending
    regret: np.ndarray  # [i, point] sum of highest mean minus mean of the pulled arm
    reward: np.ndarray  # [i, point] sum of rewards
    best: np.ndarray  # [i, point] pulls of an arm with the highest mean
    pulls: np.ndarray  # [i, arm] pulls of each arm at the end
    seconds: np.ndarray  # [i] computing time of the run

    def __repr__(self) -> str:
        policy, problem = self.setting.policy, self.setting.problem
        size = f"rounds={self.setting.rounds}, runs={self.runs.size}"
        return f"Trace({policy!r}, {problem!r}, {size})"

    @property
    def checkpoints(self) -> np.ndarray:
        """Rounds after which the curves were recorded, [point]."""
        return self.setting.checkpoints

    def only(self, n_runs: int) -> "Trace":
        """Return the trace of the runs numbered below `n_runs`."""
        return _select(self, self.runs < n_runs)

    def table(self) -> "pl.DataFrame":
        """Return one row per run and checkpoint, with `pulls` in the last row of a run."""
        import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

        points, n_runs = self.checkpoints.size, self.runs.size
        last = np.tile(np.arange(points) == points - 1, n_runs)
        pulls = pl.Series(self.pulls.tolist(), dtype=pl.List(pl.Int64))
        seconds = pl.Series(self.seconds)
        row_of = pl.Series(np.repeat(np.arange(n_runs), points))
        return (
            pl.DataFrame(
                {
                    "run": np.repeat(self.runs, points),
                    "round": np.tile(self.checkpoints, n_runs),
                    "regret": self.regret.ravel(),
                    "reward": self.reward.ravel(),
                    "best": self.best.ravel(),
                    "seconds": seconds.gather(row_of),
                    "last": last,
                    "pulls": pulls.gather(row_of),
                }
            )
            .with_columns(pulls=pl.when("last").then("pulls"))
            .drop("last")
        )

    def plot(self, *others: "Trace") -> "Figure":
        """Return a figure of the regret by round, of this trace and of others.

        On problems of classification it is of rewards. Bands are 95 % intervals over runs.
        `giro.plots.regret_figure` has more options. It needs `giro-bandits[plots]`.
        """
        from giro.plots import regret_figure  # noqa: PLC0415  # quick start without matplotlib

        return regret_figure([self, *others])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a Parquet file, whole or not at all."""
        save_traces([self], path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Trace":
        """Return the trace in a file written by `save`."""
        traces = load_traces(path)
        if len(traces) != 1:
            raise BadFile(f"{path} holds {len(traces)} traces: load_traces returns all of them")
        return traces[0]


_COLUMNS = [field.name for field in dataclasses.fields(Trace)][1:]


def save_traces(traces: Iterable[Trace], path: str | os.PathLike[str]) -> None:
    """Write traces of different settings to one Parquet file, whole or not at all."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    tables = []
    for trace in traces:
        literals = [
            pl.lit(value, dtype=pl.String if isinstance(value, str) else pl.Int64).alias(name)
            for name, value in dataclasses.asdict(trace.setting).items()
        ]
        tables.append(trace.table().select(*literals, pl.all()))
    content = io.BytesIO()
    pl.concat(tables).write_parquet(content, metadata={_KEY: _FORMAT, "made_by": str(stamp(""))})
    write_whole(Path(path), [content.getbuffer()])


def load_traces(path: str | os.PathLike[str]) -> list[Trace]:
    """Return the traces in a file written by `save_traces`, in their order."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    try:
        metadata = pl.read_parquet_metadata(Path(path))
    except FileNotFoundError:
        raise BadFile(f"there is no file {path}") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadFile(f"{path} cannot be read as Parquet: {error}") from error
    if metadata.get(_KEY) != _FORMAT:
        raise BadFile(f"{path} was not written by giro, or by a version this one cannot read")
    try:
        table = pl.read_parquet(Path(path))
        parts = table.partition_by(_SETTING, as_dict=True)
        return [_from_table(Setting(*key), part) for key, part in parts.items()]
    except (pl.exceptions.PolarsError, OSError, ValueError, TypeError) as error:
        raise BadFile(f"{path} is a damaged file of giro: {error}") from error


def merge(traces: Sequence[Trace]) -> Trace:
    """Return all runs of traces of one setting, each once."""
    if not traces:
        raise BadParameter("there is no trace to merge")
    settings = {trace.setting for trace in traces}
    if len(settings) > 1:
        raise BadParameter(f"only traces of one setting can be merged, got {len(settings)}")
    if len(traces) == 1:
        return traces[0]
    columns = ([getattr(trace, name) for trace in traces] for name in _COLUMNS)
    joined = Trace(traces[0].setting, *map(np.concatenate, columns))
    _, first = np.unique(joined.runs, return_index=True)
    return _select(joined, first)


def _select(trace: Trace, which: np.ndarray) -> Trace:
    return Trace(trace.setting, *(getattr(trace, name)[which] for name in _COLUMNS))


def _from_table(setting: Setting, unsorted: "pl.DataFrame") -> Trace:
    table = unsorted.sort("run", "round")
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
