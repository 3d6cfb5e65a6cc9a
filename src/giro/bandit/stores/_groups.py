"""Group commit: threads of a process share transactions."""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from giro.bandit.event import DECISION, Decided, Event, EventRow, Formed, Reported, Rewarded, row_of
from giro.bandit.stores.store import Appended, Taken, ids_of, names_of, taken
from giro.errors import StoreError

MAX_GROUP = 1000  # requests in one transaction


class Unreachable(StoreError):
    """The database itself fails: it would fail for everybody."""


class Stretch(NamedTuple):
    """Events of a log that follow each other."""

    after: int  # the position before them
    events: Sequence[Event]


NO_EVENTS = Stretch(0, ())


class Request:
    """Events that somebody wants to append, and the answer."""

    def __init__(
        self,
        bandit: int,
        events: Sequence[Event],
        expected: int | None = None,
        known: int | None = None,
    ) -> None:
        """Begin without an answer. `expected` is the position that the log must end at."""
        self.bandit, self.events, self.expected, self.known = bandit, events, expected, known
        self.rows = [row_of(event) for event in events]  # here, where nobody waits for it
        self.first = 0
        self.among = NO_EVENTS  # its events and those beside them
        self.error: BaseException | None = None
        self.is_durable = False  # set by a commit that waited for the disk itself
        self.leads = False
        self.woken = threading.Lock()  # released when there is an answer, or the lead
        self.woken.acquire()


class Groups:
    """Share transactions among threads.

    One thread leads. It commits for all who wait, hands the lead to the first of those who came
    meanwhile, and makes its own group durable while that one writes the next. One sync is enough
    for all groups that were committed before it began.
    """

    def __init__(
        self, commit: Callable[[list[Request]], None], sync: Callable[[], None] = lambda: None
    ) -> None:
        """Remember how to commit a group, which answers each request, and how to make it durable.

        A `commit` that raises has appended nothing.
        """
        self._commit, self._sync = commit, sync
        self.renew()

    def renew(self) -> None:
        """Begin with nobody waiting: in a child process, which has none of its parent's threads."""
        self._lock = threading.Lock()
        self._waiting: deque[Request] = deque()
        self._is_led = False
        self._syncing = threading.Lock()
        self._n_committed = self._n_synced = 0  # groups

    def append(self, request: Request) -> Appended:
        """Return where the events are when all are durable."""
        self._queue_up(request)
        if request.leads:
            self._lead(request)
        if request.error is not None:
            raise request.error
        return Appended(request.first, *request.among)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Write while no group is written."""
        turn = Request(0, ())
        self._queue_up(turn)
        with self._lock, contextlib.suppress(ValueError):
            self._waiting.remove(turn)
        try:
            yield
        finally:
            self._hand_over()

    def n_waiting(self) -> int:
        """Return how many wait for the next group."""
        return len(self._waiting)

    def _queue_up(self, request: Request) -> None:
        """Wait until a request is answered or leads."""
        with self._lock:
            self._waiting.append(request)
            if not self._is_led:
                self._is_led = request.leads = True
                return
        try:
            request.woken.acquire()
        except BaseException:  # the user interrupts
            self._give_up(request)
            raise

    def _give_up(self, request: Request) -> None:
        with self._lock, contextlib.suppress(ValueError):
            self._waiting.remove(request)
        if request.leads:
            self._hand_over()

    def _hand_over(self) -> None:
        with self._lock:
            self._is_led = bool(self._waiting)
            if self._is_led:
                self._waiting[0].leads = True
                self._waiting[0].woken.release()

    def _lead(self, leader: Request) -> None:
        """Commit a group, and answer it."""
        with self._lock:
            group = [each for each in self._waiting if each.events][:MAX_GROUP]
            for each in group:
                self._waiting.remove(each)
        try:
            try:
                self._commit_or_fail(group)
            finally:
                self._n_committed = number = self._n_committed + 1
                self._hand_over()
            self._sync_or_fail(group, number)
        finally:
            for request in group:
                if request is not leader:
                    request.woken.release()

    def _commit_or_fail(self, group: list[Request]) -> None:
        """Commit a group. If one of its requests makes it fail, only that one fails."""
        try:
            self._commit(group)
        except BaseException as error:
            is_alone = len(group) == 1 or isinstance(error, Unreachable)
            if is_alone or not isinstance(error, Exception):
                _fail(group, error)
                return
            for request in group:
                request.error = None
                self._commit_or_fail([request])

    def _sync_or_fail(self, group: list[Request], number: int) -> None:
        """Make a group durable, and with it that by which others are taken."""
        answered = [
            request
            for request in group
            if isinstance(request.error, Taken | None) and not request.is_durable
        ]
        if answered:
            try:
                with self._syncing:
                    if self._n_synced < number:
                        committed = self._n_committed
                        self._sync()
                        self._n_synced = committed
            except BaseException as error:
                _fail(answered, error)


def _fail(group: Iterable[Request], error: BaseException) -> None:
    for request in group:
        request.error = error


# -- positions -------------------------------------------------------------------------------


class Head(NamedTuple):
    """The end of a log before a group is appended."""

    position: int
    waiting: dict[str, bool]  # of the group's decisions that are there, whether they wait
    named: set[tuple[str, str]]  # of these, the reports with names; only if the group has such
    forms: int = 0  # counted only if the group has forms


class Inserted(NamedTuple):
    """A row to insert at a position, and that of a decision's reward if it is in the same group."""

    position: int
    row: EventRow
    reward: int | None = None


class Numbered(NamedTuple):
    """The changes of a group: rows to insert, and rewards of decisions that were there before."""

    rows: list[Inserted]
    rewards: dict[str, int]  # a decision's id: the position of its reward


def numbered(group: Iterable[Request], head: Head) -> Numbered:
    """Return the rows of all requests that can be appended, and give the others their error."""
    rows: list[EventRow] = []
    rewards: dict[str | None, int] = {}
    waiting, named, forms = head.waiting, head.named, head.forms
    for request in group:
        events, position = request.events, head.position + len(rows)
        now = {id: waiting[id] for id in ids_of(events) if id in waiting}
        first_taken = taken(events, now, named, forms=forms)
        if request.expected not in (None, position):
            first_taken = events[0]
        if first_taken is not None:
            request.error = Taken(first_taken)
            continue
        waiting.update(now)
        named |= names_of(events)
        forms += sum(isinstance(event, Formed) for event in events)
        request.first = position + 1
        for event, row in zip(events, request.rows, strict=True):
            rows.append(row)
            if isinstance(event, Rewarded):
                rewards[event.id] = head.position + len(rows)
    inserted = [
        Inserted(position, row, rewards.pop(row.id, None) if row.kind == DECISION else None)
        for position, row in enumerate(rows, head.position + 1)
    ]
    return Numbered(inserted, {str(id): position for id, position in rewards.items()})


def tell_all(group: Iterable[Request], after: int, before: Sequence[Event] = ()) -> None:
    """Give those whose events were appended all events of the group, behind a position.

    `before` are others between that position and those of the group. One thread then learns all of
    them at once, and the others need not.
    """
    appended = [request for request in group if request.error is None]
    events = [*before, *(event for request in appended for event in request.events)]
    for request in appended:
        request.among = Stretch(after, events)


def optimistic_head(group: Sequence[Request]) -> Head:
    """Return the end of an empty log to which a group can be appended, if it can be at all."""
    waiting: dict[str, bool] = {}
    decided: set[str] = set()
    for event in (event for request in group for event in request.events):
        if isinstance(event, Decided):
            decided.add(event.id)
        elif isinstance(event, Rewarded | Reported) and event.id not in decided:
            waiting[event.id] = True
    return Head(0, waiting, set(), forms_before(group) or 0)


def forms_before(group: Iterable[Request]) -> int | None:
    """Return how many forms a log must have for a group, None if the group has none."""
    events = (event for request in group for event in request.events)
    versions = (event.version for event in events if isinstance(event, Formed))
    first = next(versions, None)
    return None if first is None else first - 1
