"""Compiling in another process."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from giro import Bandit
from giro.bandit import aside
from giro.bandit.aside import ALL_FORMS, are_compiled, compile_aside, note_compiled
from giro.compiling.places import Place


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    where = Place(tmp_path, frozenset(), writable=True, trouble="", others="")
    monkeypatch.setattr(aside, "place", lambda: where)
    return tmp_path


def never() -> bool:
    return False


def test_of_several_at_once_one_compiles_and_the_others_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, ended = list[str](), list[bool]()

    def run_warm_up(policy: str, forms: Sequence[Any], stop: Callable[[], bool]) -> None:
        begun.append(policy)
        assert not ended
        for form in forms:
            note_compiled(policy, form)

    monkeypatch.setattr(aside, "_run_warm_up", run_warm_up)

    def ask() -> None:
        compile_aside("ucb1", [(1, 0)], never)
        ended.append(are_compiled("ucb1", [(1, 0)]))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (begun, ended) == (["ucb1"], [True] * 4)


def test_it_runs_warm_up_in_another_process_and_ends_it_on_request(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    program = "import sys, pathlib; pathlib.Path(sys.argv[-1]).write_text(' '.join(sys.argv[1:-1]))"
    monkeypatch.setattr(aside, "_PROGRAM", program)
    monkeypatch.chdir(folder)
    compile_aside("ucb1", [(1, 0)], never)
    assert Path("0").read_text() == "warm-up ucb1 --features 1 --arm-features"
    monkeypatch.setattr(aside, "_PROGRAM", "import time; time.sleep(600)")
    looks = iter([False, True, True, True])
    compile_aside("ucb1", ALL_FORMS, lambda: next(looks))
    assert not are_compiled("ucb1", ALL_FORMS)


def test_without_a_folder_nothing_is_compiled_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = Place(None, frozenset(), writable=False, trouble="read-only", others="")
    monkeypatch.setattr(aside, "place", lambda: nowhere)
    monkeypatch.setattr(aside, "_PROGRAM", "raise SystemExit(1)")
    compile_aside("ucb1", [(0, 0)], never)
    note_compiled("ucb1", (0, 0))
    assert not are_compiled("ucb1", [(0, 0)])


def test_a_bandit_knows_whether_decisions_like_its_own_are_compiled() -> None:
    bandit = Bandit(["a", "b"], "lin-ucb")
    note_compiled(bandit.policy.text, (1, 0))
    assert not bandit.is_compiled  # decisions of any form may come
    bandit.decide({"x": 1.0})
    assert bandit.is_compiled
    bandit.compile_aside()  # nothing is left to do
