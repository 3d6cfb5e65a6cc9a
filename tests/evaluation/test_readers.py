"""Which reader a log has, and files that are none."""

from pathlib import Path

import pytest
from evaluation.readers.small_table import TABLE

from giro import BadParameter, GiroError
from giro.evaluation import read_log


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("log.csv", None, "there is no file"),
        ("log.txt", b"x", "a log is a .parquet, .csv"),
        ("log.parquet", b"PAR1", "cannot be read as .parquet"),
        ("log.jsonl", b"{", "cannot be read as .jsonl"),
        ("log.dsjson", b'{"_label_cost": 1', "line 1 is not JSON"),
        ("log.csv", b"arm,reward,probability\n", "the log is empty|arms are text"),
    ],
)
def test_wrong_files_are_refused(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(GiroError, match=said):
        read_log(tmp_path / name)


def test_only_features_of_vw_are_hashed_on_request() -> None:
    with pytest.raises(BadParameter, match="Vowpal Wabbit"):
        read_log(TABLE, hashed=True)


def test_vw_is_not_a_table() -> None:
    with pytest.raises(BadParameter, match="read from files"):
        read_log(TABLE, format="vw")
    with pytest.raises(GiroError, match="no format is called 'vv'"):
        read_log(TABLE, format="vv")
