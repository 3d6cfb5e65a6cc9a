"""Leases: of all processes on a database, one keeps a bandit.

A process says every few seconds that it lives, in one row however many bandits it keeps. A bandit
whose keeper has been silent for longer may be taken over.
"""

import secrets
import threading
import time
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from giro.bandit.stores._database import Database

LEASE = 10.0  # seconds that a keeper may be silent
_RENEWAL = 3.0  # seconds after which a process says again that it lives
_DAY = 86400.0
_PATIENCE = 1.0  # seconds before it asks again for what others keep


class Leases:
    """The bandits that this process keeps, and which of its stores does."""

    def __init__(self, database: "Database") -> None:
        """Begin without any."""
        self._database = database
        self.renew()

    def renew(self) -> None:
        """Begin without any: also in a child process, which is another one to the database."""
        self._process = secrets.token_hex(8)
        self.lock = threading.RLock()
        self._holders: dict[int, int] = {}  # bandit: the store that keeps it
        self._kept: set[int] = set()  # by this process
        self._asked: set[int] = set()
        self._asked_at = -LEASE

    def holds(self, bandit: int, store: int) -> bool:
        """Return whether a store keeps its bandit, and take over bandits that nobody keeps."""
        with self.lock:
            if self._holders.get(bandit, store) != store:
                return False
            wait = _RENEWAL if bandit in self._kept else _PATIENCE
            if bandit not in self._asked:
                self._asked.add(bandit)
                self._ask([bandit])
            elif time.monotonic() >= self._asked_at + wait:
                self._asked_at = time.monotonic()
                self._ask(sorted(self._asked))
            if bandit in self._kept:
                self._holders[bandit] = store
            return bandit in self._kept

    def forget(self, store: int) -> None:
        """Hand the bandit of a store that is gone to another store of this process."""
        for bandit in [bandit for bandit, holder in self._holders.items() if holder == store]:
            del self._holders[bandit]

    def give_back(self, bandit: int, store: int) -> None:
        """Give up the bandit that a store kept, so that others need not wait until it is due."""
        with self.lock:
            if self._holders.get(bandit) != store:
                return
            del self._holders[bandit]
            self._kept.discard(bandit)
            self._asked.discard(bandit)
            now, query = (
                self._database.now,
                "DELETE FROM giro_keepers WHERE bandit = ? AND process = ?",
            )
            with self._database.errors(), self._database.aside() as connection:
                self._database.ask(connection, query, bandit, self._process)
                if not self._holders:
                    query = (
                        f"DELETE FROM giro_processes WHERE process = ? OR until < {now} - {_DAY}"
                    )
                    self._database.ask(connection, query, self._process)

    def _ask(self, bandits: Collection[int]) -> None:
        """Say that this process lives, and take over those bandits whose keeper does not."""
        database, now = self._database, self._database.now
        marks = ", ".join("?" * len(bandits))
        free = (
            f"SELECT bandit FROM giro_bandits WHERE bandit IN ({marks}) AND bandit NOT IN (SELECT"
            " bandit FROM giro_keepers JOIN giro_processes USING (process)"
            f" WHERE until BETWEEN {now} AND {now} + {2 * LEASE})"  # not of a clock far ahead
        )
        alive = (
            f"INSERT INTO giro_processes VALUES (?, {now} + {LEASE})"
            " ON CONFLICT (process) DO UPDATE SET until = excluded.until"
        )
        take = (
            "INSERT INTO giro_keepers VALUES (?, ?)"
            " ON CONFLICT (bandit) DO UPDATE SET process = excluded.process"
        )
        with database.errors(), database.aside(alone=True) as connection:
            database.ask(connection, alive, self._process)
            for (bandit,) in database.ask(connection, free, *bandits).fetchall():
                database.ask(connection, take, bandit, self._process)
            query = "SELECT bandit FROM giro_keepers WHERE process = ?"
            rows = database.ask(connection, query, self._process).fetchall()
        self._kept = {bandit for (bandit,) in rows}
