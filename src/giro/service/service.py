"""Service: the keys, bandits and records that all doors share."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeAlias, TypeVar

import msgspec

from giro import Ask, Bandit, Decision, GiroError, Record, Records, UnknownDecision
from giro.service.bandits import Bandits, Running, bandit_in
from giro.service.batches import Lane
from giro.service.errors import Problem
from giro.service.keys import Key, KeyRing, all_keys
from giro.service.metrics import KEPT, KIND, Metrics
from giro.service.settings import Settings

_LOGGER = logging.getLogger("giro.service")
_THREADS = 32
_FOLLOWING = 2.0  # seconds between looks at keys and settings that others change
STICKY, DEFERRED = "sticky", "deferred"  # kinds of records
_QUEUE = 10_000  # records that wait to be read or written
DAY = 86400.0
T = TypeVar("T")
_Change: TypeAlias = tuple[str, Any, int | None]  # name, value, version of a record


class Service:
    """All that a door needs: `keys`, `bandits`, `records`, and decisions across them."""

    def __init__(self, settings: Settings) -> None:
        """Prepare. `start` opens the store."""
        self.settings = settings
        self.keys = KeyRing(rate=settings.limits.rate, workers=settings.workers)
        self.pool = ThreadPoolExecutor(_THREADS, "giro")
        self.metrics = Metrics()
        self.is_ready = self.is_closing = False
        self.on_close: list[Callable[[], Awaitable[None]]] = []  # of doors
        self._reads: dict[str, Lane[str, Record | None]] = {}
        self.expected: list[Running] = []  # bandits of the settings, which readiness waits for
        self._writes: dict[tuple[str, float | None], Lane[_Change, bool]] = {}
        self._following: asyncio.Task[None] | None = None

    # -- starting and ending -----------------------------------------------------------------

    async def start(self) -> None:
        """Open the store, and know the keys."""
        settings = self.settings
        self.records = await self.call(Records, settings.store)
        self.bandits = Bandits(
            settings.store,
            self.records,
            self.pool,
            self.metrics,
            queue=settings.limits.queue,
            most=settings.limits.bandits,
            kept={new.name for new in settings.bandits},
        )
        await self.follow_once()
        self._following = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        """Keep up with keys and settings that are changed elsewhere."""
        while True:
            await asyncio.sleep(_FOLLOWING)
            try:
                await self.follow_once()
            except GiroError as error:
                _LOGGER.warning("keys and settings cannot be read: %s", error)

    async def follow_once(self) -> None:
        """Take over keys and settings as they are now, and show others the counts."""
        self.keys.replace(await self.call(all_keys, self.records))
        await self.bandits.follow()
        if self.settings.workers > 1:
            counts = msgspec.to_builtins(self.metrics.now())
            await self.call(self._keep_counts, counts)

    def _keep_counts(self, counts: Any) -> None:
        self.records.put(KIND, self.metrics.name, counts, seconds=KEPT)

    async def close(self) -> None:
        """Answer all that waits, and close everything."""
        self.is_closing = True
        if self._following is not None:
            self._following.cancel()
        for function in self.on_close:
            await function()
        for lane in self._writes.values():
            await lane.drain()
        await self.bandits.close()
        await self.call(self.records.close)
        self.pool.shutdown()

    async def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return the result of a function that may wait, from another thread."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, function, *arguments)

    # -- decisions ---------------------------------------------------------------------------

    async def bandit(self, name: str, key: Key, scope: str) -> Running:
        """Return a bandit, if the key allows this with it."""
        key.check(scope, name)
        return await self.bandits.get(name)

    async def decide(
        self, running: Running, ask: Ask, *, activates: bool = False
    ) -> list[Decision]:
        """Return the decisions on a request. Those that are deferred are kept until `activate`.

        If it `activates`, a reward does the same as `activate`.
        """
        if running.about.retired:
            raise Problem(410, f"the bandit '{running.name}' is retired")
        if not ask.deferred:
            return await running.decide(ask)
        kept = None if ask.id is None else await self.get(DEFERRED, ask.id)
        if kept is not None:
            texts = kept.value["texts"]
            return [await self.call(running.bandit.decision_in, text, ask) for text in texts]
        decisions = await running.decide(ask)
        texts = [decision.text for decision in decisions]
        seconds = running.bandit.setting["reward_wait"] or DAY
        ids = {decision.id for decision in decisions} | ({ask.id} if ask.id else set())
        for id in ids:
            value = {
                "bandit": running.name,
                "texts": texts,
                "activates": activates,
                "rewards": [],
            }
            await self.put(DEFERRED, id, value, seconds=seconds)
        return decisions

    async def activate(self, id: str, key: Key) -> None:
        """Enter a deferred decision, and those of the same ranking, with the rewards so far.

        Activating twice changes nothing.
        """
        kept = await self.get(DEFERRED, id)
        if kept is None:
            await self._owner(id, key)
            return
        running = await self.bandit(kept.value["bandit"], key, "reward")
        await self._activate(running, kept.value["texts"])

    async def activate_in(self, running: Running, id: str) -> None:
        """Enter a deferred decision of a bandit, or a ranking by the id of the request."""
        kept = await self.get(DEFERRED, id)
        if kept is not None and kept.value["bandit"] == running.name:
            return await self._activate(running, kept.value["texts"])
        if not await self.call(_has, running.bandit, id):
            raise UnknownDecision(id)

    async def _activate(self, running: Running, texts: Sequence[str]) -> None:
        decisions = await self.call(running.bandit.activate, texts)
        running.prepare_if_possible()
        ids = [decision.id for decision in decisions]
        records = await self.call(self.records.get_many, DEFERRED, ids)
        for id, record in records.items():
            for value, report in record.value["rewards"]:
                await running.reward(id, value, report)
        await self.call(self.records.delete, DEFERRED, *ids)

    # -- rewards -----------------------------------------------------------------------------

    async def reward(self, id: str, value: float, key: Key, report: str | None = None) -> None:
        """Report the reward of a decision of any bandit that the key may reward.

        An id that the service made begins with the name of its bandit. Others are looked up in all
        bandits, which takes longer the more there are. `report` is a name, see `Bandit.reward`.
        """
        with self.metrics.reports():
            name = bandit_in(id)
            if name in self.bandits and key.may("reward", name):
                try:
                    return await self._reward_in(await self.bandits.get(name), id, value, report)
                except UnknownDecision:
                    pass
            await self._reward_in(await self._owner(id, key), id, value, report)

    async def reward_in(
        self, running: Running, id: str, value: float, report: str | None = None
    ) -> None:
        """Report the reward of a decision of a bandit, or of one that is deferred."""
        with self.metrics.reports():
            await self._reward_in(running, id, value, report)

    async def _reward_in(self, running: Running, id: str, value: float, report: str | None) -> None:
        try:
            await running.reward(id, value, report)
        except UnknownDecision:
            kept = await self.get(DEFERRED, id)
            if kept is None or kept.value["bandit"] != running.name:
                raise
            if kept.value["activates"]:
                await self._activate(running, kept.value["texts"])
                return await running.reward(id, value, report)
            await self._reward_later(id, value, report)

    async def _reward_later(self, id: str, value: float, report: str | None) -> None:
        """Keep the reward of a deferred decision with it."""
        while (kept := await self.get(DEFERRED, id)) is not None:
            more = kept.value | {"rewards": [*kept.value["rewards"], [value, report]]}
            if await self.put(DEFERRED, id, more, seconds=DAY, expected=kept.version):
                return

    async def _owner(self, id: str, key: Key) -> Running:
        """Return the bandit that has a decision, among those that the key may reward."""
        kept = await self.get(DEFERRED, id)
        if kept is not None:
            return await self.bandit(kept.value["bandit"], key, "reward")
        owners = []
        for name in await self.bandits.names():
            if key.may("reward", name):
                running = await self.bandits.get(name)
                if await self.call(_has, running.bandit, id):
                    owners.append(running)
        if not owners:
            raise UnknownDecision(id)
        if len(owners) > 1:
            names = ", ".join(owner.name for owner in owners)
            raise Problem(409, f"the bandits {names} have a decision '{id}': name the bandit")
        return owners[0]

    # -- decisions by targetingKey -----------------------------------------------------------

    async def stick(
        self, bandit: str, targeting_key: str, value: Any, *, seconds: float, expected: int = 0
    ) -> bool:
        """Remember a decision under a targetingKey: plain data that has at least its `id`.

        If another was remembered since the version `expected`, that one stays.
        """
        name = _sticky_name(bandit, targeting_key)
        return await self.put(STICKY, name, value, seconds=seconds, expected=expected)

    async def stuck(self, bandit: str, targeting_key: str) -> Record | None:
        """Return the newest decision remembered under a targetingKey, or None."""
        return await self.get(STICKY, _sticky_name(bandit, targeting_key))

    def forget(self, ids: Sequence[str]) -> None:
        """Delete the records of decisions beside the log. This may wait."""
        sticky = self.records.all(STICKY).items()
        self.records.delete(STICKY, *(name for name, each in sticky if each.value["id"] in ids))
        self.records.delete(DEFERRED, *ids)

    # -- records -----------------------------------------------------------------------------

    async def get(self, kind: str, name: str) -> Record | None:
        """Return a record. Those that are asked for at once are read together."""
        lane = self._reads.get(kind)
        if lane is None:
            lane = self._reads[kind] = Lane(partial(self._read, kind), self.pool, most=_QUEUE)
        return await lane.put(name)

    def _read(self, kind: str, names: Sequence[str]) -> list[Record | None]:
        records = self.records.get_many(kind, names)
        return [records.get(name) for name in names]

    async def put(
        self,
        kind: str,
        name: str,
        value: Any,
        *,
        seconds: float | None = None,
        expected: int | None = None,
    ) -> bool:
        """Write a record as `Records.put` does. Those that come at once share a commit."""
        lane = self._writes.get((kind, seconds))
        if lane is None:
            lane = Lane(partial(self._write, kind, seconds), self.pool, most=_QUEUE)
            self._writes[kind, seconds] = lane
        try:
            return await lane.put((name, value, expected))
        finally:
            if lane.is_idle:  # callers bring ever new seconds
                self._writes.pop((kind, seconds), None)

    def _write(self, kind: str, seconds: float | None, changes: Sequence[_Change]) -> list[bool]:
        return self.records.put_each(kind, changes, seconds=seconds)


def _sticky_name(bandit: str, targeting_key: str) -> str:
    """Return the name of a record that does not show whose it is."""
    digest = hashlib.sha256(targeting_key.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{bandit}/{digest}"


def _has(bandit: Bandit, id: str) -> bool:
    try:
        bandit.decision(id)
    except UnknownDecision:
        return False
    return True
