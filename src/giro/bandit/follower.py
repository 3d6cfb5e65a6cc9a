"""Follower: a state that keeps up with a log, its lock, and the thread that does the chores."""

import inspect
import json
import logging
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from giro.bandit import retention
from giro.bandit.event import Decided, Event, Formed, Rewarded
from giro.bandit.lessons import Lessons
from giro.bandit.rewarding import settled
from giro.bandit.state import BanditState
from giro.bandit.stores import Gone, Milestone, Store, Taken
from giro.errors import BadParameter, StoreError
from giro.features import Arms, Given, Schema
from giro.features.messages import hint, short_name
from giro.features.schema import absent_parts, check_fits, fitted
from giro.offer import MOST_PRODUCTS
from giro.policy import Policy
from giro.progress import Task

_LOGGER = logging.getLogger("giro")
_CHUNK = 200  # events that are applied while decisions wait
GROUP = 1000  # rewards that are appended together
_CHORES = 1.0  # seconds between chores
_SNAPSHOT_EVERY = (10_000, 100_000)  # events: a tenth of the log, but within these bounds
_FOLLOWERS: "weakref.WeakSet[Follower]" = weakref.WeakSet()


class Follower:
    """The state of one log in this process: it appends to the log, and goes on from there."""

    def __init__(
        self,
        store: Store,
        policy: Policy | str | None,
        clock: Callable[[], float],
        *,
        stand_in: Policy | None = None,
        task: Task | None = None,
        read_only: bool = False,
    ) -> None:
        """Catch up with a log that has at least its setting.

        If there is no snapshot, `stand_in` plays until `get_ready`. `task` is told how far it is.
        With `read_only` nothing is appended, and no chores are done.
        """
        self.store, self.clock, self._stand_in = store, clock, stand_in
        self.lock = threading.RLock()  # of the state
        self.closed, self.read_only = False, read_only
        self._following = threading.Lock()
        self._retaining = threading.Lock()
        self._is_subscribed = False
        self._next_chores = -np.inf
        self._is_full = False  # new features found no room in the schema
        self._milestones: list[Milestone] | None = None  # as far as this process keeps the log
        self._snapshot_at = 0  # position of the newest snapshot that fits
        self.state = self._opened_state(policy, task or Task())
        _FOLLOWERS.add(self)

    # -- the state ---------------------------------------------------------------------------

    def _opened_state(self, policy: Policy | str | None, task: Task) -> BanditState:
        """Return a state that has all events: the newest snapshot that fits, and those since."""
        states = (BanditState.restored(each, policy) for each in self.store.snapshots())
        state = next((state for state in states if state is not None), None)
        if state is not None:
            self._snapshot_at = state.position
        return self._caught_up(state or self._first_state(policy), policy, task)

    def _first_state(self, policy: Policy | str | None) -> BanditState:
        last, base = self.store.last(), self.store.base()
        if base is None:
            return BanditState(policy, erased=last, stand_in=self._stand_in)
        state, warning = BanditState.of_base(base, policy, erased=last)
        if warning:
            _warn(warning)
        return state

    def _caught_up(
        self,
        state: BanditState,
        policy: Policy | str | None = None,
        task: Task | None = None,
    ) -> BanditState:
        """Return a state that nobody else uses, with all events there are.

        A `policy` that is given plays, whatever the log names.
        """
        task = task or Task()
        task.total = self.store.last()
        while True:
            task.done = state.position
            try:
                events = self.store.read(state.position, 50 * _CHUNK)
            except Gone:
                state = self._first_state(state.policy if policy is None else policy)
                continue
            if events:
                state.apply(events, self.store.find)
            if state.outdated or (not events and policy is None and state.plays_another):
                state = self._first_state(state.policy if policy is None else policy)
            elif not events:
                return state

    def begin_again(self) -> None:
        """Make the state again from the log, under the lock."""
        self.state = self._caught_up(self._first_state(self.state.policy))

    def get_ready(self) -> None:
        """Put the policy itself in the place of the one that stands in."""
        with self._following:
            if self.state.stand_in is not None:
                self._stand_in = None
                self._replace_state()

    def append(self, events: Sequence[Event]) -> None:
        """Append events, all or none, and go on from them."""
        if self.closed:
            raise StoreError("the bandit is closed")
        self.check_writable()
        store = self.store
        learns_aside = self.state.learns_aside
        if not store.shared:
            if learns_aside and _teach(events):
                with self._following:
                    self._append_here(events, self._lessons(events))
            else:
                self._append_here(events, None)
            return
        known = self.state.position
        appended = store.append(events, known=known)
        is_behind = appended.first <= known  # a database that died forgot what nobody was told of
        with self.lock:
            self.state.outdated |= is_behind
            n_learned = self.state.position - appended.after
            left = appended.events[n_learned:] if n_learned >= 0 else ()
            is_next = n_learned >= 0 and not is_behind and not (learns_aside and _teach(left))
            if is_next and left:  # another thread may have learned them
                self.state.apply(left, store.find)
        if not (is_next or is_behind) and learns_aside and not _teach(events):
            return  # whoever brings rewards, or hears of them, applies these events with them
        if not is_next or self.state.outdated or self.state.plays_another:
            self.follow()

    def _append_here(self, events: Sequence[Event], lessons: Lessons | None) -> None:
        """Append events to a log that only this process has."""
        with self.lock:
            self.store.append(events)
            state = self.state
            state.apply(events, self.store.find, lessons)
            if state.outdated or state.plays_another:
                self._replace_state()

    def _lessons(self, events: Sequence[Event]) -> Lessons | None:
        """Return the lessons of events, learned, where decisions go on meanwhile.

        Who calls this follows alone, so that nobody else learns.
        """
        with self.lock:
            lessons = self.state.lessons(events, self.store.find)
        if lessons is not None:
            lessons.learn()
        return lessons

    def check_writable(self) -> None:
        """Refuse changes where the bandit was opened to be looked at."""
        if self.read_only:
            raise BadParameter("the bandit was opened with read_only=True: open it without that")

    def hear(self, position: int) -> None:
        """Catch up with a log that has reached a position."""
        if self.state.position < position:
            self.follow()

    def follow(self) -> None:
        """Apply all events that are in the log, a few at a time: decisions go on in between."""
        with self._following:
            more = True
            while more:
                position = self.state.position
                try:
                    events = self.store.read(position, _CHUNK)
                except Gone:  # this process was far behind
                    self.state.outdated = True
                    break
                more = len(events) == _CHUNK
                lessons = self._lessons(events)
                with self.lock:  # own events may have been applied meanwhile
                    left = events[self.state.position - position :]
                    self.state.apply(left, self.store.find, lessons)
            if self.state.outdated or self.state.plays_another:
                self._replace_state()

    def _replace_state(self) -> None:
        """Make the state again from the log.

        Decisions go on from the old state until the new one is there.
        """
        fresh = self._caught_up(self._first_state(self.state.policy))
        with self.lock:
            self.state = self._caught_up(fresh)

    # -- the schema --------------------------------------------------------------------------

    def formed(self, contexts: Sequence[Given], arms: Arms) -> Schema:
        """Return the schema.

        The first request decides how it begins.
        """
        while True:
            schema = self.state.schema
            if schema is not None:
                return schema
            with self.lock:
                schema = self._first_schema(contexts[0], arms)
                check_fits(schema, contexts, arms)
            self._form(schema, 1)

    def _first_schema(self, context: Given, arms: Arms) -> Schema:
        state, setting = self.state, self.state.setting
        policy = setting.policy
        state.asked(arms)
        schema = fitted(context, arms, setting.empty_schema())
        if schema.interactions and schema.arms is None:
            raise BadParameter(
                "interactions multiply features of arms: give arms={name: features, ...}"
            )
        state.fresh(schema)  # refuses what the policy cannot use
        if context is not None and not policy.resolved(contextual=True).uses_contexts:
            _warn(f"{policy} logs contexts, but ignores them")
        absent = absent_parts(schema, context, arms)
        if absent:
            _warn(
                f"nothing here is called {', '.join(map(repr, absent))}: interactions with it wait "
                "until that comes. Is it misspelt?"
            )
        n, m = schema.widths
        if n * m > MOST_PRODUCTS and schema.interactions is None:
            _warn(
                f"{n} features of the context by {m} of an arm are too many products for a "
                "dense model, which has none of them: the context cannot change the choice. "
                "Name some, as in interactions=['age*topic'], or use model=hashed"
            )
        return schema

    def grown(self, schema: Schema, new: Sequence[Sequence[Any]]) -> Schema:
        """Return a schema with columns for new features, as far as there is room for them.

        Two processes that meet different new names at once agree: of two schemas that grew from the
        same one the first to be in the log counts, and the other grows again from that.
        """
        while not self._is_full:
            schema = self.state.schema or schema
            larger = schema.grown(new)
            if larger is schema:
                break
            self._check_growth(schema)
            self._warn_of_typos(new)
            self._form(larger, self.state.version + 1)
        if any(feature for side in new for feature in side) and self._lacks(new):
            self._say_full(new)
        return self.state.schema or schema

    def _warn_of_typos(self, new: Sequence[Sequence[Any]]) -> None:
        """Warn of new names that are nearly those of declared features."""
        declared = self.state.setting.features or {}
        for feature in new[0]:
            question = hint(feature.name, declared)
            if question:
                _warn(f"the feature {feature.name!r} is new, and gets columns of its own{question}")

    def _lacks(self, new: Sequence[Sequence[Any]]) -> bool:
        schema = self.state.schema
        return schema is not None and schema.lacks(new)

    def _say_full(self, new: Sequence[Sequence[Any]]) -> None:
        if not self._is_full:
            self._is_full = True
            name = short_name(next(feature.name for side in new for feature in side))
            most = self.state.setting.max_columns
            _warn(
                f"there are {most} columns, which is the most: features that are new from now on, "
                f"as '{name}', are not used. Say max_columns=..., or use model=hashed"
            )

    def _check_growth(self, schema: Schema) -> None:
        policy = self.state.setting.policy
        plays_otherwise = policy.resolved(contextual=True) != policy.resolved(contextual=False)
        if not schema.contextual and plays_otherwise:
            raise BadParameter(
                "the first decisions of this bandit had no context, so it plays without: give a "
                f"new bandit contexts from the start, or name {policy.resolved(contextual=True)}"
            )

    def _form(self, schema: Schema, version: int) -> None:
        try:
            self.append([Formed(self.clock(), json.dumps(schema.to_json()), version)])
        except Taken:  # by another process
            self.follow()

    # -- chores ------------------------------------------------------------------------------

    def tend(self) -> None:
        """Do the chores every `_CHORES` seconds.

        In a thread if the store is shared, otherwise within calls.
        """
        if self.store.shared:
            if not (self._is_subscribed or self.closed):
                self._is_subscribed = True
                self.store.subscribe(self.hear, self.keep)
        elif self.state.setting.reward_wait is not None or self.state.setting.retains:
            now = self.clock()
            if self._following.locked():  # another thread learns: do not wait for it
                return
            if now >= self._next_chores or now < self._next_chores - 2 * _CHORES:
                self._next_chores = now + _CHORES
                self.keep()

    def keep(self) -> None:
        """Do the chores that one process does for all.

        Settle rewards whose waiting is over, keep a snapshot, and let older events leave.
        """
        if self.read_only:
            return
        wait, retains = self.state.setting.reward_wait, self._retention_is_due()
        is_idle = wait is None and not (retains or self._snapshot_is_due())
        if is_idle or not self.store.is_keeper():
            return
        while wait is not None:
            due = self.store.waiting(self.clock() - wait)[:GROUP]
            if not due:
                break
            self.append_waiting(settled(due, self.state.setting, self.store, self.clock()))
        if self._snapshot_is_due():
            self._keep_snapshot()
        if retains:
            with self._retaining:
                self._retain()

    def _snapshot_is_due(self) -> bool:
        least, most = _SNAPSHOT_EVERY
        position = self.state.position
        return position - self._snapshot_at >= min(max(position // 10, least), most)

    def append_waiting(self, rewards: Sequence[Rewarded]) -> None:
        """Append those rewards of decisions that still wait."""
        for begin in range(0, len(rewards), GROUP):
            group = rewards[begin : begin + GROUP]
            while group:
                try:
                    self.append(group)
                    break
                except Taken:  # a reward came meanwhile
                    decisions = self.store.find([reward.id for reward in group])
                    waits = {id for id, decision in decisions.items() if decision.reward is None}
                    group = [reward for reward in group if reward.id in waits]

    def keep_snapshot(self, store: Store, now: retention.Progress | None = None) -> None:
        """Keep a snapshot of the state in this store, which has the same log.

        As a milestone, if the time of one is given.
        """
        self.know_behaviour()
        with self.lock:
            snapshot = self.state.snapshot()
        if snapshot is not None:
            rewards = int(snapshot.about["n_rewards"])
            mark = None if now is None else Milestone(snapshot.position, now.time, rewards)
            store.keep(snapshot, mark)

    def _progress(self) -> retention.Progress:
        return retention.Progress(self.state.position, self.clock(), self.state.n_rewards)

    def _retention_is_due(self) -> bool:
        setting, milestones = self.state.setting, self._milestones
        if not setting.retains or self.state.live is None or milestones is None:
            return setting.retains and self.state.live is not None
        now = self._progress()
        return (
            retention.needs_milestone(milestones, setting, now)
            or retention.next_base(milestones, setting, now) is not None
        )

    def _retain(self) -> None:
        """Keep a milestone, and let events before an old one leave."""
        store, setting, now = self.store, self.state.setting, self._progress()
        milestones = store.milestones()  # another process may have kept the log meanwhile
        if retention.needs_milestone(milestones, setting, now):
            self._snapshot_at = self.state.position
            self.keep_snapshot(store, now)
        base = retention.next_base(milestones, setting, now)
        if base is not None and store.shared:
            store.leave(base.position, now.time)
            self.follow()
        elif base is not None:
            with self.lock:
                store.leave(base.position, now.time)
                self.state.apply(store.read(self.state.position, GROUP), store.find)
        self._milestones = store.milestones()

    def _keep_snapshot(self) -> None:
        self._snapshot_at = self.state.position
        self.keep_snapshot(self.store)

    def know_behaviour(self) -> None:
        """Work out the fingerprint of a snapshot, which is slow, while others may decide."""
        live = self.state.live
        if live is not None and live.compiled:
            live.fingerprint()

    def close(self) -> None:
        """Close the store.

        If this process tends the log, it keeps a snapshot first.
        """
        if self.closed:
            return
        self.closed = True
        store = self.store
        if store.shared:
            has_news = self._snapshot_at < self.state.position and not self.read_only
            if has_news and store.is_keeper():
                self._keep_snapshot()
            store.close()

    # -- decisions under way -----------------------------------------------------------------

    def undo(self, events: Sequence[Decided]) -> None:
        """Undo decisions that were counted already, and did not get into the log."""
        with self.lock:
            for event in events:
                self.state.undo(event)

    def forked(self) -> None:
        """Go on in a child process, which has none of the parent's threads."""
        self._following, self._retaining = threading.Lock(), threading.Lock()
        self._is_subscribed = False


def _teach(events: Sequence[Event]) -> bool:
    """Return whether there is a reward among events."""
    return any(type(event) is Rewarded for event in events)


def _warn(message: str) -> None:
    """Warn at the line outside of giro that asked."""
    frame, steps = inspect.currentframe(), 1
    while frame and frame.f_back and frame.f_globals["__name__"].startswith("giro."):
        frame, steps = frame.f_back, steps + 1
    warnings.warn(message, stacklevel=steps)


# -- forks -----------------------------------------------------------------------------------

_held: list[Any] = []  # locks of all states, while the process is split


def _before_fork() -> None:
    """Wait until no thread changes a state: the child gets it as it is."""
    for follower in list(_FOLLOWERS):
        follower.lock.acquire()
        _held.append(follower.lock)


def _after_fork() -> None:
    while _held:
        _held.pop().release()


def _in_child() -> None:
    _after_fork()
    for follower in list(_FOLLOWERS):
        follower.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)
