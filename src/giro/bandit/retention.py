"""Retention: older events leave a log when a snapshot holds all that was learned from them.

Now and then a snapshot is kept as a milestone. When it is old enough it becomes the base of the
log, and the events up to it leave, except settings, schemas, arms, and decisions whose reward came
later or has not come. Their positions are not given to others.
"""

from collections.abc import Sequence
from typing import NamedTuple

from giro.bandit.event import Erased, Event
from giro.bandit.setting import Setting
from giro.bandit.stores.store import Milestone, Store

_GROUP = 1000  # events that are copied together
STEPS = 4  # milestones within the time, or the rewards, that are retained


class Progress(NamedTuple):
    """How far a log has come."""

    position: int
    time: float
    rewards: int


def age(milestone: Milestone, setting: Setting, now: Progress) -> float:
    """Return how old a milestone is: at 1 the events before it may leave."""
    ages = [0.0]
    if setting.retain_seconds is not None:
        ages.append((now.time - milestone.time) / setting.retain_seconds)
    if setting.retain_rewards is not None:
        ages.append((now.rewards - milestone.rewards) / setting.retain_rewards)
    return max(ages)


def needs_milestone(milestones: Sequence[Milestone], setting: Setting, now: Progress) -> bool:
    """Return whether the last milestone is old enough for another one."""
    if not milestones:
        return True
    newest = milestones[-1]
    return newest.position < now.position and age(newest, setting, now) >= 1.0 / STEPS


def next_base(milestones: Sequence[Milestone], setting: Setting, now: Progress) -> Milestone | None:
    """Return the last milestone that is old enough, None if none is."""
    old = (each for each in reversed(milestones) if age(each, setting, now) >= 1.0)
    return next(old, None)


def copy_log(source: Store, target: Store, now: float) -> None:
    """Append all events of a log to an empty one, with the same positions and base."""
    base, events, end = source.base(), list[Event](), source.last()
    position = 0
    while position < end:
        for at, event in source.rows(position, _GROUP):
            events += [Erased(event.time)] * (at - position - 1)  # left, and will leave again
            events.append(event)
            position = at
        target.append(events)
        events = []
    if base is not None:
        rewards = int(base.about["n_rewards"])
        target.keep(base, Milestone(base.position, now, rewards))
        target.leave(base.position, now)
