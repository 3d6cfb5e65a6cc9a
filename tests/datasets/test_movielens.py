"""Where ratings of films are found."""

import zipfile
from pathlib import Path
from typing import Any

import films
import numpy as np
import pytest

from giro import Problem
from giro.datasets import movielens as data
from giro.datasets.movielens import VARIABLE, read_movielens


def test_ratings_are_read_from_a_folder_a_wheel_or_the_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = read_movielens()
    folder = films.write(tmp_path / "site" / data.INSIDE)
    wheel = tmp_path / "recbole.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        for path in folder.iterdir():
            packed.write(path, f"{data.INSIDE}/{path.name}")
    (folder.parents[1] / "__init__.py").write_text("raise RuntimeError('never imported')")
    monkeypatch.delenv(VARIABLE)
    monkeypatch.syspath_prepend(tmp_path / "site")
    for found in (read_movielens(folder), read_movielens(wheel), read_movielens()):
        parts: Any = zip(found, wanted, strict=True)
        assert all(np.array_equal(one, other) for one, other in parts)
    assert Problem.parse(f"movielens:path={wheel}").n_arms == films.N_FILMS
