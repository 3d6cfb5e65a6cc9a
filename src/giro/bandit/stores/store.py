"""Store: the place of a bandit's log, and of snapshots of its state.

The log is the only truth. Whatever else a bandit holds is a cache of what follows from a part of
it, from the beginning up to some position, and can be made again.
"""

from collections.abc import Callable, Sequence, Set
from typing import Any, NamedTuple, Protocol

import numpy as np

from giro.bandit.event import Decided, Event, Formed, Reported, Rewarded
from giro.checks import is_word
from giro.errors import BadParameter, GiroError

DEPTH = 50_000  # positions among which the newest events of a kind are looked for
MAX_ID = 256  # characters of a decision's id: every database has an index of them


class Taken(GiroError):
    """An event cannot be appended, because another has taken its place. Nothing was appended."""

    def __init__(self, event: Event) -> None:
        """Take the event that cannot be appended."""
        match event:
            case Decided():
                words = f"there already is a decision '{event.id}'"
            case Rewarded() | Reported():
                words = f"no decision '{event.id}' waits for this reward"
            case Formed():
                words = f"there already is a form of version {event.version}, or one is missing"
            case _:
                words = "the log has grown meanwhile"
        super().__init__(words)
        self.event = event


class Gone(GiroError):
    """Events that are asked for have left the log: begin at its base."""

    def __init__(self, base: int) -> None:
        """Take the position up to which events have left."""
        super().__init__(f"events up to {base} have left the log")
        self.base = base


class FoundDecision(NamedTuple):
    """A decision of the log, and its reward and reports so far."""

    decision: Decided
    reward: Rewarded | None  # None while it waits
    reports: int = 0  # that came before the reward


class Snapshot(NamedTuple):
    """What followed from the log up to a position."""

    position: int
    about: dict[str, Any]  # plain data
    arrays: dict[str, np.ndarray]


class Appended(NamedTuple):
    """The place of events that were appended, and the events there."""

    first: int  # position of the first of one's own events
    after: int  # position behind which `events` stand
    events: Sequence[Event]  # one's own, and others beside them that came at the same time


class Milestone(NamedTuple):
    """A snapshot that stays until the events before it have left the log."""

    position: int
    time: float
    rewards: int  # that came up to then


class Store(Protocol):
    """The log of one bandit, and snapshots.

    Events have positions 1, 2, 3, ... in the order they were appended, the same for everybody who
    reads. Every method may be called by several threads; what fails outside raises `StoreError`.
    """

    shared: bool
    """Whether other processes may append."""

    def append(
        self, events: Sequence[Event], *, expected: int | None = None, known: int | None = None
    ) -> Appended:
        """Append all of these or, if one is `Taken`, none, and return where.

        When it returns, a crash of the program, the machine or the database does not lose them.
        Taken is the id of a decision that there is already, a reward or report whose decision has
        its reward, a report with the name of another of its decision, a schema that did not grow
        from the last one, and everything about a decision that there is not. If `expected` is given
        and the log does not end at this position, the first event is Taken: of several that append
        to an empty log with 0, one succeeds. An id has at most `MAX_ID` characters.

        Who has read the log up to `known` may be given, beside its own events, those that it has
        not read: many processes need not read again after each append.
        """

    def last(self) -> int:
        """Return the position of the last event, 0 if there is none."""

    def read(self, after: int, limit: int) -> list[Event]:
        """Return up to `limit` events, in order, beginning behind the position `after`.

        Raises `Gone` if events behind it have left.
        """

    def rows(self, after: int, limit: int) -> list[tuple[int, Event]]:
        """Return up to `limit` events behind a position that are left, with their positions."""

    def latest(self, before: int, limit: int, kinds: Sequence[int] = ()) -> list[tuple[int, Event]]:
        """Return up to `limit` events ahead of the position `before`, the newest first.

        Only those of some kinds, if any are given. It looks at `DEPTH` positions and no more.
        """

    def find(self, ids: Sequence[str]) -> dict[str, FoundDecision]:
        """Return the decisions with these ids."""

    def reports(self, id: str) -> list[Reported]:
        """Return the reports about a decision, in the order they came."""

    def waiting(self, until: float) -> list[Decided]:
        """Return the decisions made up to this time that have no reward, in their order."""

    def wait(self, after: int, seconds: float) -> bool:
        """Return whether there are events behind `after`, as soon as there are, or when time is up.

        It may return early without any.
        """

    def subscribe(self, news: Callable[[int], None], chores: Callable[[], None]) -> None:
        """Have `news` called when others have appended, and `chores` about every second.

        News are told with the position that the log has reached.

        Both are methods of an object that somebody else holds: when it is gone, or the store is
        closed, they are no longer called. Two threads call them, one for news and one for chores,
        for all stores at one place. Subscribing again changes nothing, and is needed in a child
        process. Where nobody else can append nothing is ever called.
        """

    def keep(self, snapshot: Snapshot, milestone: Milestone | None = None) -> None:
        """Keep a snapshot, as a milestone if one is given. Others that are older may be dropped.

        Not if events were erased behind its position: it may have learned them.
        """

    def milestones(self) -> list[Milestone]:
        """Return the milestones behind the base, the oldest first."""

    def leave(self, position: int, time: float) -> bool:
        """Make a milestone the base, and return whether it is there.

        Decisions up to it leave the log if their rewards came up to it, with these rewards and
        reports. All else that is about decisions leaves, too. Appends `Left`.
        """

    def base(self) -> Snapshot | None:
        """Return the snapshot behind the events that left, None if none did."""

    def snapshots(self) -> list[Snapshot]:
        """Return the snapshots, the newest first."""

    def erase(self, ids: Sequence[str], time: float) -> int:
        """Put `Erased` in place of everything about these decisions, append `Rebuilt`.

        All snapshots but the base are dropped. Return how many events are gone: 0 if there is no
        such decision, and then nothing changes.
        """

    def is_keeper(self) -> bool:
        """Return whether this process holds the keeper's lease, and so does the chores for all.

        Each call tries again to get it.
        """

    def close(self) -> None:
        """Release everything outside of the process. The store may not be used any more."""


def taken(
    events: Sequence[Event],
    waiting: dict[str, bool],
    named: Set[tuple[str, str]],
    *,
    forms: int,
) -> Event | None:
    """Return the first event that cannot be appended, None if all can.

    `waiting` says of the decisions in the log whether they wait for their reward, `named` has what
    `names_of` the log returns, and `forms` says how often the schema was formed or grew; `waiting`
    is brought up to date with the events before.
    """
    here = set[tuple[str, str]]()
    for event in events:
        match event:
            case Decided():
                if event.id in waiting:
                    return event
                waiting[event.id] = True
            case Rewarded() | Reported():
                name = names_of([event])
                is_repeated = not name.isdisjoint(named) or not name.isdisjoint(here)
                if is_repeated or not waiting.get(event.id, False):
                    return event
                here |= name
                waiting[event.id] = isinstance(event, Reported)
            case Formed():
                if event.version != forms + 1:
                    return event
                forms += 1
            case _:
                pass
    return None


def ids_of(events: Sequence[Event]) -> list[str]:
    """Return the decisions that events are about, each once."""
    about = (e.id for e in events if isinstance(e, Decided | Rewarded | Reported))
    return list(dict.fromkeys(about))


def names_of(events: Sequence[Event]) -> set[tuple[str, str]]:
    """Return the decisions and names of those reports that have a name."""
    return {(e.id, e.name) for e in events if isinstance(e, Reported) and e.name}


def check_ids(ids: Sequence[object]) -> None:
    """Check that every store can keep these ids of decisions."""
    for id in ids:
        if not (is_word(id) and len(str(id)) <= MAX_ID and "\0" not in str(id)):
            shown = repr(id) if len(repr(id)) <= 40 else f"{repr(id)[:40]}... of {len(str(id))}"
            raise BadParameter(
                f"an id is a word of 1 to {MAX_ID} characters without NUL, got {shown}"
            )
