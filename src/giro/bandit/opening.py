"""Open a bandit: its first events, or checks that the one in the store is the one asked for."""

import base64
import contextlib
import itertools
import json
import os
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from giro.bandit.event import ArmAdded, Began
from giro.bandit.exchange import check_event, events_in
from giro.bandit.setting import Setting
from giro.bandit.state import BanditState
from giro.bandit.stores import MemoryStore, Store, Taken
from giro.checks import is_word
from giro.errors import BadParameter, GiroError
from giro.policy import Policy
from giro.progress import Task

if TYPE_CHECKING:
    import polars as pl

Ids: TypeAlias = Callable[[], str] | Literal["random", "numbered"]


def begin_log(
    log: Store, setting: Setting, arms: Sequence[str], clock: Callable[[], float]
) -> None:
    """Append the first events, if the log has none."""
    if log.last() == 0:
        began = Began(clock(), json.dumps(setting.to_json()))
        with contextlib.suppress(Taken):  # another process has just made it
            log.append([began, *(ArmAdded(clock(), arm) for arm in arms)], expected=0)


def check_same(asked: Setting, state: BanditState) -> None:
    """Check that a bandit that was there is the one asked for."""
    wanted, kept = asked.to_json(), state.setting.to_json()
    kept["policy"] = state.logged_policy
    for key in wanted.keys() - {"giro"}:
        if wanted[key] != kept[key]:
            raise BadParameter(
                f"the bandit '{asked.name}' in the store has {key}={kept[key]!r}, got "
                f"{wanted[key]!r}; Bandit.open(store, name) opens it as it is, and "
                "Bandit.open(store, name, policy) with another policy"
            )


def check_arms(asked: Sequence[str], arms: Sequence[str], name: str | None) -> None:
    """Check that a bandit that was there has the arms asked for."""
    new = [arm for arm in asked if arm not in arms]
    missing = [arm for arm in arms if arm not in asked]
    if new or missing:
        raise BadParameter(
            f"the bandit '{name}' in the store has other arms: new are {new}, missing are "
            f"{missing}; sync_arms=True adds and retires them, Bandit.open(store, name) opens it "
            "as it is"
        )


def checked_names(arms: object) -> list[str]:
    """Return the names of arms, after checking that they are different words, at least one."""
    names = list(arms) if not isinstance(arms, str) and hasattr(arms, "__iter__") else []
    if not names or not all(map(is_word, names)):
        raise BadParameter(f"arms is a list of names, not empty; got {arms!r}")
    if len(set(names)) < len(names):
        raise BadParameter(f"an arm is named twice in {names}")
    return names


def checked_clock(clock: Callable[[], float]) -> Callable[[], float]:
    """Return a clock that refuses times which are no numbers."""
    if clock is time.time:
        return clock

    def checked() -> float:
        now = clock()
        if not (isinstance(now, int | float | np.number) and abs(now) < np.inf):
            raise BadParameter(f"the clock of a bandit gives seconds, got {now!r}")
        return float(now)

    return checked


def seconds(time: Any) -> Any:
    """Return a length of time in seconds."""
    return time.total_seconds() if isinstance(time, timedelta) else time


def source_of_ids(ids: Ids, store: Store, n_decisions: int) -> Callable[[], str]:
    """Return a function that gives the next decision an id."""
    if callable(ids):
        return ids
    if ids not in ("random", "numbered"):
        raise BadParameter(f"ids is random, numbered or a function, got {ids!r}")
    if ids == "random":
        return _random_id
    if store.shared:
        raise BadParameter("others may use a store, too: ids in it are random, or a function's")
    numbers = (str(number) for number in itertools.count(n_decisions))
    return (number for number in numbers if not store.find([number])).__next__


def _random_id() -> str:
    return base64.urlsafe_b64encode(os.urandom(12)).decode()  # 16 characters


def ids_from(source: Callable[[], str], count: int) -> list[str]:
    """Return the next ids from a source."""
    if source is not _random_id:
        return [source() for _ in range(count)]
    text = base64.urlsafe_b64encode(os.urandom(12 * count)).decode()
    return [text[i : i + 16] for i in range(0, len(text), 16)]


def retained(retain: Any) -> dict[str, Any]:
    """Return how long events stay as settings: a time, or a number of rewards."""
    is_time = isinstance(retain, timedelta)
    return {"retain_seconds" if is_time else "retain_rewards": seconds(retain)}


def replayed(events: "pl.DataFrame", policy: Policy | str | None, task: Task) -> MemoryStore:
    """Return a log of these events, after checking that each follows from those before."""
    store, state, task.total = MemoryStore(), BanditState(policy), events.height
    for event in events_in(events):
        try:
            check_event(event, state)
            store.append([event])
            state.apply([event], store.find)
        except (GiroError, KeyError, TypeError, ValueError) as error:
            raise BadParameter(
                f"event {store.last() + 1} does not follow from those before: {error}"
            ) from error
        task.advance()
    return store
