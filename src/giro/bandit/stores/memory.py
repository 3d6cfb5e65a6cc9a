"""Memory: the log in columns, in this process alone."""

import itertools
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

import numpy as np

from giro.bandit.event import (
    DECISION,
    ArmAdded,
    ArmRetired,
    Began,
    Decided,
    Erased,
    Event,
    Formed,
    Left,
    Rebuilt,
    Reported,
    Rewarded,
    kind_of,
)
from giro.bandit.stores._columns import PENDING, REWARDS, column, without
from giro.bandit.stores._packed import PackedSnapshot
from giro.bandit.stores.store import (
    DEPTH,
    MAX_ID,
    Appended,
    FoundDecision,
    Gone,
    Milestone,
    Snapshot,
    Taken,
    check_ids,
    ids_of,
    names_of,
    taken,
)
from giro.offer import NO_CONTEXT, NO_FEATURES, AnyRow, AnyRows, SparseRow

_STAYING = (Began, Formed, ArmAdded, ArmRetired)


class MemoryStore:
    """Everything that happened, in columns of numbers: see `results/bandit` for bytes.

    Decisions and rewards are numbered from 0, each in the order they came; `index` says which of
    its kind an event is. Other events are few and kept as they are.
    """

    shared = False

    def __init__(self) -> None:
        """Begin without events."""
        self.kind = array("b")  # [event]
        self.index = array("q")  # [event] number among the decisions, the rewards, or the others
        self.others: list[Event] = []
        self.sets: list[np.ndarray] = []  # [set] arms that could be chosen, ascending
        self.ids: list[str] = []  # [decision]
        self.decided = array("d")  # [decision] time
        self.arm = array("i")  # [decision]
        self.among = array("i")  # [decision] number of a set
        self.own = array("d")  # [decision]
        self.seen = array("q")  # [decision]
        self.reward_of = array("q")  # [decision] its reward, or PENDING
        self.known = array("q", [0])  # [decision + 1] where its propensities begin
        self.propensities = array("d")
        self.contexts = array("d")
        self.codes = array("q")  # beside the values of contexts that are sparse
        self.context_at = array("q", [0])  # [decision + 1] where its context begins
        self.features: list[AnyRows] = []  # [decision] of the set's arms, if any
        self.names: list[tuple[str, ...]] = []  # [decision] of the arms, if they have no numbers
        self.requests: dict[int, bytes] = {}  # by decision
        self.rewarded = array("q")  # [reward] decision
        self.value = array("d")  # [reward]
        self.came = array("d")  # [reward] time
        self.expired = array("b")  # [reward]
        self.kept: Snapshot | None = None  # of the file that it was read from
        self.old = array("q")  # [i] positions of events that stayed when those around them left
        self.left_until = 0  # position of the base
        self._marked: dict[Milestone, PackedSnapshot] = {}
        self._base: PackedSnapshot | None = None
        self._forms = 0
        self._reports: dict[str, list[Reported]] = {}
        self._decision_of: dict[str, int] = {}
        self._set_of: dict[bytes, int] = {}
        self._last_set: tuple[np.ndarray | None, int] = (None, 0)

    # -- appending ---------------------------------------------------------------------------

    def append(
        self, events: Sequence[Event], *, expected: int | None = None, known: int | None = None
    ) -> Appended:
        """Append all of these, or none, as `Store` says."""
        last = len(self.kind) + self.left_until - len(self.old)
        if len(events) == 1 and expected is None:
            event = events[0]
            if type(event) is Decided:
                self._append_decision(event)
                return Appended(last + 1, last, events)
            if type(event) is Rewarded:
                self._append_reward(event)
                return Appended(last + 1, last, events)
        if expected is None and {*map(type, events)} == {Decided}:
            self._append_decisions(events)  # type: ignore[arg-type]  # by their types
            return Appended(last + 1, last, events)
        ids = ids_of(events)
        check_ids(ids)
        if expected not in (None, last):
            raise Taken(events[0])
        numbers = {id: self._decision_of.get(id) for id in ids}
        waiting = {
            id: self.reward_of[number] == PENDING
            for id, number in numbers.items()
            if number is not None
        }
        named = names_of([each for id in ids for each in self.reports(id)])
        first_taken = taken(events, waiting, named, forms=self._forms)
        if first_taken is not None:
            raise Taken(first_taken)
        for event in events:
            self._note(event)
        return Appended(last + 1, last, events)

    def _append_decision(self, event: Decided) -> None:
        if not _is_plain(event.id):
            check_ids([event.id])
        if event.id in self._decision_of:
            raise Taken(event)
        self.kind.append(DECISION)
        self.index.append(len(self.arm))
        self._note_decision(event)

    def _append_decisions(self, events: Sequence[Decided]) -> None:
        """Append decisions as `_append_decision` does, a column at a time."""
        first, n = len(self.arm), len(events)
        ids, times, arms, among, chances, own, seen, contexts, features, asked, names, _, _ = zip(
            *events, strict=True
        )
        if not all(map(_is_plain, ids)):
            check_ids(ids)
        here = dict(zip(ids, range(first, first + n), strict=True))
        if len(here) < n or not self._decision_of.keys().isdisjoint(here):
            self._refuse_repeated(events)
        self._note_all_rows(contexts, features)
        self._decision_of |= here
        self.ids += ids
        self.kind.extend([DECISION] * n)
        self.index.extend(here.values())
        self.reward_of.extend([PENDING] * n)
        self.names += filter(None, names)
        self.decided.extend(times)
        self.arm.extend(arms)
        self.among.extend(map(self._set_number, among))
        self.own.extend(own)
        self.seen.extend(seen)
        ends = itertools.accumulate(map(len, chances), initial=len(self.propensities))
        self.known.extend(itertools.islice(ends, 1, None))
        self.propensities.frombytes(np.concatenate(chances, dtype=np.float64).tobytes())
        self.requests |= {here[id]: digest for id, digest in zip(ids, asked, strict=True) if digest}

    def _refuse_repeated(self, events: Sequence[Decided]) -> NoReturn:
        """Raise because of the first decision whose id is taken."""
        here = set[str]()
        for event in events:
            if event.id in self._decision_of or event.id in here:
                raise Taken(event)
            here.add(event.id)
        raise AssertionError("no id is taken")

    def _append_reward(self, event: Rewarded) -> None:
        decision = self._decision_of.get(event.id)
        if decision is None or self.reward_of[decision] != PENDING:
            check_ids([event.id])
            raise Taken(event)
        self.kind.append(kind_of(event))
        self._note_reward(event, decision)

    def _note(self, event: Event) -> None:
        self.kind.append(kind_of(event))
        match event:
            case Decided():
                self.index.append(len(self.arm))
                self._note_decision(event)
            case Rewarded():
                self._note_reward(event, self._decision_of[event.id])
            case _:
                if isinstance(event, Reported):
                    self._reports.setdefault(event.id, []).append(event)
                self._forms += isinstance(event, Formed)
                self.index.append(len(self.others))
                self.others.append(event)

    def _note_reward(self, event: Rewarded, decision: int) -> None:
        number = len(self.value)
        self.index.append(number)
        self.reward_of[decision] = number
        self.rewarded.append(decision)
        self.value.append(event.value)
        self.came.append(event.time)
        self.expired.append(event.expired)

    def _note_decision(self, event: Decided) -> None:
        decision = len(self.arm)
        if event.context is not NO_CONTEXT or event.features is not NO_FEATURES:
            self._note_rows(event.context, event.features)
        self.context_at.append(len(self.contexts))
        if event.names:
            self.names.append(event.names)
        self._decision_of[event.id] = decision
        self.ids.append(event.id)
        self.decided.append(event.time)
        self.arm.append(event.arm)
        self.among.append(self._set_number(event.arms))
        self.own.append(event.own)
        self.seen.append(event.seen)
        self.reward_of.append(PENDING)
        self.propensities.frombytes(event.propensities.tobytes())
        self.known.append(len(self.propensities))
        if event.request:
            self.requests[decision] = event.request

    def _note_rows(self, context: AnyRow, features: AnyRows) -> None:
        if isinstance(context, SparseRow):
            self.codes.frombytes(context.column.tobytes())
            self.contexts.frombytes(context.value.tobytes())
            self.features.append(features)
            return
        if context.size:
            self.contexts.frombytes(np.ascontiguousarray(context, np.float64).tobytes())
        if features.size:
            self.features.append(features)

    def _note_all_rows(self, contexts: Sequence[AnyRow], features: Sequence[AnyRows]) -> None:
        """Note the rows of several decisions."""
        if SparseRow in set(map(type, contexts)):
            for context, rows in zip(contexts, features, strict=True):
                self._note_rows(context, rows)
                self.context_at.append(len(self.contexts))
            return
        ends = itertools.accumulate(map(len, contexts), initial=len(self.contexts))
        self.context_at.extend(itertools.islice(ends, 1, None))
        self.contexts.frombytes(np.concatenate(contexts, dtype=np.float64).tobytes())
        self.features += [rows for rows in features if rows.size]

    def _set_number(self, arms: np.ndarray) -> int:
        last, number = self._last_set
        if arms is last:  # mostly
            return number
        key = arms.tobytes()
        known = self._set_of.get(key)
        if known is None:
            known = self._set_of[key] = len(self.sets)
            self.sets.append(arms)
        self._last_set = arms, known
        return known

    def index_again(self) -> None:
        """Make the indices again, of columns that were filled from a file."""
        self._reports, self._last_set = {}, (None, 0)
        self._decision_of = {id: number for number, id in enumerate(self.ids)}
        self._set_of = {arms.tobytes(): number for number, arms in enumerate(self.sets)}
        self._forms = sum(isinstance(event, Formed) for event in self.others)
        for event in self.others:
            if isinstance(event, Reported):
                self._reports.setdefault(event.id, []).append(event)

    # -- reading -----------------------------------------------------------------------------

    def last(self) -> int:
        """Return the position of the last event."""
        return len(self.kind) + self._n_gone

    @property
    def _n_gone(self) -> int:
        return self.left_until - len(self.old)

    def read(self, after: int, limit: int) -> list[Event]:
        """Return up to `limit` events behind a position."""
        store = self._at_once()
        if after < store.left_until:
            raise Gone(store.left_until)
        begin = after - store._n_gone
        return [store._event(i) for i in range(begin, min(begin + limit, len(store.kind)))]

    def _at_once(self) -> "MemoryStore":
        """Return the columns of this moment: others may replace them meanwhile."""
        store = MemoryStore.__new__(MemoryStore)
        store.__dict__.update(self.__dict__)
        return store

    def rows(self, after: int, limit: int) -> list[tuple[int, Event]]:
        """Return up to `limit` events behind a position that are left."""
        store = self._at_once()
        begin = max(after - store._n_gone, bisect_right(store.old, after))
        places = range(begin, min(begin + limit, len(store.kind)))
        return [(store._position(i), store._event(i)) for i in places]

    def latest(self, before: int, limit: int, kinds: Sequence[int] = ()) -> list[tuple[int, Event]]:
        """Return up to `limit` events ahead of a position, the newest first."""
        store = self._at_once()
        positions = store._positions()[: len(store.index)]
        is_wanted = (positions < before) & (positions >= before - DEPTH)
        if kinds:
            is_wanted &= np.isin(column(store.kind)[: positions.size], kinds)
        places = np.flatnonzero(is_wanted)[::-1][:limit].tolist()
        return [(int(positions[i]), store._event(i)) for i in places]

    def _position(self, i: int) -> int:
        return self.old[i] if i < len(self.old) else i + 1 + self._n_gone

    def _event(self, i: int) -> Event:
        kind, index = self.kind[i], self.index[i]
        if kind == DECISION:
            return self._decision(index)
        return self._reward(index) if kind in REWARDS else self.others[index]

    def _decision(self, number: int) -> Decided:
        return Decided(
            self.ids[number],
            self.decided[number],
            self.arm[number],
            self.sets[self.among[number]],
            np.array(self.propensities[self.known[number] : self.known[number + 1]]),
            self.own[number],
            self.seen[number],
            self._context(number),
            self.features[number] if self.features else NO_FEATURES,
            self.requests.get(number, b""),
            self.names[number] if self.names else (),
        )

    def _context(self, number: int) -> AnyRow:
        begin, end = self.context_at[number], self.context_at[number + 1]
        values = np.array(self.contexts[begin:end])
        if not self.features or isinstance(self.features[number], np.ndarray):
            return values
        return SparseRow(np.array(self.codes[begin:end], np.int64), values)

    def _reward(self, number: int) -> Rewarded:
        id, expired = self.ids[self.rewarded[number]], bool(self.expired[number])
        return Rewarded(id, self.came[number], self.value[number], expired)

    def find(self, ids: Sequence[str]) -> dict[str, FoundDecision]:
        """Return the decisions with these ids."""
        decisions, store = {}, self._at_once()
        for id in ids:
            number = store._decision_of.get(id)
            if number is not None:
                reward = store.reward_of[number]
                known = None if reward == PENDING else store._reward(reward)
                decisions[id] = FoundDecision(
                    store._decision(number), known, len(store._reports.get(id, ()))
                )
        return decisions

    def reports(self, id: str) -> list[Reported]:
        """Return the reports about a decision."""
        return list(self._reports.get(id, ()))

    def waiting(self, until: float) -> list[Decided]:
        """Return the decisions up to a time that have no reward."""
        store = self._at_once()
        times = column(store.decided)
        pending = column(store.reward_of[: times.size]) == PENDING
        numbers = np.flatnonzero(pending & (times[: pending.size] <= until))
        return [store._decision(number) for number in numbers.tolist()]

    def wait(self, after: int, seconds: float) -> bool:
        """Return at once: nobody else appends."""
        return self.last() > after

    def subscribe(self, news: Callable[[int], None], chores: Callable[[], None]) -> None:
        """Do nothing: nobody else appends."""

    # -- the rest ----------------------------------------------------------------------------

    def keep(self, snapshot: Snapshot, milestone: Milestone | None = None) -> None:
        """Keep milestones only: the content of other snapshots is in memory already."""
        if milestone is not None:
            self._marked[milestone] = PackedSnapshot.of(snapshot)

    def milestones(self) -> list[Milestone]:
        """Return the milestones behind the base."""
        return sorted(self._marked)

    def base(self) -> Snapshot | None:
        """Return the snapshot behind the events that left."""
        return None if self._base is None else self._base.unpacked()

    @classmethod
    def holding(cls, rows: Iterable[tuple[int, Event]], base: Snapshot | None) -> "MemoryStore":
        """Return a log of these events, and the snapshot behind those that left."""
        store, old = cls(), []
        for position, event in rows:
            store.append([event])
            if base is not None and position <= base.position:
                old.append(position)
        if base is not None:
            store.begin_at(base, old)
        return store

    def begin_at(self, base: Snapshot, old: Sequence[int]) -> None:
        """Make this the base of the log. Of events up to it only those at `old` are there."""
        self.left_until, self._base = base.position, PackedSnapshot.of(base)
        self.old = array("q", old)

    def leave(self, position: int, time: float) -> bool:
        """Make a milestone the base."""
        milestone = next((each for each in self._marked if each.position == position), None)
        if milestone is None:
            return False
        base = self._marked[milestone]
        self._marked = {m: s for m, s in self._marked.items() if m.position > position}
        store, positions, stays = self._at_once(), self._positions(), self._staying(position)
        without(store, stays)
        store.old = array("q", positions[stays & (positions <= position)].tolist())
        store.left_until, store._base = position, base
        store._note(Left(time, position))
        self.__dict__.update(store.__dict__)
        return True

    def _positions(self) -> np.ndarray:
        positions = np.arange(1, len(self.kind) + 1) + self._n_gone
        positions[: len(self.old)] = self.old
        return positions

    def _staying(self, base: int) -> np.ndarray:
        """Return whether each event stays when those up to a base leave."""
        positions, kind, index = self._positions(), column(self.kind), column(self.index)
        is_reward = np.isin(kind, REWARDS)
        reward_at = np.append(positions[is_reward], np.iinfo(np.int64).max)  # last: PENDING
        waited = reward_at[column(self.reward_of)] > base  # [decision]
        stays = positions > base
        stays[kind == DECISION] |= waited
        for i in np.flatnonzero(~stays & (kind != DECISION) & ~is_reward).tolist():
            event = self.others[index[i]]
            waits = isinstance(event, Reported) and waited[self._decision_of[event.id]]
            stays[i] = waits or isinstance(event, _STAYING)
        return stays

    def snapshots(self) -> list[Snapshot]:
        """Return that of the file, once."""
        kept, self.kept = self.kept, None
        return [each for each in (kept, self.base()) if each is not None]

    def erase(self, ids: Sequence[str], time: float) -> int:
        """Put `Erased` in place of everything about these decisions."""
        gone = {id for id in ids if id in self._decision_of}
        if not gone:
            return 0
        left, n_erased = MemoryStore(), 0
        for _, event in self.rows(0, len(self.kind)):
            is_gone = not gone.isdisjoint(ids_of([event]))
            left._note(Erased(event.time) if is_gone else event)
            n_erased += is_gone
        left._note(Rebuilt(time))
        left.old, left.left_until, left._base = self.old, self.left_until, self._base
        self.__dict__.update(left.__dict__)
        return n_erased

    def is_keeper(self) -> bool:
        """Return True: memory has one process."""
        return True

    def close(self) -> None:
        """Do nothing."""


def _is_plain(id: object) -> bool:
    """Return whether an id is one of those that most are, which need no closer look."""
    return type(id) is str and 0 < len(id) <= MAX_ID and id.isascii() and "\0" not in id
