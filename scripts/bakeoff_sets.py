"""Make the data sets of the bake-off, from packages of Debian and PyPI, in .bakeoff/.

    python scripts/bakeoff_sets.py [NAME ...]

What is there is not made again. The packages are installed where nothing else is: those of PyPI in
.bakeoff/venv, those of Debian by apt-get if this is root, otherwise the command is shown. When all
sets are there, results/bakeoff/sets.csv is written: sources, licences, sizes, and their halves.

A table becomes a data set like this. Missing words are a word of their own; missing numbers become
the column's median, and a column says where. Columns of two words become 0 and 1. Targets that are
measured are cut into classes of about as many rows each. At most 50,000 rows are kept, drawn
without replacement.
"""

import csv
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from giro.paper.studies._bakeoff_sets import (
    FOLDER,
    GRADED,
    LABEL,
    MOST_ROWS,
    PAPER,
    PLAIN,
    half_of,
    problem_text,
)
from giro.problems import Classification
from giro.problems.classification import digest_of
from giro.seeds import stream
from giro.tables import write_csv
from giro.version import stamp

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results" / "bakeoff" / "sets.csv"
RAW, SOURCES, VENV = FOLDER / "raw", FOLDER / "sources.tsv", FOLDER / "venv"
PYPI = ("scikit-learn==1.9.1", "river==0.26.1", "statsmodels==0.15.0", "pandas==3.1.1")
R_PACKAGES = ("mlbench", "kernlab", "ggplot2", "modeldata", "dplyr", "survival")
DEBIAN = ("r-base-core", *(f"r-cran-{package}" for package in R_PACKAGES))
SEED = 0


class Recipe(NamedTuple):
    """How a table becomes a data set."""

    label: str  # column of classes, or of the target
    bins: int = 0  # classes into which a measured target is cut
    about: str = ""


OF_R = {
    "letter": Recipe("lettr", about="printed letters"),
    "satellite": Recipe("classes", about="soil in satellite images"),
    "dna": Recipe("Class", about="splice junctions in genes"),
    "vowel": Recipe("Class", about="spoken vowels"),
    "vehicle": Recipe("Class", about="silhouettes of vehicles"),
    "soybean": Recipe("Class", about="diseases of soybeans"),
    "pima": Recipe("diabetes", about="diabetes"),
    "waveform": Recipe("class", about="made up: mixtures of three waves with noise"),
    "threenorm": Recipe("class", about="made up: one normal distribution between two"),
    "friedman": Recipe("class", bins=8, about="made up: Friedman's first function with noise"),
    "spam": Recipe("type", about="unwanted mail, by frequencies of words"),
    "caravan": Recipe("CARAVAN", about="who insures a caravan"),
    "income": Recipe("INCOME", about="household income in nine steps"),
    "diamonds-cut": Recipe("cut", about="quality of cut of a diamond"),
    "diamonds-clarity": Recipe("clarity", about="clarity of a diamond"),
    "diamonds-price": Recipe("price", bins=10, about="price of a diamond"),
    "texas-housing": Recipe("median", bins=8, about="median price of houses in a month"),
    "storms": Recipe("status", about="kind of a tropical storm, by place, time and pressure"),
    "cells": Recipe("class", about="cells in images that were segmented well"),
    "credit": Recipe("Status", about="credits that were paid back"),
    "grid-jobs": Recipe("class", about="how long a computing job takes"),
    "lending": Recipe("Class", about="loans that fail"),
    "lending-grade": Recipe("grade", about="a lender's grade of a loan, without its interest"),
    "phone-churn": Recipe("churn", about="customers who leave, simulated"),
    "remote-work": Recipe("Remote", about="programmers who work from afar"),
    "internet-churn": Recipe("churn", about="customers who leave"),
    "ames": Recipe("Sale_Price", bins=10, about="price of a house"),
    "check-times": Recipe("check_time", bins=8, about="how long a package takes to check"),
    "ridership": Recipe("ridership", bins=7, about="passengers at a station on a day"),
    "light-chains": Recipe("death", about="who died, by immunoglobulins"),
    "rotterdam": Recipe("recur", about="cancer that came back"),
}
OF_PYTHON = {
    "digits": Recipe("class", about="written digits"),
    "breast-cancer": Recipe("class", about="kinds of tumours"),
    "wide": Recipe("class", about="made up: clusters, 360 of 400 columns useless"),
    "twenty": Recipe("class", about="made up: clusters of twenty classes"),
    "bananas": Recipe("class", about="made up: two shapes like bananas"),
    "segments": Recipe("class", about="what a piece of an image shows"),
    "led": Recipe("class", about="made up: digits of seven lamps, a tenth of them wrong"),
    "radial": Recipe("class", about="made up: fifty clusters of twelve classes"),
    "random-tree": Recipe("class", about="made up: a decision tree"),
    "marriage": Recipe("rate_marriage", about="how a marriage is rated, in five steps"),
    "doctor-visits": Recipe("mdvis", bins=8, about="visits to a doctor in a year"),
}
RECIPES = OF_R | OF_PYTHON
ABOUT_PAPER = dict(
    zip(PAPER, ("state of radiators", "kind of trees", "occupation of a person"), strict=True)
)


def main() -> int:
    """Make what is missing and describe everything; 1 if something could not be had."""
    wanted = sys.argv[1:] or [*PLAIN, *GRADED]
    if unknown := set(wanted) - set(RECIPES):
        say(f"not known: {', '.join(sorted(unknown))}; there are: {', '.join(RECIPES)}")
        return 2
    missing = [name for name in wanted if not file_of(name).exists()]
    RAW.mkdir(parents=True, exist_ok=True)
    export_from_r([name for name in missing if name in OF_R])
    export_from_python([name for name in missing if name in OF_PYTHON])
    for name in missing:
        if (raw := RAW / f"{name}.csv").exists():
            data_set(pl.read_csv(raw, infer_schema_length=None), RECIPES[name]).write_parquet(
                file_of(name)
            )
            raw.unlink()
    return describe()


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def file_of(name: str) -> Path:
    """Return where a set is, or is to be."""
    return FOLDER / f"{name}.parquet"


def export_from_r(names: list[str]) -> None:
    """Let R write these tables, and its packages be installed before."""
    if not names:
        return
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *DEBIAN]
    if not r_is_ready() and not succeeds(install):
        say(f"R or its packages are missing: run as root  {' '.join(install)}")
        return
    export(["Rscript", str(HERE / "bakeoff" / "export.R")], names)


def r_is_ready() -> bool:
    """Tell whether R is there, with the packages."""
    ask = ";".join(f"library({package})" for package in R_PACKAGES)
    return shutil.which("Rscript") is not None and succeeds(["Rscript", "-e", ask])


def export_from_python(names: list[str]) -> None:
    """Let Python packages write these tables, in an environment of their own."""
    if not names:
        return
    python, ready = VENV / "bin" / "python", VENV / ".ready"
    if not ready.exists():
        say(f"installing {', '.join(PYPI)} in {VENV}")
        made = succeeds([sys.executable, "-m", "venv", "--clear", str(VENV)])
        if not made or not succeeds([str(python), "-m", "pip", "install", "--quiet", *PYPI]):
            say(f"not to be had: {', '.join(PYPI)}")
            return
        ready.touch()
    export([str(python), str(HERE / "bakeoff" / "export.py")], names)


def succeeds(command: list[str]) -> bool:
    """Tell whether a command can be run and ends well; its last complaint is shown otherwise."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        say(f"{command[0]}: {error}")
        return False
    if done.returncode:
        say(f"{command[0]}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    return not done.returncode


def export(command: list[str], names: list[str]) -> None:
    """Run a program that writes tables, and keep what it says about their sources."""
    done = subprocess.run([*command, str(RAW), *names], text=True, stdout=-1, check=False)
    with SOURCES.open("a") as file:
        file.write(done.stdout)


def data_set(frame: pl.DataFrame, recipe: Recipe) -> pl.DataFrame:
    """Return the table as giro reads it."""
    labels = frame[recipe.label]
    if recipe.bins:
        labels = pl.Series(binned(labels.to_numpy(), recipe.bins))
    columns: list[pl.Series] = []
    for column in frame.drop(recipe.label):
        columns += filled(column.alias(f"x_{column.name}"))
    whole = pl.DataFrame([*columns, labels.alias(LABEL)])
    if whole.height > MOST_ROWS:
        rows = stream(SEED).choice(whole.height, MOST_ROWS, replace=False)
        whole = whole[np.sort(rows)]
    return whole


def binned(target: np.ndarray, bins: int) -> np.ndarray:
    """Return classes 0, 1, ... in the order of the target, of about as many rows each."""
    edges = np.unique(np.quantile(target, np.arange(1, bins) / bins))
    return np.unique(np.searchsorted(edges, target, side="right"), return_inverse=True)[1]


def filled(column: pl.Series) -> list[pl.Series]:
    """Return the column without gaps, as numbers where it has two words; then where gaps were."""
    if not column.dtype.is_numeric():
        words = column.cast(str).fill_null("missing")
        if words.n_unique() == 2:
            return [(words == words.max()).cast(pl.Int8).alias(column.name)]
        return [words]
    if not column.null_count():
        return [column]
    gaps = column.is_null().cast(pl.Int8).alias(f"{column.name}_missing")
    return [column.fill_null(column.median()), gaps]


class Line(NamedTuple):
    """What the table says about a set."""

    name: str
    about: str
    source: str
    licence: str
    rows: int
    columns: int
    arms: int
    reward: str
    commonest: float  # share of rows
    half: str
    digest: str


def describe() -> int:
    """Print the sets; write the table if none is missing."""
    there = [name for name in RECIPES if file_of(name).exists()]
    lines = [line_of(name, RECIPES[name].about) for name in there]
    lines += [line_of(name, ABOUT_PAPER[name]) for name in PAPER]
    for line in lines:
        numbers = f"{line.rows:>7,}{line.columns:>5}{line.arms:>4}  {line.commonest:.3f}"
        say(f"{line.name:<18}{numbers}  {line.half:<8}{line.reward:<8}{line.source}")
    if missing := sorted(set(RECIPES) - set(there)):
        say(f"missing: {', '.join(missing)}; {RESULTS.name} is left as it was")
        return 1
    records = [x._asdict() | {"commonest": f"{x.commonest:.3f}"} for x in lines]
    write_csv(RESULTS, records, note=str(stamp("python scripts/bakeoff_sets.py")))
    return 0


def line_of(name: str, about: str) -> Line:
    """Return the line of a set that is there."""
    problem = Classification.parse(problem_text(name))
    assert isinstance(problem, Classification)
    rows = problem.rows
    source, licence = sources().get(name, ("giro", "see datasets/CREDITS.md"))
    return Line(
        name,
        about,
        source,
        licence,
        rows.labels.size,
        problem.n_features,
        problem.n_arms,
        "graded" if problem.graded else "0 or 1",
        float(np.bincount(rows.labels).max() / rows.labels.size),
        half_of(name),
        digest_of(rows),
    )


def sources() -> dict[str, tuple[str, str]]:
    """Return package with version, and licence, of each set; what was noted last counts."""
    if not SOURCES.exists():
        return {}
    with SOURCES.open(newline="") as file:
        found = [row for row in csv.reader(file, delimiter="\t") if len(row) == 4]
    return {
        name: (f"{package} {version}", licence.removesuffix(" + file LICENSE"))
        for name, package, version, licence in found
    }


if __name__ == "__main__":
    sys.exit(main())
