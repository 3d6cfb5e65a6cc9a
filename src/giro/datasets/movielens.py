"""MovieLens: ratings of films by users, read from the package recbole.

recbole 1.2.1 contains the 100,000 ratings of MovieLens as an example. We may not ship them.
"""

import importlib.util
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from giro.errors import BadFile

if TYPE_CHECKING:
    import polars as pl

VARIABLE = "GIRO_MOVIELENS"  # a folder or a wheel, in place of the installed package
INSIDE = "recbole/dataset_example/ml-100k"
WAY_OUT = (
    "pip install --no-deps recbole==1.2.1, or pip download it and name the wheel, or a folder with "
    f"its files ml-100k.inter, .item and .user: movielens:path=WHEEL, or {VARIABLE}=WHEEL in the "
    "environment"
)
_BIRTHDAYS = (18, 25, 35, 45, 50, 56)  # the first ages of the groups, as in MovieLens 1M
_COLUMNS = {
    "inter": ("user_id", "item_id", "rating"),
    "item": ("item_id", "release_year", "class"),
    "user": ("user_id", "age", "gender", "occupation"),
}


class Ratings(NamedTuple):
    """Ratings by user, and the features of users and films."""

    begin: np.ndarray  # [user + 1] a user's ratings start at begin[user]
    film: np.ndarray  # [rating] ascending for each user
    stars: np.ndarray  # [rating] 1, ..., 5
    users: np.ndarray  # [user, feature] 0 or 1: age group, gender, occupation
    films: np.ndarray  # [film, feature] 0 or 1: genres, decade
    user_columns: tuple[str, ...]  # names of the features
    film_columns: tuple[str, ...]


def read_movielens(path: Path | None = None) -> Ratings:
    """Return the ratings in a folder or a wheel of recbole, by default those of the environment.

    Users and films are in the order of their files. Age groups begin at 18, 25, 35, 45, 50 and 56.
    A film of an unknown year has no decade.
    """
    place = _default_place() if path is None else path
    inter, item, user = (_table(place, kind) for kind in _COLUMNS)
    try:
        return _ratings(inter, item, user)
    except (ValueError, KeyError) as error:
        raise BadFile(f"{place} holds no ratings of films by users: {error}") from None


def _default_place() -> Path:
    """Return the place that the environment names, or the installed package."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    package = importlib.util.find_spec("recbole")  # without importing it, which needs torch
    if package is None or package.origin is None:
        raise BadFile(f"the ratings of movielens are in the package recbole: {WAY_OUT}")
    return Path(package.origin).parents[1] / INSIDE


def _table(place: Path, kind: str) -> "pl.DataFrame":
    """Return the columns of a file that are used, as words, with the types cut from their names."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    name = f"ml-100k.{kind}"
    try:
        if place.is_file():
            with zipfile.ZipFile(place) as packed:
                text = packed.read(f"{INSIDE}/{name}")
        else:
            text = (place / name).read_bytes()
        frame = pl.read_csv(text, separator="\t", quote_char=None, infer_schema=False)
        columns = frame.rename(lambda column: column.split(":")[0]).select(_COLUMNS[kind])
    except (OSError, KeyError, zipfile.BadZipFile, pl.exceptions.PolarsError) as error:
        reason = str(error).split("\n")[0]
        raise BadFile(f"{place} has no readable {name} ({reason}): {WAY_OUT}") from None
    return columns.fill_null("")


def _ratings(inter: "pl.DataFrame", item: "pl.DataFrame", user: "pl.DataFrame") -> Ratings:
    """Return the ratings in order of users and films, with words as features."""
    user_of = {name: i for i, name in enumerate(user["user_id"])}
    film_of = {name: i for i, name in enumerate(item["item_id"])}
    rater = np.array([user_of[name] for name in inter["user_id"]], np.int64)
    film = np.array([film_of[name] for name in inter["item_id"]], np.int64)
    stars = np.array([float(word) for word in inter["rating"]])
    if not ((stars >= 1.0) & (stars <= 5.0)).all():
        raise ValueError("a rating is a number from 1 to 5")
    order = np.lexsort((film, rater))
    rater, film, stars = rater[order], film[order], stars[order]
    if ((np.diff(rater) == 0) & (np.diff(film) == 0)).any():
        raise ValueError("a user rated the same film twice")
    users, user_columns = _ones(
        [
            [f"age={_group(int(age)):02}", f"gender={gender}", f"occupation={occupation}"]
            for age, gender, occupation in user.select("age", "gender", "occupation").iter_rows()
        ]
    )
    films, film_columns = _ones(
        [
            [*(f"genre={genre}" for genre in genres.split()), *_decade(year)]
            for year, genres in item.select("release_year", "class").iter_rows()
        ]
    )
    begin = np.searchsorted(rater, np.arange(len(user_of) + 1))
    return Ratings(begin, film, stars, users, films, user_columns, film_columns)


def _group(age: int) -> int:
    """Return the first age of the group that this age belongs to."""
    return max((first for first in _BIRTHDAYS if first <= age), default=0)


def _decade(year: str) -> list[str]:
    return [f"decade={int(year) // 10 * 10}"] if year.isdecimal() else []


def _ones(rows: list[list[str]]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return an indicator array, [row, word], and all words in sorted order."""
    words = tuple(sorted({word for row in rows for word in row}))
    table = [[float(word in row) for word in words] for row in map(set, rows)]
    return np.array(table).reshape(len(rows), len(words)), words
