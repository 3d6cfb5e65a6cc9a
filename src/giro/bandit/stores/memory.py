"""Memory: the log in columns, in this process alone."""

from array import array
from collections.abc import Callable, Sequence

import numpy as np

from giro.bandit.event import (
    DECISION,
    KINDS,
    Decided,
    Erased,
    Event,
    Formed,
    Rebuilt,
    Reported,
    Rewarded,
    kind_of,
)
from giro.bandit.stores.store import (
    MAX_ID,
    FoundDecision,
    Snapshot,
    Taken,
    check_ids,
    ids_of,
    taken,
)
from giro.offer import NO_FEATURES, AnyRow, AnyRows, SparseRow

_OFTEN = (Decided, Rewarded)
_PENDING = -1  # in place of the number of a decision's reward
_REWARDS = (KINDS.index("reward"), KINDS.index("expired"))


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
        self.reward_of = array("q")  # [decision] its reward, or _PENDING
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
        self._forms = 0
        self._reports: dict[str, list[float]] = {}
        self._decision_of: dict[str, int] = {}
        self._set_of: dict[bytes, int] = {}

    # -- appending ---------------------------------------------------------------------------

    def append(self, events: Sequence[Event], *, expected: int | None = None) -> int:
        """Append all of these, or none, as `Store` says."""
        first = len(self.kind) + 1
        if len(events) == 1 and expected is None and type(events[0]) in _OFTEN:
            self._append_one(events[0])
            return first
        ids = ids_of(events)
        check_ids(ids)
        if expected not in (None, len(self.kind)):
            raise Taken(events[0])
        numbers = {id: self._decision_of.get(id) for id in ids}
        waiting = {
            id: self.reward_of[number] == _PENDING
            for id, number in numbers.items()
            if number is not None
        }
        first_taken = taken(events, waiting, forms=self._forms)
        if first_taken is not None:
            raise Taken(first_taken)
        for event in events:
            self._note(event)
        return first

    def _append_one(self, event: Event) -> None:
        if type(event) is Decided:
            id = event.id
            if not (type(id) is str and 0 < len(id) <= MAX_ID and id.isascii() and "\0" not in id):
                check_ids([id])
            if id in self._decision_of:
                raise Taken(event)
            self.kind.append(DECISION)
            self.index.append(len(self.arm))
            self._note_decision(event)
            return
        if type(event) is Rewarded:
            decision = self._decision_of.get(event.id)
            if decision is None or self.reward_of[decision] != _PENDING:
                check_ids([event.id])
                raise Taken(event)
        self._note(event)

    def _note(self, event: Event) -> None:
        self.kind.append(kind_of(event))
        match event:
            case Decided():
                self.index.append(len(self.arm))
                self._note_decision(event)
            case Rewarded():
                self.index.append(len(self.value))
                decision = self._decision_of[event.id]
                self.reward_of[decision] = len(self.value)
                self.rewarded.append(decision)
                self.value.append(event.value)
                self.came.append(event.time)
                self.expired.append(event.expired)
            case _:
                if isinstance(event, Reported):
                    self._reports.setdefault(event.id, []).append(event.value)
                self._forms += isinstance(event, Formed)
                self.index.append(len(self.others))
                self.others.append(event)

    def _note_decision(self, event: Decided) -> None:
        decision = len(self.arm)
        context = event.context
        if isinstance(context, SparseRow):
            self.codes.frombytes(context.column.tobytes())
            self.contexts.frombytes(context.value.tobytes())
            self.features.append(event.features)
        elif context.size:
            self.contexts.frombytes(np.ascontiguousarray(context, np.float64).tobytes())
        self.context_at.append(len(self.contexts))
        if not isinstance(context, SparseRow) and event.features.size:
            self.features.append(event.features)
        if event.names:
            self.names.append(event.names)
        self._decision_of[event.id] = decision
        self.ids.append(event.id)
        self.decided.append(event.time)
        self.arm.append(event.arm)
        self.among.append(self._set_number(event.arms))
        self.own.append(event.own)
        self.seen.append(event.seen)
        self.reward_of.append(_PENDING)
        self.propensities.frombytes(event.propensities.tobytes())
        self.known.append(len(self.propensities))
        if event.request:
            self.requests[decision] = event.request

    def _set_number(self, arms: np.ndarray) -> int:
        key = arms.tobytes()
        number = self._set_of.get(key)
        if number is None:
            number = self._set_of[key] = len(self.sets)
            self.sets.append(arms)
        return number

    def index_again(self) -> None:
        """Make the indices again, of columns that were filled from a file."""
        self._decision_of = {id: number for number, id in enumerate(self.ids)}
        self._set_of = {arms.tobytes(): number for number, arms in enumerate(self.sets)}
        self._forms = sum(isinstance(event, Formed) for event in self.others)
        for event in self.others:
            if isinstance(event, Reported):
                self._reports.setdefault(event.id, []).append(event.value)

    # -- reading -----------------------------------------------------------------------------

    def last(self) -> int:
        """Return the position of the last event."""
        return len(self.kind)

    def read(self, after: int, limit: int) -> list[Event]:
        """Return up to `limit` events behind a position."""
        return [self._event(i) for i in range(after, min(after + limit, len(self.kind)))]

    def _event(self, i: int) -> Event:
        kind, index = self.kind[i], self.index[i]
        if kind == DECISION:
            return self._decision(index)
        return self._reward(index) if kind in _REWARDS else self.others[index]

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
        decisions = {}
        for id in ids:
            number = self._decision_of.get(id)
            if number is not None:
                reward = self.reward_of[number]
                known = None if reward == _PENDING else self._reward(reward)
                decisions[id] = FoundDecision(
                    self._decision(number), known, len(self._reports.get(id, ()))
                )
        return decisions

    def reports(self, id: str) -> list[float]:
        """Return the values reported for a decision."""
        return list(self._reports.get(id, ()))

    def waiting(self, until: float) -> list[Decided]:
        """Return the decisions up to a time that have no reward."""
        pending = column(self.reward_of) == _PENDING
        numbers = np.flatnonzero(pending & (column(self.decided) <= until))
        return [self._decision(number) for number in numbers.tolist()]

    def wait(self, after: int, seconds: float) -> bool:
        """Return at once: nobody else appends."""
        return len(self.kind) > after

    def subscribe(self, news: Callable[[], None], chores: Callable[[], None]) -> None:
        """Do nothing: nobody else appends."""

    # -- the rest ----------------------------------------------------------------------------

    def keep(self, snapshot: Snapshot) -> None:
        """Keep nothing: the content of a snapshot is in memory already."""

    def snapshots(self) -> list[Snapshot]:
        """Return that of the file, once."""
        kept, self.kept = self.kept, None
        return [] if kept is None else [kept]

    def erase(self, ids: Sequence[str], time: float) -> int:
        """Put `Erased` in place of everything about these decisions."""
        gone = {id for id in ids if id in self._decision_of}
        if not gone:
            return 0
        left, n_erased = MemoryStore(), 0
        for event in self.read(0, len(self.kind)):
            is_gone = not gone.isdisjoint(ids_of([event]))
            left._note(Erased(event.time) if is_gone else event)
            n_erased += is_gone
        left._note(Rebuilt(time))
        self.__dict__.update(left.__dict__)
        return n_erased

    def is_keeper(self) -> bool:
        """Return True: memory has one process."""
        return True

    def close(self) -> None:
        """Do nothing."""


def column(values: array) -> np.ndarray:  # type: ignore[type-arg]  # of any number
    """Return a copy of a column as an array."""
    kind = {"b": np.int8, "i": np.int32, "q": np.int64, "d": np.float64}[values.typecode]
    return np.frombuffer(values[:], kind) if values else np.empty(0, kind)
