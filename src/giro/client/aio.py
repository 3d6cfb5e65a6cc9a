"""AsyncClient: the twin of `Client` for event loops."""

import asyncio
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import httpx

from giro.checks import WORD, check, ids_in
from giro.client.answers import Decision
from giro.client.asking import (
    Arms,
    Context,
    ask_for,
    asks_for,
    events_in,
    rewards_in,
    rows_table,
    summary_table,
)
from giro.client.connecting import QUEUE, URL, lost, reply_of, request_of, setup
from giro.client.steps import Do, Send, Steps, quoted
from giro.client.waiting import Refused

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")


class AsyncClient:
    """The twin of `Client` for event loops: the same parameters, and methods to await.

    A task of the loop, instead of a thread, looks whether the service is back and sends what waits.
    It begins with the first call, or with `async with`.
    """

    def __init__(
        self,
        url: str = URL,
        key: str | None = None,
        *,
        timeout: float = 1.0,
        patience: float = 60.0,
        retries: int = 2,
        queue: str | os.PathLike[str] | None = QUEUE,
        background: bool = True,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Check the parameters. Nothing is sent yet."""
        self._script, options = setup(
            url, key, queue, timeout=timeout, patience=patience, retries=retries
        )
        self._http = httpx.AsyncClient(transport=transport, **options)
        self._task: asyncio.Task[None] | None = None
        self._background, self._wanted, self._is_closed = background, asyncio.Event(), False
        self._script.wake, self._script.breaker.is_tended = self._wake, background

    def bandit(self, name: str, *, baseline: str | None = None) -> "AsyncRemoteBandit":
        """Return a bandit of the service. `baseline` is for decisions that name none."""
        return AsyncRemoteBandit(self, name, baseline)

    async def create(
        self, name: str, arms: Iterable[str] | None = None, policy: str = "default", **more: Any
    ) -> "AsyncRemoteBandit":
        """Make a bandit with the parameters of `giro.Bandit`, unless it is there with the same."""
        body = {"name": name, "arms": None if arms is None else list(arms), "policy": policy}
        await self._play(self._script.content("POST", "/v1/bandits", body | more))
        return self.bandit(name)

    async def names(self) -> list[str]:
        """Return the names of the bandits that the key may read."""
        return list((await self._play(self._script.content("GET", "/v1/bandits")))["bandits"])

    @property
    def waiting(self) -> int:
        """The number of decisions and rewards that are still to be sent."""
        return len(self._script.waiting)

    def refused(self) -> list[Refused]:
        """Return the decisions and rewards that waited and then were not taken, and why."""
        return self._script.waiting.refused()

    async def flush(self, seconds: float = 60.0) -> int:
        """Send all that waits, for some time at most, and return how much is left."""
        until = time.monotonic() + seconds
        while True:
            pause = await self._play(self._script.tend())
            left = until - time.monotonic()
            if pause is None or left <= 0.0:
                return self.waiting
            await asyncio.sleep(min(pause, left))

    async def close(self) -> None:
        """Try once to send all that waits, unless the service is away, and close everything."""
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._script.waiting.is_there and not self._script.breaker.is_open:
            await self._play(self._script.tend())
        self._script.waiting.close()
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        if self._script.waiting.is_there:
            self._wake()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    # -- playing steps -----------------------------------------------------------------------

    async def _play(self, steps: Steps[T]) -> T:
        """Play the steps, and return their result."""
        if self._task is None and self._script.waiting.is_there:
            self._wake()
        result: Any = None
        error: Exception | None = None
        while True:
            try:
                step = steps.throw(error) if error is not None else steps.send(result)
            except StopIteration as end:
                return cast(T, end.value)
            result = error = None
            try:
                if isinstance(step, Send):
                    result = await self._sent(step)
                elif isinstance(step, Do):
                    result = await asyncio.to_thread(step.function)
                else:
                    await asyncio.sleep(step.seconds)
            except Exception as failure:
                error = failure

    async def _sent(self, step: Send) -> Any:
        try:
            async with asyncio.timeout(step.seconds):
                return reply_of(await self._http.request(**request_of(step)))
        except (httpx.TransportError, TimeoutError) as error:
            raise lost(error) from error

    def _wake(self) -> None:
        """Have the task look, which begins when it is needed."""
        self._wanted.set()
        if self._background and self._task is None and not self._is_closed:
            self._task = asyncio.create_task(self._tend())

    async def _tend(self) -> None:
        """Send all that waits, whenever there is something, until the client is closed."""
        pause: float | None = None
        while True:
            if pause is None:
                await self._wanted.wait()
            else:
                await asyncio.sleep(pause)
            self._wanted.clear()
            pause = await self._play(self._script.tend())


class AsyncRemoteBandit:
    """A bandit of a service, as `AsyncClient.bandit` returns it: `RemoteBandit`, awaited."""

    def __init__(self, client: AsyncClient, name: str, baseline: str | None) -> None:
        """Remember its name."""
        check("a client", WORD, bandit=name)
        self.name, self._client, self._baseline = name, client, baseline
        self._script, self._play = client._script, client._play

    def __repr__(self) -> str:
        return f"AsyncRemoteBandit({self.name!r} at {self._script.url})"

    async def decide(
        self,
        context: Context = None,
        *,
        arms: Arms = None,
        id: str | None = None,
        baseline: str | None = None,
    ) -> Decision:
        """Return a decision, see `RemoteBandit.decide`."""
        ask = ask_for(self.name, context, arms, id, baseline or self._baseline)
        return (await self._play(self._script.decide(self.name, [ask])))[0]

    async def decide_many(
        self, contexts: Any, *, arms: Arms = None, baseline: str | None = None
    ) -> list[Decision]:
        """Return a decision for each context, or this many without contexts.

        Decisions are made in groups, so after an error some may have been made.
        """
        asks = asks_for(self.name, contexts, arms, baseline or self._baseline)
        return await self._play(self._script.decide(self.name, asks)) if asks else []

    async def rank(
        self,
        context: Context = None,
        *,
        arms: Arms = None,
        slots: int | Sequence[Mapping[str, Any]],
        id: str | None = None,
    ) -> list[Decision]:
        """Return a decision for each slot, as `giro.Bandit.rank` does.

        While the service is away slots get the first of `arms`.
        """
        ask = ask_for(self.name, context, arms, id, None)
        return await self._play(self._script.rank(self.name, ask, slots))

    async def reward(self, id: str, value: float, *, report: str | None = None) -> None:
        """Report a reward, which counts once: now, or when the service is back.

        `report` is a name for it, if you may report it again yourself, see `giro.Bandit.reward`.
        """
        await self._play(self._script.reward(self.name, [(id, value, report)]))

    async def reward_many(self, rewards: Mapping[str, float] | Iterable[Sequence[Any]]) -> None:
        """Report values by id, or tuples of an id, a value and if need be a name.

        Each counts, or fails, alone. The first error is raised in the end.
        """
        await self._play(self._script.reward(self.name, rewards_in(rewards)))

    async def add_arm(self, name: str) -> None:
        """Add an arm, or bring a retired one back."""
        path = f"{self._path}/arms"
        await self._play(self._script.content("POST", path, {"arm": name}, repeats=False))

    async def retire_arm(self, name: str) -> None:
        """Never choose an arm again."""
        path = f"{self._path}/arms/{quoted(name)}"
        await self._play(self._script.content("DELETE", path, repeats=False))

    async def erase(self, ids: Iterable[str]) -> int:
        """Remove these decisions for good, and return how many events are gone."""
        body, path = {"ids": ids_in(ids)}, f"{self._path}/decisions"
        return int((await self._play(self._script.content("DELETE", path, body)))["events"])

    async def info(self) -> dict[str, Any]:
        """Return the setting of the bandit, its arms and counts."""
        return dict(await self._play(self._script.content("GET", self._path)))

    async def summary(self) -> "pl.DataFrame":
        """Return a row for each arm with its decisions and rewards, as `giro.Bandit.summary`."""
        return summary_table(await self._play(self._script.content("GET", f"{self._path}/summary")))

    async def events(self, *, since: int = 0) -> "pl.DataFrame":
        """Return the log behind the position `since`, as `giro.Bandit.events` does."""
        reply = await self._play(self._script.exchange("GET", f"{self._path}/events?since={since}"))
        return events_in(reply)

    async def evaluate(self, policy: str, **options: Any) -> "pl.DataFrame":
        """Return estimates of how another policy would have done, as of `Evaluation.to_frame`.

        The service works on them, with the options of `giro.evaluate`, and this waits.
        """
        return rows_table(await self._play(self._script.evaluate(self.name, policy, options)))

    @property
    def _path(self) -> str:
        return f"/v1/bandits/{quoted(self.name)}"
