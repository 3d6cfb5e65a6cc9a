"""The decisions and rewards of a log as columns, in the order of the decisions."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from giro.bandit.event import Decided, Event, Rewarded
from giro.progress import Task


class History(NamedTuple):
    """Which arm was chosen when, and the reward that came of it."""

    names: tuple[str, ...]  # of all arms
    arm: np.ndarray  # [decision] place of its arm among the names
    time: np.ndarray  # [decision] seconds
    reward: np.ndarray  # [decision] NaN without one


def history(rows: Iterable[tuple[int, Event]], arms: Sequence[str], task: Task) -> History:
    """Return the history in the events of a log.

    `arms` are the names of arms that have numbers; others follow in the order in which they came.
    The task counts events.
    """
    places = {name: arm for arm, name in enumerate(arms)}
    place_of = dict[str, int]()
    chosen, times, rewards = list[int](), list[float](), list[float]()
    for _, event in rows:
        if isinstance(event, Decided):
            name = event.names[event.position] if event.names else arms[event.arm]
            place_of[event.id] = len(chosen)
            chosen.append(places.setdefault(name, len(places)))
            times.append(event.time)
            rewards.append(np.nan)
        elif isinstance(event, Rewarded) and event.id in place_of:
            rewards[place_of[event.id]] = event.value
        task.advance()
    return History(tuple(places), np.array(chosen, np.int64), np.array(times), np.array(rewards))
