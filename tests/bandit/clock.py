"""A clock that tests move by hand, and bandits that use it."""

import itertools
from collections.abc import Callable
from typing import Any

from giro import Bandit, Decision
from giro.bandit.state import BanditState
from giro.live import LivePolicy


class Clock:
    """Seconds that pass only when told."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def counted(word: str = "") -> Callable[[], str]:
    """Return a source of ids 0, 1, 2, ... behind a word, so that decisions can be made again."""
    return (f"{word}{i}" for i in itertools.count()).__next__


def next_arms(bandit: Bandit, n: int, **rest: Any) -> list[str]:
    """Return the arms of n decisions, whose ids are the same for every bandit."""
    bandit._new_id = counted("next ")
    return [decision.arm for decision in bandit.decide_many(n, **rest)]


def bandit_of(policy: Any = "ucb1", arms: str = "abc", **rest: Any) -> Bandit:
    """Return a bandit whose arms are letters."""
    options: dict[str, Any] = {"seed": 3, "clock": Clock(), "ids": counted()}
    return Bandit(list(arms), policy, **(options | rest))


def state_of(bandit: Bandit) -> tuple[Any, ...]:
    """Return all that a bandit is: its log, and what it would decide next."""
    events = bandit.events()
    return repr(events.rows()), bandit.arms, [(d.id, d.arm) for d in bandit.pending()]


def chances_of(decision: Decision) -> dict[str, float]:
    """Return the probabilities of all arms, which are known."""
    assert decision.propensities is not None
    return decision.propensities


def live_of(state: BanditState) -> LivePolicy:
    """Return the policy of a state that knows its schema."""
    assert state.live is not None
    return state.live
