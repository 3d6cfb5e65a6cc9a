"""A bandit's file: whole or refused, and files of this format go on."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from bandit.clock import Clock, bandit_of
from bandit.eventful import eventful, futures

from giro import BadFile, BadParameter, Bandit


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    eventful().save(tmp_path / "x.giro")
    return tmp_path / "x.giro"


def test_a_file_cut_short_anywhere_is_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for length in (0, 5, 13, 14, 60, 79, 80, len(content) // 2, len(content) - 1):
        saved.write_bytes(content[:length])
        with pytest.raises(BadFile, match=r"not a bandit saved by giro|damaged"):
            Bandit.load(saved)


def test_a_file_altered_anywhere_is_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for position in [*range(0, 90, 3), *range(90, len(content), max(1, len(content) // 40))]:
        saved.write_bytes(
            content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]
        )
        with pytest.raises(BadFile):
            Bandit.load(saved)


def test_files_of_other_kinds_and_of_newer_versions_are_refused(saved: Path) -> None:
    newer = saved.read_bytes().replace(b"giro-bandit 5\n", b"giro-bandit 6\n", 1)
    saved.write_bytes(newer)
    with pytest.raises(BadFile, match="saved by another giro, in format 6"):
        Bandit.load(saved)
    body = b"neither parquet nor zip"
    digest = hashlib.sha256(body).hexdigest().encode()
    for form, message in ((b"5", "damaged"), (b"4", "in format 4; this one reads format 5")):
        saved.write_bytes(b"giro-bandit " + form + b"\n" + digest + b"\n" + body)
        with pytest.raises(BadFile, match=message):
            Bandit.load(saved)
    saved.write_bytes(b"PK\x03\x04 something else")
    with pytest.raises(BadFile, match="not a bandit"):
        Bandit.load(saved)
    with pytest.raises(BadFile, match="no file"):
        Bandit.load(saved.with_name("missing"))
    with pytest.raises(BadFile, match="cannot be read"):
        Bandit.load(saved.parent)


def _crash(*_: object) -> None:
    raise OSError("disk on fire")


def test_a_crash_while_saving_leaves_the_old_file(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()
    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, _crash)
            with pytest.raises(BadFile, match=r"x\.giro cannot be written: disk on fire"):
                bandit_of().save(saved)
        assert saved.read_bytes() == before
        assert os.listdir(saved.parent) == [saved.name]


GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("path", [GOLDEN / "format-5.giro"], ids=lambda path: path.stem)
def test_files_written_before_are_read_and_go_on(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())
    bandit = Bandit.load(path)
    assert bandit.arms == expected["arms"]
    assert bandit.n_rewards == expected["rewards"]
    told = bandit.events().filter(kind="decision")["propensity"].to_list()
    assert len(told) == len(expected["propensities"])
    assert told == pytest.approx(expected["propensities"], abs=1e-12)
    again = Bandit.replay(bandit.events())
    assert again.events().drop("setting").equals(bandit.events().drop("setting"))
    mine = futures(bandit)
    assert mine == futures(Bandit.load(path))
    assert [list(step) for step in mine] == [
        [id, arm, pytest.approx(p, abs=1e-12)] for id, arm, p in expected["next"]
    ]


def write_golden(name: str) -> None:
    """Write the file of this version and what is expected of it; run by hand, once a version."""
    GOLDEN.mkdir(exist_ok=True)
    bandit = eventful()
    bandit.save(GOLDEN / f"{name}.giro")
    expected = {
        "arms": bandit.arms,
        "rewards": bandit.n_rewards,
        "propensities": bandit.events()["propensity"].drop_nulls().to_list(),
        "next": futures(bandit),
    }
    (GOLDEN / f"{name}.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")


def test_a_saved_bandit_moves_into_a_store(tmp_path: Path) -> None:
    bandit = Bandit(["a", "b"], "thompson", clock=Clock())
    for i in range(12):
        bandit.reward(bandit.decide().id, float(i % 2))
    bandit.save(tmp_path / "x.giro")
    store = f"sqlite:///{tmp_path}/x.db"
    with Bandit.load(tmp_path / "x.giro", store=store, name="moved", clock=Clock()) as moved:
        assert moved.events().equals(bandit.events())
        assert moved.decide(id="q") == bandit.decide(id="q")
        moved.save(tmp_path / "y.giro")
    back = Bandit.load(tmp_path / "y.giro")
    assert back.events().equals(bandit.events())
    with pytest.raises(BadParameter, match="already has a bandit 'moved'"):
        Bandit.load(tmp_path / "x.giro", store=store, name="moved")
