"""The data sets of the bake-off, and the half that each belongs to.

`scripts/bakeoff_sets.py` makes their files. This file lists those that are present.
"""

import hashlib
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from giro.errors import BadFile

Half: TypeAlias = Literal["tuning", "judging", "paper"]

FOLDER, LABEL = Path(".bakeoff"), "class"
SMALL = 2_000  # rows: smaller sets are shown apart
MOST_ROWS, MOST_ROUNDS = 50_000, 20_000
PAPER_ROUNDS = 50_000
# giro ships them, and constants were chosen on them before
PAPER = ("statlog", "covertype", "adult")

# reward 1 for the right class
PLAIN = tuple(
    """
    letter satellite dna spam caravan diamonds-cut cells credit grid-jobs lending
    phone-churn remote-work internet-churn storms light-chains bananas segments waveform led
    radial wide twenty diamonds-clarity random-tree threenorm rotterdam digits vowel vehicle
    soybean breast-cancer pima
    """.split()
)
# ordered classes: reward falls with the distance from the right one
GRADED = tuple(
    """
    income diamonds-price ames check-times ridership marriage doctor-visits friedman
    texas-housing lending-grade
    """.split()
)


class BakeoffSet(NamedTuple):
    """A data set of the bake-off, played as a bandit."""

    name: str
    half: Half
    rows: int
    rounds: int  # of a run, in which no row comes twice
    problem: str  # text

    @property
    def small(self) -> bool:
        """Whether it is shown apart because it has few rows."""
        return self.rows < SMALL


def half_of(name: str) -> Half:
    """Return the half of a set, by the first byte of the SHA-256 of its name.

    >>> half_of("letter"), half_of("adult")
    ('tuning', 'paper')
    """
    if name in PAPER:
        return "paper"
    return "judging" if hashlib.sha256(name.encode()).digest()[0] % 2 else "tuning"


def problem_text(name: str, folder: Path = FOLDER) -> str:
    """Return the text of the problem of a set."""
    if name in PAPER:
        return f"classification:data={name},scale=column"
    file = f"data={(folder / name).as_posix()}.parquet,label={LABEL},scale=column"
    return f"classification:{file}" + (",graded=true" if name in GRADED else "")


def sets_there(folder: Path = FOLDER) -> list[BakeoffSet]:
    """Return the sets of both halves whose files are in the folder, in the order of the list."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    sets = []
    for name in (*PLAIN, *GRADED):
        path = folder / f"{name}.parquet"
        rows = pl.scan_parquet(path).select(pl.len()).collect().item() if path.is_file() else 0
        if rows:
            rounds = min(rows, MOST_ROUNDS)
            sets.append(BakeoffSet(name, half_of(name), rows, rounds, problem_text(name, folder)))
    if not sets:
        raise BadFile(
            f"there is no data set of the bake-off in {folder}: "
            "make them with python scripts/bakeoff_sets.py"
        )
    return sets


def paper_sets() -> list[BakeoffSet]:
    """Return the paper's three sets, which belong to neither half and are always present."""
    from giro.datasets.dataset import SHAPES  # noqa: PLC0415  # quick start

    return [
        BakeoffSet(
            name,
            half_of(name),
            SHAPES[name].rows,
            PAPER_ROUNDS,
            problem_text(name),
        )
        for name in PAPER
    ]
