"""The stamp of a result, and that every file under results/ carries one."""

import json
import re
import subprocess
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from giro import version
from giro.version import Stamp, __version__, stamp

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
FILES = [path for path in sorted(RESULTS.rglob("*")) if path.is_file() and path.suffix != ".md"]
STAMP = re.compile(r"\(giro \d+\.\d+\.\d+\S*, (?:commit|kept since commit) [0-9a-f]{7,}\+?\)")
CODE = {"version", "commit"}, {"version", "kept_since"}


def has_stamp(path: Path) -> bool:
    """Return whether a file says which version and commit of giro made it."""
    if path.suffix == ".json":
        content = json.loads(path.read_text("utf-8"))
        rows = content.get("rows", [])
        return _is_made_by(content["made_by"]) and all(_is_made_by(row["made_by"]) for row in rows)
    if path.suffix == ".png":
        with Image.open(path) as picture:
            text = picture.info.get("Description", "")
    elif path.suffix == ".parquet":
        text = pl.read_parquet_metadata(path).get("made_by", "")
    else:
        text = path.read_text("utf-8").partition("\n")[0]
    return bool(STAMP.search(text))


def _is_made_by(content: dict[str, str]) -> bool:
    return bool(content["command"]) and set(content) - {"command"} in CODE and all(content.values())


def test_results_are_found() -> None:
    assert {path.suffix for path in FILES} == {".csv", ".json", ".parquet", ".png", ".txt"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(RESULTS)))
def test_every_result_says_which_version_and_commit_made_it(path: Path) -> None:
    assert has_stamp(path)


def test_a_file_without_a_stamp_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("# giro reproduce mab --seed 0\na,b\n")
    (tmp_path / "b.csv").write_text(f"# {Stamp('x', '1.2.3', '0123abc')}\na,b\n")
    Image.new("L", (1, 1)).save(tmp_path / "a.png")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "a.parquet")
    assert [has_stamp(path) for path in sorted(tmp_path.iterdir())] == [False, False, False, True]


def test_the_commit_is_that_of_the_checkout() -> None:
    git = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    command, number, commit = stamp("giro simulate")
    assert (command, number) == ("giro simulate", __version__)
    assert done.stdout.startswith(commit.removesuffix("+"))


def test_without_a_checkout_only_the_version_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version, "__file__", str(tmp_path / "src" / "giro" / "version.py"))
    version._commit.cache_clear()
    assert str(stamp("x")) == f"x (giro {__version__})"
    version._commit.cache_clear()
