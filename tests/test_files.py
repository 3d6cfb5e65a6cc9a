"""A file is written whole or not at all, by every writer."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from giro import BadFile
from giro.files import write_whole
from giro.plots import save
from giro.tables import write_csv


class Crash(Exception):
    """Stands for whatever ends a program in the middle."""


def parts_until_a_crash() -> Iterator[bytes]:
    yield b"half of "
    raise Crash


def test_a_file_has_all_parts_in_folders_that_are_made_for_it(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file"
    write_whole(path, [b"one ", memoryview(b"two")])
    assert path.read_bytes() == b"one two"
    assert os.listdir(path.parent) == ["file"]


def test_a_crash_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(Crash):
        write_whole(path, parts_until_a_crash())
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_cannot_be_written_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, and no folder")
    with pytest.raises(BadFile, match=r"taken.file cannot be written: "):
        write_whole(tmp_path / "taken" / "file", [b"new"])


WRITERS: dict[str, Callable[[Path], None]] = {
    "table.csv": lambda path: write_csv(path, [{"a": 1.0, "b": "ü"}], note="by this"),
    "figure.png": lambda path: save(Figure(), path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_tables_and_figures_are_written_whole(name: str, tmp_path: Path, monkeypatch) -> None:
    def crash(*paths: object) -> None:
        raise Crash

    path = tmp_path / name
    path.write_bytes(b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", crash)
        with pytest.raises(Crash):
            WRITERS[name](path)
    assert path.read_bytes() == b"old"
    WRITERS[name](path)
    assert path.read_bytes() != b"old"
    assert os.listdir(tmp_path) == [name]
