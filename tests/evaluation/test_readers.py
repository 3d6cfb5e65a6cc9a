"""Which reader a log has, and files that are none."""

from pathlib import Path

import pytest
from evaluation.readers.small_table import TABLE

from giro import BadParameter, Bandit, GiroError
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


def test_a_part_of_a_log_is_that_of_its_events() -> None:
    bandit = Bandit(["a", "b"], "giro-ensemble:model=[hashed:bits=8]", seed=1)
    for i in range(12):
        bandit.reward(bandit.decide({"x": float(i)}, arms=["a", "b"][: 1 + i % 2]).id, i / 12)
    rows = read_log(TABLE)
    for log in (read_log(bandit.events()), rows):
        part = log[1:3]
        assert len(log) == log.events
        assert len(part) == 2
        assert part.reward.tolist() == log.reward[1:3].tolist()
        for event in range(2):
            one, same = part.offer_of(event), log.offer_of(event + 1)
            assert repr(one) == repr(same)
        assert len(log[:0]) == 0
    for wrong in (3, slice(None, None, -1)):
        with pytest.raises(BadParameter, match="a part of a log is a slice"):
            rows[wrong]  # type: ignore[index]  # refused
