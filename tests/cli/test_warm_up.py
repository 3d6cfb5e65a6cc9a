"""`giro warm-up`."""

import re
from typing import Any

import pytest
from cli.conftest import Giro

from giro import Bandit


@pytest.fixture
def warmed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What bandits are asked to compile, instead of compiling it."""
    asked: list[tuple[Any, ...]] = []

    def warm_up(bandit: Bandit, context: Any = None, *, arms: Any = None) -> None:
        asked.append((bandit.policy.text, context, arms))

    monkeypatch.setattr(Bandit, "warm_up", warm_up)
    return asked


def test_every_policy_is_compiled_and_its_time_told(giro: Giro, warmed: list[Any]) -> None:
    done = giro("warm-up", "ucb1", "epsilon-greedy")
    assert (done.status, done.error) == (0, "")
    lines = done.out.splitlines()
    assert [re.sub(r"\d+\.\d s", "T", line) for line in lines] == [
        f"{text}: ready after T" for text, _, _ in warmed
    ]
    assert [(context, arms) for _, context, arms in warmed] == [(None, None)] * 2


def test_contexts_and_features_of_arms_are_given_if_asked_for(
    giro: Giro, warmed: list[Any]
) -> None:
    assert giro("warm-up", "lin-ucb", "--features", 2, "--arm-features", 1).status == 0
    ((_, context, arms),) = warmed
    assert context == [0.5, 0.5]
    assert arms == {"a": [0.5], "b": [0.5], "c": [0.5]}


def test_an_unknown_policy_is_refused(giro: Giro, warmed: list[Any]) -> None:
    done = giro("warm-up", "gyro")
    assert (done.status, done.out, warmed) == (2, "", [])
    assert "did you mean 'giro'?" in done.error
