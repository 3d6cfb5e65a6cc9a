"""A plain service: an endpoint that inserts a row for each request, and answers when it is durable.

    python benchmarks/plain_service.py --store sqlite:///FILE --workers 1 --port 8000

There is no bandit in it: the row is as large as that of a decision among ten arms, and what it
answers as well. Each request is one transaction, as programs are mostly written.
"""

import argparse
import os
import sqlite3
import threading
import uuid
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from giro.bandit.event import Decided, row_of

ARMS = [f"arm {i}" for i in range(10)]
_STORE = "PLAIN_STORE"  # in the environment of workers
_CHANCES = {arm: 0.1 for arm in ARMS}
_ROW = row_of(Decided("", 1.0, 1, np.arange(len(ARMS)), np.full(len(ARMS), 0.1), 0.1, 7))
_TABLE = "CREATE TABLE IF NOT EXISTS plain (kind INT, id TEXT, time FLOAT, value FLOAT, data {})"
_INDEX = "CREATE INDEX IF NOT EXISTS by_id ON plain (id)"


class _Sqlite:
    """One connection, which requests use in turns: SQLite has one writer."""

    def __init__(self, path: str) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(
            path, isolation_level=None, timeout=60, check_same_thread=False
        )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute(_TABLE.format("BLOB"))
        self._connection.execute(_INDEX)

    def insert(self, row: tuple[Any, ...]) -> None:
        with self._lock:
            self._connection.execute("INSERT INTO plain VALUES (?, ?, ?, ?, ?)", row)


class _Postgres:
    """A connection for each thread."""

    def __init__(self, url: str) -> None:
        self._url, self._own = url, threading.local()
        connection = self._connection()
        connection.execute("SELECT pg_advisory_lock(1)")
        connection.execute(_TABLE.format("BYTEA"))
        connection.execute(_INDEX)
        connection.execute("SELECT pg_advisory_unlock(1)")

    def _connection(self) -> Any:
        import psycopg  # noqa: PLC0415  # an extra

        if not hasattr(self._own, "connection"):
            self._own.connection = psycopg.connect(self._url, autocommit=True)
        return self._own.connection

    def insert(self, row: tuple[Any, ...]) -> None:
        self._connection().execute("INSERT INTO plain VALUES (%s, %s, %s, %s, %s)", row)


def application() -> Starlette:
    """Return the application of a worker."""
    store = os.environ[_STORE]
    is_sqlite = store.startswith("sqlite")
    table = _Sqlite(store.removeprefix("sqlite:///")) if is_sqlite else _Postgres(store)

    def decide(request: Request) -> JSONResponse:  # Starlette calls it in a thread
        id = uuid.uuid4().hex[:24]
        table.insert((_ROW.kind, id, _ROW.time, None, _ROW.data))
        answer = {"id": id, "arm": ARMS[1], "propensity": 0.1, "propensities": _CHANCES}
        return JSONResponse(answer)

    async def ready(request: Request) -> JSONResponse:
        return JSONResponse({})

    return Starlette(
        routes=[Route("/decisions", decide, methods=["POST"]), Route("/readyz", ready)]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--store", required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    os.environ[_STORE] = options.store
    uvicorn.run(
        "plain_service:application",
        factory=True,
        port=options.port,
        workers=options.workers,
        log_level="warning",
        access_log=False,
        timeout_worker_healthcheck=120,  # a worker that is late, for the machine is busy, may live
    )
