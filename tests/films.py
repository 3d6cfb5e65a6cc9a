"""Made-up ratings in the format of MovieLens in recbole; the problem `movielens` is of these here.

Whoever imports this finds them, and what it starts; the real ones are tried where they are found.
"""

import os
import tempfile
from pathlib import Path

from giro.datasets.movielens import VARIABLE
from giro.seeds import stream

REAL = os.environ.get(VARIABLE)  # if named
N_USERS, N_FILMS = 6, 15
AGES = (7, 18, 34, 35, 56, 73)
GENRES = ("Comedy", "Drama Film-Noir", "Drama", "unknown")
YEARS = ("1994", "1931", "V")


def ratings() -> list[tuple[int, int, int]]:
    """Return (user, film, stars); user 1 has too few, user 2 just enough, the others more."""
    rng, found = stream(3), []
    for user in range(1, N_USERS + 1):
        films = rng.permutation(N_FILMS)[: (9, 10, 11, 12, 15, 13)[user - 1]] + 1
        found += [(user, int(film), int(rng.integers(1, 6))) for film in films]
    return found


def write(folder: Path) -> Path:
    """Write the three files."""
    folder.mkdir(parents=True, exist_ok=True)
    inter = [f"{user}\t{film}\t{stars}\t88{user}{film}" for user, film, stars in ratings()]
    item = [
        f'{film}\tThe "{film}", Part\t{YEARS[film % 3]}\t{GENRES[film % 4]}'
        for film in range(1, N_FILMS + 1)
    ]
    user = [
        f"{i + 1}\t{age}\t{'FM'[i % 2]}\t{('artist', 'none')[i // 3]}\t0000{i}"
        for i, age in enumerate(AGES)
    ]
    head = {
        "inter": "user_id:token\titem_id:token\trating:float\ttimestamp:float",
        "item": "item_id:token\tmovie_title:token_seq\trelease_year:token\tclass:token_seq",
        "user": "user_id:token\tage:token\tgender:token\toccupation:token\tzip_code:token",
    }
    for kind, lines in (("inter", inter), ("item", item), ("user", user)):
        (folder / f"ml-100k.{kind}").write_text("\n".join([head[kind], *lines]) + "\n")
    return folder


_there = tempfile.TemporaryDirectory()  # goes with the process
os.environ[VARIABLE] = str(write(Path(_there.name)))
