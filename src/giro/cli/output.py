"""Output of the commands: tables and JSON, errors, figures."""

import itertools
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from giro.errors import BadParameter
from giro.simulation.limit import slope
from giro.simulation.metrics import final_record, final_regret, mean_reward, rounds_per_second
from giro.simulation.trace import Trace
from giro.tables import UNLIMITED, Column, Record, decimals_for, fixed, table_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def print_line(text: str = "") -> None:
    """Print a line of results, never cut or folded."""
    print(text)


def print_table(columns: Sequence[Column], records: Sequence[Record]) -> None:
    """Print a table, with one line for each record unless the terminal is narrow."""
    print_line(table_text(columns, records, width=page_width()))


def print_json(document: Sequence[Any] | Mapping[str, Any]) -> None:
    """Print records, or tables of records, as JSON, with null for numbers that are not finite."""
    print(json.dumps(_without_nan(document), indent=2, allow_nan=False))


def _without_nan(value: Any) -> Any:
    match value:
        case Mapping():
            return {key: _without_nan(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_without_nan(inner) for inner in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def print_results(
    traces: Sequence[Trace], *, runs: int, limits: Mapping[str, float] | None = None
) -> None:
    """Print a table for each problem, below the setting that repeats it.

    `limits` are the constants of Lai and Robbins, by the text of the problem.
    """
    groups = itertools.groupby(traces, key=lambda trace: trace.setting.problem)
    for i, (problem, group) in enumerate(groups):
        if i > 0:
            print_line()
        group_traces = list(group)
        setting = group_traces[0].setting
        print_line(f"problem  {problem}")
        print_line(
            f"rounds   {setting.rounds}   runs {runs}   seed {setting.seed}   "
            f"giro {setting.version}"
        )
        limit = (limits or {}).get(problem)
        if limit is not None:
            print_line(f"limit    {limit:.4g} log n")
        print_line()
        _print_finals(group_traces, runs, limit)


def _print_finals(traces: Sequence[Trace], runs: int, limit: float | None) -> None:
    records = [
        {
            **final_record(trace),
            "regret_margin": final_regret(trace).margin,
            "reward_margin": mean_reward(trace).margin,
            "speed": rounds_per_second(trace),
            **({} if limit is None else limit_record(trace, limit)),
        }
        for trace in traces
    ]
    regret, reward = (
        fixed(decimals_for([record[key] for record in records]))
        for key in ("regret_margin", "reward_margin")
    )
    partial = any(trace.runs.size < runs for trace in traces)
    columns = [
        Column("policy", words=True),
        *([Column("runs")] if partial else []),
        Column("regret", show=regret),
        Column("regret_margin", "±95%", regret),
        Column("reward", "reward/round", reward),
        Column("reward_margin", "±95%", reward),
        *([] if limit is None else [Column("over_limit", "slope/limit", fixed(2))]),
        *([] if limit is None else [Column("over_limit_margin", "±95%", fixed(2))]),
        Column("best_share", "best arm, last 10%", "{:.0%}".format, optional=True),
        Column("speed", "rounds/s", "{:,.0f}".format, optional=True),
    ]
    print_table(columns, records)


def limit_record(trace: Trace, limit: float) -> dict[str, float]:
    """Return the slope of regret in log n, and how many times the limit it is."""
    grows = slope(trace)
    return {
        "slope": grows.mean,
        "limit": limit,
        "over_limit": grows.mean / limit if limit > 0.0 else math.nan,
        "over_limit_margin": grows.margin / limit if limit > 0.0 else math.nan,
    }


def complain(sentence: str) -> None:
    """Print one sentence on standard error."""
    print(f"giro: {' '.join(sentence.split())}", file=sys.stderr)


def tell(sentence: str) -> None:
    """Print a remark on standard error, apart from the results."""
    print(sentence, file=sys.stderr)


def page_width() -> int:
    """Return the width of the terminal in characters. A file or a pipe has no limit."""
    return Console().width if sys.stdout.isatty() else UNLIMITED


def check_folder(folder: Path) -> None:
    """Make the folder if needed, and check that it can be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadParameter(f"cannot make the folder {folder}: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise BadParameter(f"cannot write to the folder {folder}")


def check_picture(path: Path | None) -> None:
    """Check the format of a picture and its folder, before anything is computed."""
    if path is not None:
        from giro.plots import check_format  # noqa: PLC0415  # quick start without matplotlib

        check_format(path)
        check_folder(path.parent)


def write_picture(path: Path, figure: "Figure", *, note: str | None = None) -> None:
    """Save a figure and report its path."""
    from giro.plots import save  # noqa: PLC0415  # quick start without matplotlib

    save(figure, path, note=note)
    tell(f"wrote {path}")
