"""Bandits of a store: opened when they are needed, once in each process, and made ready aside."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Container, Mapping
from concurrent.futures import Executor
from functools import partial
from typing import Any

import msgspec

import giro
from giro import Ask, Bandit, Decision, GiroError, Records
from giro.service.about import KIND, About, about_of, changed, retired
from giro.service.batches import Lane
from giro.service.errors import Problem
from giro.service.memory import give_back
from giro.service.metrics import Metrics

_LOGGER = logging.getLogger("giro.service")
# Unless a bandit says otherwise: callers can bring new names of features for ever, and some
# policies have matrices of all columns for each arm.
_COLUMNS = 200
_PARTING = 1.0  # seconds between looks whether a request still has a bandit that is let go
_AT_ONCE = 4  # that are opened: one request can ask for all bandits of a store
_MOST_PARTING = 64  # that are let go and still in memory, before others are opened
_LONGEST_PREFIX = 200  # characters of a name that ids can begin with: they have 256 at most


class Running:
    """An open bandit: requests from all callers are decided and rewarded in groups."""

    def __init__(
        self, bandit: Bandit, about: About, pool: Executor, metrics: Metrics, *, queue: int
    ) -> None:
        """Prepare the lanes."""
        self.bandit, self.about, self._pool = bandit, about, pool
        self.name = str(bandit.name)
        shape: dict[str, Any] = {"most": queue, "side_by_side": 2}
        self._decisions: Lane[Ask, list[Decision]] = Lane(
            bandit.decide_each, pool, done=partial(metrics.committed, "decisions"), **shape
        )
        self._rewards: Lane[tuple[str, float, str | None], None] = Lane(
            bandit.reward_each, pool, done=partial(metrics.committed, "rewards"), **shape
        )
        self._is_closing, self._gave_up = threading.Event(), False
        self._activations: Lane[str, Decision] = Lane(bandit.activate, pool, most=queue)
        self._preparing: asyncio.Task[None] | None = None

    async def decide(self, ask: Ask) -> list[Decision]:
        """Return the decision, or one for each slot, when they are durable."""
        decisions = await self._decisions.put(ask)
        self.prepare_if_possible()
        return decisions

    async def reward(self, id: str, value: float, report: str | None = None) -> None:
        """Report a reward, and return when it is durable. The report may have a name."""
        await self._rewards.put((id, value, report))

    async def activate(self, text: str) -> None:
        """Enter a deferred decision into the log, unless it is there."""
        await self._activations.put(text)
        self.prepare_if_possible()

    def prepare_if_possible(self) -> None:
        """Compile the policy once the first decision in the log shows the form of contexts."""
        if not (self.bandit.is_ready or self._gave_up) and self.bandit.n_decisions:
            self.prepare()

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a function that may take a while, from another thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, function, *arguments)

    async def change(self, **parameters: Any) -> None:
        """Go on with other parameters, see `Bandit.change`.

        Another policy is compiled in another process first, while this one decides.
        """
        policy = parameters.get("policy")
        if policy is not None and self.bandit.is_ready:
            stop = self._is_closing.is_set
            await asyncio.to_thread(self.bandit.compile_aside, policy, stop=stop)
        await self.call(partial(self.bandit.change, **parameters))

    @property
    def waiting(self) -> int:
        """The number of requests that wait for a thread."""
        return len(self._decisions) + len(self._rewards) + len(self._activations)

    def prepare(self) -> None:
        """Begin to compile the policy, or to load it, unless that has begun."""
        if self._preparing is None or self._preparing.done():
            self._preparing = asyncio.create_task(self._prepare())

    async def _prepare(self) -> None:
        """Compile the policy in another process, for the cache that all share, and then use it.

        Here it would hold up the event loop. If that process fails, this one compiles.
        """
        self._gave_up = True  # unless all goes well
        try:
            await asyncio.to_thread(self.bandit.compile_aside, stop=self._is_closing.is_set)
            if not self._is_closing.is_set():
                await asyncio.to_thread(self.bandit.get_ready)
            self._gave_up = False
        except GiroError as error:
            _LOGGER.warning("the bandit %s goes on choosing at random: %s", self.name, error)

    @property
    def is_preparing(self) -> bool:
        """Whether the policy is being compiled or loaded."""
        return self._preparing is not None and not self._preparing.done()

    async def prepared(self) -> None:
        """Wait until the policy is compiled, or cannot be."""
        if self._preparing is not None:
            await asyncio.wait([self._preparing])

    async def close(self) -> None:
        """Answer all that wait, keep a snapshot, and close the bandit."""
        self._is_closing.set()
        await self._decisions.drain()
        await self._rewards.drain()
        await self._activations.drain()
        if self._preparing is not None:
            await asyncio.wait([self._preparing])
        await self.call(self.bandit.close)


class Bandits:
    """The bandits of a store, in this process.

    Those asked for longest ago are let go if too many are open, but never those that are `kept`.
    A bandit that was let go while decisions waited for rewards is opened again when their
    `reward_wait` is over, so that they get the default reward.
    """

    def __init__(
        self,
        store: str,
        records: Records,
        pool: Executor,
        metrics: Metrics,
        *,
        queue: int,
        most: int,
        kept: Container[str] = (),
    ) -> None:
        """Begin with none of them open. `queue` is the limit of requests that wait for one."""
        self._metrics, self._most, self._kept = metrics, most, kept
        self.store, self._records, self._pool, self._queue = store, records, pool, queue
        self._open: dict[str, asyncio.Task[Running]] = {}  # the last one asked for is the last
        self._parting: dict[asyncio.Task[None], Running] = {}
        self._due: dict[str, float] = {}  # when to look again at bandits that were let go
        self._opening, self._has_freed = asyncio.Semaphore(_AT_ONCE), False

    async def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    async def names(self) -> list[str]:
        """Return the names of all bandits in the store, those that are retired as well."""
        return list(await self._call(Bandit.names, self.store))

    async def get(self, name: str) -> Running:
        """Return a bandit, after opening it if need be."""
        task = self._open.pop(name, None) or asyncio.create_task(self._open_one(name))
        self._open[name] = task
        try:
            running = await asyncio.shield(task)
        except BaseException:
            if task.done() and self._open.get(name) is task:
                del self._open[name]
            raise
        self._let_go()
        return running

    async def _open_one(self, name: str) -> Running:
        async with self._opening:
            while len(self._parting) >= _MOST_PARTING:
                await asyncio.wait(self._parting, return_when=asyncio.FIRST_COMPLETED)
            running: Running = await self._call(self._opened, name)
        return running

    def _let_go(self) -> None:
        """Forget bandits that are too many, and close them when no request can have them."""
        while len(self._open) > self._most:
            idle = (each for each in self.running() if each.name not in self._kept)
            running = next(idle, None)
            if running is None:
                return
            del self._open[running.name]
            parting = asyncio.create_task(self._part(running))
            self._parting[parting] = running
            parting.add_done_callback(self._parting.pop)

    async def _part(self, running: Running) -> None:
        await asyncio.sleep(_PARTING)
        while running.waiting:
            await asyncio.sleep(_PARTING)
        try:
            await running.close()
        except GiroError as error:
            _LOGGER.warning("the bandit %s was let go without a snapshot: %s", running.name, error)
        wait = running.bandit.setting["reward_wait"]
        if wait is not None and running.bandit.n_rewards < running.bandit.n_decisions:
            self._due[running.name] = time.monotonic() + wait
        self._has_freed = True

    @property
    def n_parting(self) -> int:
        """The number of those that are let go, and not closed yet."""
        return len(self._parting)

    def __contains__(self, name: str) -> bool:
        """Return whether a bandit is open."""
        return name in self._open

    def running(self) -> list[Running]:
        """Return the bandits that are open."""
        done = (task for task in self._open.values() if task.done() and not task.cancelled())
        return [task.result() for task in done if task.exception() is None]

    def _opened(self, name: str) -> Running:
        if name not in Bandit.names(self.store):
            raise Problem(404, f"there is no bandit '{name}'")
        bandit = Bandit.open(self.store, name, ids=_ids(name), at_once=True, progress=False)
        if not bandit.is_ready and bandit.is_compiled:
            bandit.get_ready()  # which only loads: better to wait for that than to decide by chance
        about = about_of(self._records, name)
        return Running(bandit, about, self._pool, self._metrics, queue=self._queue)

    async def create(self, name: str, parameters: Mapping[str, Any], about: About) -> bool:
        """Make a bandit, see `made`."""
        is_new: bool = await self._call(made, self.store, self._records, name, parameters, about)
        return is_new

    async def retire(self, name: str) -> None:
        """Decide no more with a bandit."""
        await self.change(name, retired)

    async def change(self, name: str, change: Callable[[About], None]) -> About:
        """Change the service's settings of a bandit, whoever else changes them at the same time."""
        about: About = await self._call(changed, self._records, name, change)
        for running in self.running():
            if running.name == name:
                running.about = about
        return about

    async def follow(self) -> None:
        """Take over changed settings, settle rewards that are due, and give back freed memory."""
        records = await self._call(self._records.all, KIND)
        for running in self.running():
            if running.name in records:
                running.about = msgspec.convert(records[running.name].value, About)
        for name in [name for name, due in self._due.items() if due <= time.monotonic()]:
            await self._settle(name)
        if self._has_freed:
            self._has_freed = False
            await self._call(give_back)

    async def _settle(self, name: str) -> None:
        """Give the rewards that a bandit owes since it was let go."""
        del self._due[name]
        try:
            running = await self.get(name)
            await running.call(running.bandit.keep)
        except (GiroError, Problem) as error:
            _LOGGER.warning("the bandit %s cannot settle its rewards: %s", name, error)

    async def close(self) -> None:
        """Close all bandits."""
        parting = dict(self._parting)
        for task in parting:
            task.cancel()
        for running in [*self.running(), *parting.values()]:
            await running.close()
        self._open.clear()


def made(
    store: str, records: Records, name: str, parameters: Mapping[str, Any], about: About
) -> bool:
    """Make a bandit, and return whether it is new: the same parameters again change nothing."""
    parameters = {"max_columns": _COLUMNS, **parameters}
    is_new = name not in Bandit.names(store)
    if is_new:
        records.put(KIND, name, msgspec.to_builtins(about))
    try:
        Bandit(name=name, store=store, ids=_ids(name), at_once=True, **parameters).close()
    except giro.BadParameter as error:
        if is_new:
            raise
        difference = str(error).partition("; sync_arms=True")[0]  # which is not said over HTTP
        raise Problem(
            409, f"{difference}; POST and DELETE /v1/bandits/{name}/arms add and retire arms"
        ) from None
    return is_new


def _ids(name: str) -> Callable[[], str]:
    """Return a source of ids that say which bandit a decision belongs to."""
    prefix = f"{name}." if len(name) <= _LONGEST_PREFIX else ""
    return lambda: prefix + os.urandom(12).hex()


def bandit_in(id: str) -> str:
    """Return the bandit that an id of this service belongs to, nothing for an id of others."""
    return id.rpartition(".")[0]
