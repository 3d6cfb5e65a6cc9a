"""Play settings on a machine that has no polars, and put the runs that come back into a folder.

Four steps, of which the second runs on that machine:

    python scripts/pieces.py rows rows.npz .bakeoff/storms.parquet ...
    python scripts/pieces.py play settings.txt pieces.npz 480 rows.npz
    python scripts/pieces.py keep results/family pieces.0.npz pieces.1.npz
    python scripts/pieces.py judge family results/family --rounds 100000 --runs 100 --seed 0

The first, and its file, are for problems whose rows come from files with a column `class`.

Each line of settings.txt has policy, problem, rounds, seed, checkpoints, their spacing, first run
and number of runs. Lines are played in this order, one in each of as many processes as there are
cores, less two. A process begins no run after so many seconds, and runs that have ended are in two
files. `keep` prints how many runs of each setting the folder has then. `judge` writes the tables
and figures of `giro reproduce` with the runs that are there, and plays nothing.
"""

import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from giro.datasets.dataset import Dataset, read_dataset
from giro.policy import Policy
from giro.problem import Problem
from giro.problems import classification
from giro.simulation.kept import Kept
from giro.simulation.play import Work, timed_run
from giro.simulation.simulate import make_setting
from giro.simulation.trace import Setting, Trace, merge
from giro.tables import write_csv
from giro.version import stamp

if TYPE_CHECKING:
    from giro.paper.study import Study

ARRAYS = ("runs", "regret", "reward", "best", "pulls", "seconds")


def write_rows(path: Path, *files: str) -> None:
    """Write the rows of data sets as arrays."""
    arrays = {}
    for file in files:
        data, name = read_dataset(Path(file), label="class"), Path(file).stem
        arrays[f"{name}|features"], arrays[f"{name}|labels"] = data.features, data.labels
        arrays[f"{name}|classes"] = np.array(data.classes)
    np.savez_compressed(path, **arrays)


def use_rows(path: Path | None) -> None:
    """Let this process read data sets from the file of `write_rows`."""
    if path is not None:
        content = np.load(path)

        def read(file: Path, label: str) -> Dataset:
            features, labels, classes = (
                content[f"{file.stem}|{part}"] for part in ("features", "labels", "classes")
            )
            return Dataset(np.asfortranarray(features), labels, tuple(classes.tolist()), ())

        classification.read_dataset = read


def setting_of(line: list[str]) -> Setting:
    """Return the setting of a line."""
    policy, problem, rounds, seed, points, spacing, *_ = line
    return make_setting(
        policy, problem, rounds=int(rounds), seed=int(seed), points=int(points), spacing=spacing
    )


def played(task: tuple[list[str], float]) -> tuple[list[str], dict[str, np.ndarray]]:
    """Return a line, and the arrays of those of its runs that began before the end."""
    line, end = task
    work = Work(Policy.parse(line[0]), Problem.parse(line[1]), setting_of(line))
    first, count, traces = int(line[6]), int(line[7]), []
    for run in range(first, first + count):
        if time.time() >= end:
            break
        traces.append(timed_run(work, run))
    if not traces:
        return line, {}
    trace = merge(traces)
    return line, {name: getattr(trace, name) for name in ARRAYS}


def play(settings: Path, pieces: Path, seconds: str, rows: Path | None = None) -> None:
    """Play the settings in a file until the time is over."""
    end, content = time.time() + float(seconds), dict[str, np.ndarray]()
    lines = [line.split() for line in settings.read_text().splitlines() if line.strip()]
    context = multiprocessing.get_context("spawn")
    processes = max((os.cpu_count() or 1) - 2, 1)
    with context.Pool(processes, use_rows, (rows,)) as pool:
        for line, arrays in pool.imap_unordered(played, [(line, end) for line in lines]):
            key = " ".join(line)
            content |= {f"{key}|{name}": array for name, array in arrays.items()}
            runs = arrays["runs"].size if arrays else 0
            left, of = end - time.time(), f"{line[0]} on {line[1]:.30}"
            sys.stderr.write(f"{left:5.0f} s left, {runs} of {line[7]} runs of {of}\n")
    for i in range(2):  # files that come back may not be large
        half = {key: array for n, (key, array) in enumerate(content.items()) if n % 12 // 6 == i}
        np.savez_compressed(pieces.with_suffix(f".{i}.npz"), **half)


def traces_in(path: Path) -> Iterator[Trace]:
    """Yield the traces of a file of pieces."""
    content = np.load(path)
    for key in dict.fromkeys(name.rpartition("|")[0] for name in content.files):
        yield Trace(setting_of(key.split()), *(content[f"{key}|{name}"] for name in ARRAYS))


def keep(folder: Path, *paths: str) -> None:
    """Add all traces in these files to the folder's runs."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = Kept(folder)
    for path in paths:
        for trace in traces_in(Path(path)):
            kept.put(trace)
            now = kept.present(trace.setting)
            count = now.runs.size if now else 0
            sys.stderr.write(f"{count} {trace.setting.policy} {trace.setting.problem}\n")
    kept.save()


def judge(name: str, folder: str, *options: str) -> None:
    """Write a study's tables and figures with the runs in its folder."""
    given = dict(zip(options[::2], map(int, options[1::2]), strict=True))
    study = {"family": family_study, "wheel": wheel_study}[name](given)
    kept, where = Kept(Path(folder)), Path("results") / name
    traces = [
        trace.only(experiment.runs)
        for experiment in study.experiments
        for work in experiment.work
        if (trace := kept.newest(work.setting)) is not None
    ]
    outcome = study.outcome(traces, True)
    command = f"python scripts/pieces.py judge {name} results/{name} {' '.join(options)}"
    for table, records in outcome.tables.items():
        write_csv(where / f"{table}.csv", records, note=str(stamp(command)))
    for figure, drawn in outcome.figures().items():
        plots.save(drawn, where / f"{figure}.png", note=str(stamp(command)))


def family_study(given: dict[str, int]) -> "Study":
    """Return the whole study of the family."""
    return family.study(
        rounds=given["--rounds"],
        runs=given["--runs"],
        seed=given["--seed"],
        only=(),
        policies=(),
    )


def wheel_study(given: dict[str, int]) -> "Study":
    """Return the whole study of published figures."""
    return wheel.study(
        rounds=given["--rounds"], runs=given["--runs"], seed=given["--seed"], only=()
    )


if __name__ == "__main__":
    _, verb, first, *others = sys.argv
    if verb == "judge":
        from giro import plots  # not on that machine
        from giro.paper.studies import family, wheel

        judge(first, *others)
    elif verb == "play":
        play(Path(first), Path(others[0]), others[1], *map(Path, others[2:]))
    else:
        {"rows": write_rows, "keep": keep}[verb](Path(first), *others)
