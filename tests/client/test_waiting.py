"""What waits is in a file: in order, for one service, and after a crash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from giro import StoreError
from giro.client.waiting import DECISION, REWARD, Item, Waiting

D = Item("button", DECISION, "x", {"id": "x", "taken": "red"})
R = Item("button", REWARD, "x", {"id": "x", "value": 1.0})


def plain(items: list[Item]) -> list[Item]:
    return [item._replace(number=0) for item in items]


@pytest.mark.parametrize("name", ["queue.db", None])
def test_items_come_out_in_order_those_of_one_kind_together(
    name: str | None, tmp_path: Path
) -> None:
    waiting = Waiting(tmp_path / name if name else None, "http://giro")
    assert not waiting.is_there
    assert (len(waiting), waiting.first(9), waiting.refused()) == (0, [], [])
    waiting.put([D, R, D._replace(id="y"), D._replace(bandit="other")])
    assert plain(waiting.first(9)) == [D, D._replace(id="y")]
    assert plain(waiting.first(1)) == [D]
    assert waiting.decision("button", ["z", "x"]) == D.body
    assert waiting.decision("button", ["z"]) is None
    assert waiting.holds("button", ["z", "x"])
    assert not waiting.holds("other", ["z"])
    waiting.settle(waiting.first(9), [None, "why not"])
    assert plain(waiting.first(9)) == [R]
    assert [(each.id, each.detail) for each in waiting.refused()] == [("y", "why not")]
    assert not waiting.holds("button", ["y"])
    assert len(waiting) == 2
    waiting.close()


def test_decisions_come_together_though_rewards_wait_between_them(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path / "q", "a")
    for id in "xyz":
        waiting.put([D._replace(id=id), R._replace(id=id)])
    assert plain(waiting.first(3)) == [D._replace(id=id) for id in "xyz"]
    waiting.settle(waiting.first(3), [None] * 3)
    assert plain(waiting.first(2)) == [R._replace(id=id) for id in "xy"]
    waiting.close()


def test_a_file_may_serve_several_services_and_processes(tmp_path: Path) -> None:
    one, same, other = (Waiting(tmp_path / "q", name) for name in ("a", "a", "b"))
    one.put([D])
    other.put([R])
    assert plain(one.first(9)) == [D]
    assert (len(same), same.is_there) == (0, False)  # it looks when it keeps something itself
    same.put([R])
    assert plain(same.first(9)) == [D]
    assert plain(other.first(9)) == [R]
    for each in (one, same, other):
        each.close()


CRASH = """
import os, sys
from giro.client.waiting import Item, Waiting
Waiting(sys.argv[1], "a").put([Item("button", "reward", "x", {"id": "x"})])
os.kill(os.getpid(), 9)
"""


def test_what_was_kept_survives_a_crash(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CRASH, str(tmp_path / "q")], check=False)
    assert done.returncode == -9
    waiting = Waiting(tmp_path / "q", "a")
    assert waiting.is_there
    assert [item.id for item in waiting.first(9)] == ["x"]
    waiting.close()


def test_a_file_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path / "nowhere" / "q", "a")
    with pytest.raises(StoreError, match="cannot keep what waits"):
        waiting.put([D])
    (tmp_path / "text").write_text("no database" * 100, "utf-8")
    with pytest.raises(StoreError, match="text cannot keep"):
        Waiting(os.fspath(tmp_path / "text"), "a")
