"""`giro warm-up`."""

import re
from typing import Any

import pytest
from cli.conftest import Giro

from giro import Bandit, Policy
from giro.cli import warm_up as command
from giro.compiling.places import Place
from giro.errors import BadParameter


@pytest.fixture(autouse=True)
def noted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What is noted as compiled, instead of noting it."""
    notes: list[tuple[Any, ...]] = []
    monkeypatch.setattr(command, "note_compiled", lambda *note: notes.append(note))
    return notes


@pytest.fixture
def warmed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What bandits are asked to compile, instead of compiling it."""
    asked: list[tuple[Any, ...]] = []

    def warm_up(bandit: Bandit, context: Any = None, *, arms: Any = None) -> None:
        asked.append((bandit.policy.text, context, arms))

    monkeypatch.setattr(Bandit, "warm_up", warm_up)
    return asked


def test_every_policy_is_compiled_for_every_shape_and_its_time_told(
    giro: Giro, warmed: list[Any]
) -> None:
    done = giro("warm-up", "ucb1", "default")
    assert (done.status, done.error) == (0, "")
    *lines, last = done.out.splitlines()
    assert [re.sub(r"\d+\.\d s", "T", line) for line in lines] == [
        "ucb1: ready after T",
        "default: ready after T",
    ]
    assert re.fullmatch(r"kept in .* for the processor \S+", last)
    arms = {"a": [0.5], "b": [0.5], "c": [0.5]}
    shapes = [(None, None), ([0.5], None), (None, arms), ([0.5], arms)]
    assert warmed == [(policy, *shape) for policy in ("ucb1", "default") for shape in shapes]


def test_only_what_is_asked_for_is_compiled_and_noted(
    giro: Giro, warmed: list[Any], noted: list[Any]
) -> None:
    assert giro("warm-up", "lin-ucb", "--features", 2, "--arm-features", 1).status == 0
    ((_, context, arms),) = warmed
    assert context == [0.5, 0.5]
    assert arms == {"a": [0.5], "b": [0.5], "c": [0.5]}
    warmed.clear()
    assert giro("warm-up", "ucb1", "--features", 0).status == 0
    assert warmed == [("ucb1", None, None)]
    assert noted == [(Policy.parse("lin-ucb").text, (1, 1)), ("ucb1", (0, 0))]


def test_shapes_that_a_policy_refuses_are_left_out(
    giro: Giro, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def warm_up(bandit: Bandit, context: Any = None, *, arms: Any = None) -> None:
        asked.append((context, arms))
        if context is None:
            raise BadParameter("it needs contexts")

    monkeypatch.setattr(Bandit, "warm_up", warm_up)
    assert giro("warm-up", "lin-ucb").status == 0
    assert len(asked) == 4
    done = giro("warm-up", "lin-ucb", "--features", 0)
    assert (done.status, done.error) == (2, "giro: it needs contexts\n")


def test_it_fails_where_nothing_can_be_kept(
    giro: Giro, warmed: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = Place(None, frozenset(), writable=False, trouble="/c is read-only", others="")
    monkeypatch.setattr(command, "place", lambda: nowhere)
    done = giro("warm-up", "ucb1")
    assert (done.status, done.out, warmed) == (2, "", [])
    assert "nothing could be kept: /c is read-only; set GIRO_CACHE_DIR" in done.error


def test_an_unknown_policy_is_refused(giro: Giro, warmed: list[Any]) -> None:
    done = giro("warm-up", "gyro")
    assert (done.status, done.out, warmed) == (2, "", [])
    assert "did you mean 'giro'?" in done.error
