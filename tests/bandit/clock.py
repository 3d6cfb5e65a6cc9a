"""A clock that tests move by hand, and bandits that use it."""

from typing import Any

from giro import Bandit


class Clock:
    """Seconds that pass only when told."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def bandit_of(policy: Any = "ucb1", arms: str = "abc", **rest: Any) -> Bandit:
    """Return a bandit whose arms are letters."""
    return Bandit(list(arms), policy, **({"seed": 3, "clock": Clock()} | rest))


def state_of(bandit: Bandit) -> tuple[Any, ...]:
    """Return all that a bandit is: its log, and what it would decide next."""
    events = bandit.events()
    return events.rows(), bandit.arms, [(d.id, d.arm) for d in bandit.pending()]
