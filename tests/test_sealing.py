"""Exported files say when they are damaged: no bit flips without notice."""

import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from giro import BadFile, Bandit, read_log
from giro.sealing import check_parquet, checked_lines, sealed_lines, sealed_parquet
from giro.seeds import stream

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": ["x", 'y","check":"00000000"}', None]})


@pytest.fixture(scope="module")
def bandit() -> Bandit:
    bandit = Bandit(["a", "ä"], "ucb1", seed=1)
    for i, decision in enumerate(bandit.decide_many(30)):
        bandit.reward(decision.id, i / 30)
    return bandit


def flipped(content: bytes, n: int) -> list[bytes]:
    """Return copies of which each has one other bit flipped."""
    copies, rng = [], stream(4)
    for place in rng.choice(len(content) * 8, n, replace=False).tolist():
        copy = bytearray(content)
        copy[place // 8] ^= 1 << place % 8
        copies.append(bytes(copy))
    return copies


@pytest.mark.parametrize("read", [Bandit.replay, read_log])
@pytest.mark.parametrize("name", ["events.parquet", "events.jsonl"])
def test_a_flipped_bit_is_found(bandit: Bandit, read: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    bandit.write_events(path)
    read(path)
    for copy in flipped(path.read_bytes(), 200):
        path.write_bytes(copy)
        with pytest.raises(BadFile, match=r"is damaged|cannot be read"):
            read(path)


def test_the_seal_of_parquet_is_found_damaged_wherever_a_bit_flips(tmp_path: Path) -> None:
    path, whole = tmp_path / "x.parquet", sealed_parquet(FRAME)
    assert pl.read_parquet(io.BytesIO(whole)).equals(FRAME)
    for place in range(whole.rindex(b"giro.sha256") - 30, len(whole)):
        path.write_bytes(whole[:place] + bytes((whole[place] ^ 4,)) + whole[place + 1 :])
        with pytest.raises(BadFile, match="is damaged"):
            check_parquet(path)
    path.write_bytes(whole[:-9] + whole[-8:])
    with pytest.raises(BadFile, match="is damaged"):
        check_parquet(path)


def test_lines_are_checked_one_by_one(tmp_path: Path) -> None:
    path, whole = tmp_path / "x.jsonl", sealed_lines(FRAME)
    assert pl.read_ndjson(io.BytesIO(whole)).drop("check").equals(FRAME)
    path.write_bytes(whole)
    assert pl.read_ndjson(io.BytesIO(checked_lines(path))).equals(FRAME)
    one, two, three = whole.splitlines()
    for lines in ([one, three], [one, two, three] * 2, [one, b"", two + b"\r"]):
        path.write_bytes(b"\n".join(lines))
        checked_lines(path)  # chosen, joined and with other ends of lines
    for lines in ([one, b'{"a": 2, "b": "y"}'], [one, two.replace(b"2", b"3", 1)], [one, two[:-3]]):
        path.write_bytes(b"\n".join(lines))
        with pytest.raises(BadFile, match="is damaged: line 2"):
            checked_lines(path)


def test_files_without_a_seal_are_read(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "x.parquet")
    check_parquet(tmp_path / "x.parquet")
    FRAME[:1].write_ndjson(tmp_path / "x.jsonl")
    assert checked_lines(tmp_path / "x.jsonl") == (tmp_path / "x.jsonl").read_bytes()
    (tmp_path / "empty.parquet").write_bytes(b"")
    check_parquet(tmp_path / "empty.parquet")
