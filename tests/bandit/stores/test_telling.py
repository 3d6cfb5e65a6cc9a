"""When a process says that a log has grown."""

import pytest

from giro.bandit.stores import _telling
from giro.bandit.stores._telling import Telling


def test_what_is_told_soon_after_a_message_is_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("giro.bandit.stores._telling.time.monotonic", lambda: now[0])
    telling = Telling()
    assert telling.is_due(1)
    telling.told(1, 5)
    assert not telling.is_due(1)
    assert telling.is_due(2)
    now[0] += _telling.QUIET
    assert telling.is_due(1)


def test_what_was_told_meanwhile_is_not_told_again() -> None:
    telling = Telling()
    telling.held_back(1, 5)
    telling.held_back(1, 6)
    telling.held_back(2, 3)
    telling.held_back(3, 4)
    telling.told(1, 6)
    telling.told(2, 2)
    assert telling.take() == {2: 3, 3: 4}
    assert telling.take() == {}
