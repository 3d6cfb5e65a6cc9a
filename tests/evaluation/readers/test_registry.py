"""Readers of logs: which there are, who is asked first, and what they are given."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from evaluation.readers.small_table import TABLE, same

from giro import BadFile, BadParameter, UnknownName, evaluate
from giro.evaluation import Log, read_log
from giro.evaluation.readers import _registry
from giro.evaluation.readers._registry import READERS, Options, Source, reader


def test_every_format_has_a_reader_and_lines_of_vw_are_asked_for_first() -> None:
    assert set(READERS) == {"vw", "giro", "open-bandit", "table"}
    assert next(iter(READERS)) == "vw"
    with pytest.raises(UnknownName, match="no format is called 'vm'"):
        read_log(TABLE, format="vm")


@pytest.fixture
def own_readers() -> Iterator[None]:
    """Forget readers that a test registers."""
    before = dict(READERS)
    yield
    READERS.clear()
    READERS.update(before)


@pytest.mark.usefixtures("own_readers")
def test_a_reader_of_ones_own_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "log.mine"
    path.write_text("arm a reward 1")

    @reader("mine", lambda source, options: str(source.path).endswith(".mine"))
    def read_mine(source: Source, options: Options) -> Log:
        assert source.path == path
        return read_log({"arm": ["a"], "reward": [1.0], "probability": [1.0]})

    assert read_log(path).arm_names == ("a",)
    assert read_log(path, format="mine").events == 1
    assert evaluate(path, "always:a")["ips"].value == 1.0


def test_a_source_that_is_no_table_has_no_columns(tmp_path: Path) -> None:
    assert Source(TABLE).columns == set(TABLE)
    assert Source(pl.DataFrame(TABLE)).columns == set(TABLE)
    broken = tmp_path / "log.jsonl"
    broken.write_text('{"arm": ')
    for path in (tmp_path, broken):
        source = Source(path)
        assert source.columns == set()
        with pytest.raises(BadFile):
            assert source.frame is None
    with pytest.raises(BadFile, match="there is no file"):
        Source(tmp_path / "nothing.csv")


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_a_file_is_read_as_its_ending_says(ending: str, tmp_path: Path) -> None:
    frame, path = pl.DataFrame(TABLE), tmp_path / f"log.{ending.upper()}"
    if ending == "parquet":
        frame.write_parquet(path)
    elif ending == "csv":
        frame.write_csv(path)
    else:
        frame.write_ndjson(path)
    assert _registry.frame_of_file(path).equals(frame)
    assert same(read_log(path), read_log(TABLE))
    with pytest.raises(BadFile, match=r"a log is a .* file, got"):
        read_log(path.rename(tmp_path / "log.xls"))


def test_only_tables_are_tables() -> None:
    for wrong in (7, object(), [1, 2]):
        with pytest.raises(BadParameter, match="a log is a DataFrame, a mapping of columns or a"):
            read_log(wrong)
