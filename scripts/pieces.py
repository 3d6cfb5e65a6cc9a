"""Play settings on a machine that has no polars, and put the runs that come back into a folder.

Five steps, of which the third runs on that machine:

    python scripts/pieces.py settings family settings.txt --rounds 100000 --runs 100 --seed 0
    python scripts/pieces.py rows rows.npz statlog .bakeoff/storms.parquet ...
    python scripts/pieces.py play settings.txt pieces.npz 480 rows.npz
    python scripts/pieces.py keep results/family pieces.0.npz pieces.1.npz
    python scripts/pieces.py judge family results/family --rounds 100000 --runs 100 --seed 0

The second, and its file, are for problems whose rows come from the paper's data sets or from files
with a column `class`. `settings` and `judge` take the studies family, wheel and bakeoff, with
options of `giro reproduce`.

Each line of settings.txt has policy, problem, rounds, seed, checkpoints, their spacing, first run
and number of runs, of which `settings` writes as many as `--each` says, all without it. Lines are
played in this order, one in each of as many processes as there are cores, less two. A process
begins no run after so many seconds, and runs that have ended are in two files. `keep` prints how
many runs of each setting the folder has then. `judge` writes the tables and figures of `giro
reproduce` with the runs that are there, and plays nothing. A line of a table that was there before
stays if it rests on more runs, and says since which commit it is kept.
"""

import csv
import dataclasses
import itertools
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from giro.datasets.dataset import SHAPES, Dataset, load, read_dataset
from giro.policy import Policy
from giro.problem import Problem
from giro.problems import classification
from giro.simulation.kept import Kept
from giro.simulation.play import Work, timed_run
from giro.simulation.simulate import make_setting
from giro.simulation.trace import Setting, Trace, merge
from giro.tables import Record, write_csv
from giro.version import stamp

if TYPE_CHECKING:
    from giro.paper.study import Study

RESULTS = Path("results")
ARRAYS = ("runs", "regret", "reward", "best", "pulls", "seconds")


def write_rows(path: Path, *files: str) -> None:
    """Write the rows of data sets as arrays."""
    arrays = {}
    for file in files:
        name = Path(file).stem
        data = load(name) if file in SHAPES else read_dataset(Path(file), label="class")
        arrays[f"{name}|features"], arrays[f"{name}|labels"] = data.features, data.labels
        arrays[f"{name}|classes"] = np.array(data.classes)
    np.savez_compressed(path, **arrays)


def use_rows(path: Path | None) -> None:
    """Let this process read data sets from the file of `write_rows`."""
    if path is not None:
        content = np.load(path)

        def read(name: str) -> Dataset:
            features, labels, classes = (
                content[f"{name}|{part}"] for part in ("features", "labels", "classes")
            )
            return Dataset(np.asfortranarray(features), labels, tuple(classes.tolist()), ())

        def read_file(file: Path, label: str) -> Dataset:
            return read(file.stem)

        classification.load, classification.read_dataset = read, read_file


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


def write_settings(name: str, path: str, *options: str) -> None:
    """Write a line for every so many runs of each setting that a study plays."""
    given = given_by(options)
    lines = []
    for experiment in study_of(name, given).experiments:
        each = int(given.get("each", experiment.runs))
        for first, work in itertools.product(range(0, experiment.runs, each), experiment.work):
            _, _, *numbers = dataclasses.astuple(work.setting)[:-1]  # without the version
            count = min(each, experiment.runs - first)
            texts = work.setting.policy, work.setting.problem
            lines.append(" ".join(map(str, (*texts, *numbers, first, count))))
    Path(path).write_text("\n".join(lines) + "\n")


def judge(name: str, folder: str, *options: str) -> None:
    """Write a study's tables and figures with the runs in its folder."""
    from giro import plots  # noqa: PLC0415  # not on that machine

    study, kept, where = study_of(name, given_by(options)), Kept(Path(folder)), RESULTS / name
    works = study.judged or [work for each in study.experiments for work in each.work]
    runs = study.runs or max(each.runs for each in study.experiments)
    traces = [trace.only(runs) for w in works if (trace := kept.newest(w.setting)) is not None]
    outcome = study.outcome(traces, True)
    command = f"python scripts/pieces.py judge {name} results/{name} {' '.join(options)}"
    for table, records in outcome.tables.items():
        path = where / f"{table}.csv"
        write_csv(path, with_earlier(records, path), note=str(stamp(command)))
    for figure, drawn in outcome.figures().items():
        plots.save(drawn, where / f"{figure}.png", note=str(stamp(command)))


def given_by(options: Sequence[str]) -> dict[str, str]:
    """Return the values of options by their names.

    >>> given_by(["--runs", "3", "--seed", "0"])
    {'runs': '3', 'seed': '0'}
    """
    names = (option.removeprefix("--") for option in options[::2])
    return dict(zip(names, options[1::2], strict=True))


def study_of(name: str, given: Mapping[str, str]) -> "Study":
    """Return a study with these options."""
    from giro.cli.options import name_list, policy_list  # noqa: PLC0415  # not on that machine
    from giro.paper.studies import _bakeoff_sets, bakeoff, family, wheel  # noqa: PLC0415  # likewise

    numbers = {key: int(given[key]) for key in ("rounds", "runs", "seed") if key in given}
    only, policies = name_list(given.get("only", "")), policy_list(given.get("policies", ""))
    if name == "wheel":
        return wheel.study(**numbers, only=only)
    if name == "family":
        return family.study(**numbers, only=only, policies=policies)
    field = RESULTS / "bakeoff" / "field.csv"
    folder = _bakeoff_sets.FOLDER
    return bakeoff.study(**numbers, only=only, policies=policies, folder=folder, field=field)


def with_earlier(records: Sequence[Record], path: Path) -> list[Record]:
    """Return records of settings with runs, and lines of the file that rest on more of them."""
    if not path.exists() or not records or "runs" not in records[0]:
        return list(records)
    note, *lines = path.read_text(encoding="utf-8").splitlines()
    now = {_key(record): dict(record) for record in records}
    commit = re.search(r"commit ([0-9a-f]+)", note)
    before = {_key(line): line for line in csv.DictReader(lines)}
    for key, line in before.items():
        if key not in now or int(line["runs"]) > int(now[key]["runs"]):
            since = line.get("kept_since") or (commit[1] if commit else "")
            now[key] = line | {"kept_since": since}
    order = dict.fromkeys([*before, *now])
    return [{**now[key], "kept_since": now[key].get("kept_since", "")} for key in order]


def _key(record: Record) -> tuple[str, ...]:
    return tuple(str(record[key]) for key in ("problem", "policy", "rounds"))


if __name__ == "__main__":
    _, verb, first, *others = sys.argv
    if verb == "play":
        play(Path(first), Path(others[0]), others[1], *map(Path, others[2:]))
    elif verb in {"rows", "keep"}:
        {"rows": write_rows, "keep": keep}[verb](Path(first), *others)
    else:
        {"settings": write_settings, "judge": judge}[verb](first, *others)
