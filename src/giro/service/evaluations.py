"""Evaluations of policies by a bandit's log: in a process of their own, the result kept.

Run as a program, it reads an order from its input and writes the result.
"""

import asyncio
import math
import secrets
import sys
import time
from asyncio.subprocess import PIPE
from typing import Any

import msgspec

import giro
from giro.service.errors import Problem, problem_of
from giro.service.service import Service

KIND = "evaluation"
_MOST = 100  # evaluations of a process that wait or run
_BEAT = 20.0  # seconds between signs of life of an evaluation
_ENDED = {"status": "failed", "detail": "the service ended before the evaluation did: ask again"}


class Evaluations:
    """The evaluations that this process begins, one after the other, and those that are kept."""

    def __init__(self, service: Service, kind: str = KIND) -> None:
        """Begin without any. `kind` is that of the records in which they are kept."""
        self._service, self._kind = service, kind
        self._turn = asyncio.Semaphore(1)
        self._running: set[asyncio.Task[None]] = set()
        service.on_close.append(self.close)

    async def begin(
        self, bandit: str, about: dict[str, Any], order: dict[str, Any], id: str | None = None
    ) -> dict[str, Any]:
        """Begin an evaluation, and return its record, which has `about` and later the result.

        The order has `policies` and `options` of `giro.evaluate`, and if need be the times `since`
        and `until` of decisions.
        """
        if len(self._running) >= _MOST:
            raise Problem(429, f"{_MOST} evaluations wait already: ask again later", wait=10)
        id = id or secrets.token_hex(8)
        record = {"id": id, "status": "running", "created": time.time(), **about}
        await self._service.put(self._kind, f"{bandit}/{id}", record | {"alive": time.time()})
        order = {"store": self._service.settings.store, "bandit": bandit, **order}
        task = asyncio.create_task(self._run(order, record))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return record

    async def _run(self, order: dict[str, Any], record: dict[str, Any]) -> None:
        """Evaluate, and keep the result, or that there is none because the service ends."""
        name, result = f"{order['bandit']}/{record['id']}", _ENDED
        beating = asyncio.create_task(self._beat(name, record))
        try:
            async with self._turn:
                result = await in_another_process(order)
        finally:
            beating.cancel()
            await asyncio.wait([beating])
            await self._service.put(self._kind, name, record | result)

    async def _beat(self, name: str, record: dict[str, Any]) -> None:
        """Say from time to time that an evaluation is under way: a crash says nothing."""
        while True:
            await asyncio.sleep(_BEAT)
            await self._service.put(self._kind, name, record | {"alive": time.time()})

    async def all(self, bandit: str) -> list[dict[str, Any]]:
        """Return the evaluations of a bandit, the newest first."""
        records = await self._service.call(self._service.records.all, self._kind)
        own = [_now(each.value) for name, each in records.items() if name.startswith(f"{bandit}/")]
        return sorted(own, key=lambda value: -value["created"])

    async def get(self, bandit: str, id: str) -> dict[str, Any] | None:
        """Return an evaluation."""
        record = await self._service.get(self._kind, f"{bandit}/{id}")
        return None if record is None else _now(record.value)

    async def delete(self, bandit: str, id: str) -> None:
        """Forget an evaluation that is over."""
        await self._service.call(self._service.records.delete, self._kind, f"{bandit}/{id}")

    async def close(self) -> None:
        """End all that runs, and write down that it failed."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


def _now(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record, as failed if nobody works on it any more."""
    alive = record.get("alive")
    if record["status"] == "running" and alive is not None and time.time() - alive > 3 * _BEAT:
        record = record | _ENDED
    return {key: value for key, value in record.items() if key != "alive"}


async def in_another_process(order: dict[str, Any]) -> dict[str, Any]:
    """Return the result of an order. Its store may have a password, so it is no argument."""
    program = (sys.executable, "-m", "giro.service.evaluations")
    child = await asyncio.create_subprocess_exec(*program, stdin=PIPE, stdout=PIPE)
    try:
        answer, _ = await child.communicate(msgspec.json.encode(order))
    except asyncio.CancelledError:
        child.kill()
        await child.wait()
        raise
    if child.returncode != 0:
        return {"status": "failed", "detail": "the process that evaluates has failed"}
    result: dict[str, Any] = msgspec.json.decode(answer)
    return result


def evaluated(order: dict[str, Any]) -> dict[str, Any]:
    """Return the rows of an evaluation as plain data, or the error."""
    try:
        with giro.Bandit.open(
            order["store"], order["bandit"], at_once=True, progress=False
        ) as bandit:
            events = between(bandit.events(), order.get("since"), order.get("until"))
            how = {"reward_range": bandit.setting["reward_range"], "progress": False}
        how |= order["options"]
        tables = [giro.evaluate(events, policy, **how).records() for policy in order["policies"]]
    except giro.GiroError as error:
        return {"status": "failed", "detail": problem_of(error).detail}
    rows = [{key: _json(value) for key, value in row.items()} for table in tables for row in table]
    return {"status": "done", "rows": rows}


def between(events: Any, since: float | None, until: float | None) -> Any:
    """Return events without the decisions of other times, and their rewards."""
    if since is None or until is None:
        return events
    is_decision = events["kind"] == "decision"
    others = events.filter(is_decision & ~events["time"].is_between(since, until))["id"]
    return events.filter(~events["id"].is_in(others.to_list()).fill_null(value=False))


def _json(value: Any) -> Any:
    """Return a value of a row, with null for numbers that are not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


if __name__ == "__main__":
    result = evaluated(msgspec.json.decode(sys.stdin.buffer.read()))
    sys.stdout.buffer.write(msgspec.json.encode(result))
