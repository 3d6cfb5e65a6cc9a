"""Evaluations of policies by a bandit's log: in a process of their own, the result kept."""

import asyncio
import math
import multiprocessing
import secrets
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import giro
from giro.service.errors import problem_of
from giro.service.service import Service

KIND = "evaluation"


class Evaluations:
    """The evaluations that this process runs, one after the other, and those that are kept."""

    def __init__(self, service: Service) -> None:
        """Begin without a process."""
        self._service = service
        self._processes: ProcessPoolExecutor | None = None
        self._running: set[asyncio.Task[None]] = set()
        service.on_close.append(self.close)

    async def begin(self, bandit: str, policy: str, options: dict[str, Any]) -> dict[str, Any]:
        """Begin an evaluation, and return its record."""
        id = secrets.token_hex(8)
        record = {"id": id, "status": "running", "policy": policy, "created": time.time()}
        await self._service.put(KIND, f"{bandit}/{id}", record)
        task = asyncio.create_task(self._run(bandit, record, options))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return record

    async def _run(self, bandit: str, record: dict[str, Any], options: dict[str, Any]) -> None:
        if self._processes is None:
            fresh = multiprocessing.get_context("spawn")  # forks copy locks that threads hold
            self._processes = ProcessPoolExecutor(1, fresh)
        loop, store = asyncio.get_running_loop(), self._service.settings.store
        work = partial(evaluated, store, bandit, record["policy"], options)
        try:
            rows = await loop.run_in_executor(self._processes, work)
            more: dict[str, Any] = {"status": "done", "rows": rows}
        except Exception as error:
            more = {"status": "failed", "detail": problem_of(error).detail}
        await self._service.put(KIND, f"{bandit}/{record['id']}", record | more)

    async def all(self, bandit: str) -> list[dict[str, Any]]:
        """Return the evaluations of a bandit, the newest first."""
        records = await self._service.call(self._service.records.all, KIND)
        own = [each.value for name, each in records.items() if name.startswith(f"{bandit}/")]
        return sorted(own, key=lambda value: -value["created"])

    async def get(self, bandit: str, id: str) -> dict[str, Any] | None:
        """Return an evaluation."""
        record = await self._service.get(KIND, f"{bandit}/{id}")
        return None if record is None else record.value

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._processes is not None:
            self._processes.shutdown(wait=False, cancel_futures=True)


def evaluated(
    store: str, bandit: str, policy: str, options: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the rows of an evaluation, as plain data."""
    with giro.Bandit.open(store, bandit, at_once=True) as opened:
        events = opened.events()
    rows = giro.evaluate(events, policy, **options).records()
    return [{key: _json(value) for key, value in row.items()} for row in rows]


def _json(value: Any) -> Any:
    """Return a value of a row, with null for numbers that are not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
