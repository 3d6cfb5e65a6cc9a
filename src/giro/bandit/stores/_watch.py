"""Watch: one thread of a database follows its logs, another does chores, for all its stores."""

import contextlib
import logging
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from giro.bandit.stores._database import Database

_LOGGER = logging.getLogger("giro")
_CHORES = 1.0  # seconds between chores
_RETRY = 0.25  # seconds after a failure


class Subscriber(NamedTuple):
    """A store whose owner wants to hear of news and to do chores."""

    bandit: int
    news: "weakref.WeakMethod[Callable[[int], None]]"
    chores: "weakref.WeakMethod[Callable[[], None]]"


class Watch:
    """Tells the stores of one database how far their logs have grown."""

    def __init__(self, database: "Database") -> None:
        """Begin without threads: they start when somebody wants news or chores."""
        self._database = database
        self._subscribers: dict[int, Subscriber] = {}  # by store
        self._failing: set[int] = set()  # stores whose failure was told
        self.renew()

    def renew(self) -> None:
        """Begin without threads: also in a child process, whose stores must ask again."""
        self._changed = threading.Condition()
        self._positions: dict[int, int] = {}  # of the bandits that somebody watches
        self._threads: dict[str, threading.Thread] = {}
        self._stop = threading.Event()
        self._due = threading.Event()  # chores that cannot wait

    # -- for stores --------------------------------------------------------------------------

    def wait(self, bandit: int, after: int, seconds: float) -> bool:
        """Return whether a log has grown behind a position, as soon as it has."""
        self._begin(bandit)
        with self._changed:
            return self._changed.wait_for(lambda: self._positions.get(bandit, 0) > after, seconds)

    def subscribe(self, store: int, subscriber: Subscriber) -> None:
        """Call `news` whenever the log has grown, and `chores` every second, until they are gone.

        Each in one thread for all stores of the database. An error that one raises is logged.
        """
        if self._subscribers.get(store) != subscriber or "chores" not in self._threads:
            self._begin(subscriber.bandit)
            self._subscribers[store] = subscriber
            self._start("chores", self._do_chores)

    def forget(self, store: int) -> None:
        """Call a store no more."""
        self._subscribers.pop(store, None)
        self._failing.discard(store)

    def hurry(self) -> None:
        """Have the database's own chores done soon."""
        self._due.set()
        self._start("chores", self._do_chores)

    def watched(self) -> list[int]:
        """Return the bandits whose news somebody wants."""
        return list(self._positions)

    def stop(self) -> None:
        """End the threads, which notice it soon."""
        self._stop.set()
        self._due.set()

    # -- threads -----------------------------------------------------------------------------

    def _begin(self, bandit: int) -> None:
        """Watch a bandit from now on."""
        if bandit not in self._positions:
            with self._changed:
                self._positions.setdefault(bandit, 0)
            self._tell(self._database.last_positions([bandit]))
        self._start("news", self._follow)

    def _start(self, name: str, work: Callable[[threading.Event], None]) -> None:
        if name not in self._threads:
            with self._changed:
                if name not in self._threads and not self._stop.is_set():
                    thread = threading.Thread(
                        target=work, args=(self._stop,), daemon=True, name=f"giro {name}"
                    )
                    self._threads[name] = thread
                    thread.start()

    def _follow(self, stop: threading.Event) -> None:
        is_failing = False
        while not stop.is_set():
            try:
                with contextlib.closing(self._database.listen(stop)) as news:
                    for positions in news:
                        is_failing = False
                        self._tell(positions)
            except Exception as error:
                if not (is_failing or stop.is_set()):
                    _LOGGER.warning("following the logs of a store fails: %s", error)
                is_failing = True
                stop.wait(_RETRY)

    def _tell(self, positions: dict[int, int]) -> None:
        """Wake up those who wait for one of these positions, and call those who subscribed."""
        grown = dict[int, int]()
        with self._changed:
            for bandit, position in positions.items():
                if position > self._positions.get(bandit, position):
                    self._positions[bandit] = position
                    grown[bandit] = position
            if grown:
                self._changed.notify_all()
        for store, each in list(self._subscribers.items()) if grown else ():
            if each.bandit in grown:
                self._call(store, each.news, grown[each.bandit])

    def _do_chores(self, stop: threading.Event) -> None:
        next_round = time.monotonic() + _CHORES
        while True:
            self._due.wait(max(0.0, next_round - time.monotonic()))
            if stop.is_set():
                return
            self._due.clear()
            try:
                self._database.do_chores()
            except Exception as error:
                _LOGGER.warning("the chores of a store fail: %s", error)
            if time.monotonic() >= next_round:
                for store, each in list(self._subscribers.items()):
                    self._call(store, each.chores)
                next_round = time.monotonic() + _CHORES

    def _call(
        self, store: int, method: "weakref.WeakMethod[Callable[..., None]]", *told: int
    ) -> None:
        callback = method()
        if callback is None:
            self.forget(store)
            return
        try:
            callback(*told)
            self._failing.discard(store)
        except Exception as error:
            if store in self._subscribers and store not in self._failing:
                self._failing.add(store)
                _LOGGER.warning("following a log fails: %s", error)
