"""Client: a service's bandits, with the methods of `giro.Bandit`."""

import os
import threading
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


class Client:
    """A client of `giro serve`: its bandits have the methods of `giro.Bandit`.

    `client.bandit("button").decide(...)` returns a decision in any case. While the service does not
    answer it is the baseline, or the first of `arms`, with `is_fallback` set; these decisions and
    all rewards are kept in the file `queue`, on disk before the call returns, and sent when the
    service is back, also by the next process that opens the file. Nothing is lost, and nothing
    counts twice: each decision has an id made here, and each reward a name. The parameters:

    - `url`: where the service is.
    - `key`: a key of it; by default the environment variable GIRO_KEY.
    - `timeout`: seconds that a decision or a reward may take, with all retries. After one that
      failed the next calls do not wait at all, until the service is back.
    - `patience`: seconds that any other call may take.
    - `retries`: how often a request is sent again.
    - `queue`: the file that keeps what waits, which processes may share; None for memory.
    - `background`: whether a thread looks whether the service is back, and sends what waits.
      Otherwise `flush` does, and some calls try.
    - `transport`: of httpx, as for a unix socket.

    Errors are those of `giro.Bandit` with the service's sentence, and `ServiceError` where the key
    is refused, or where there is no arm to fall back to. Threads may share a client.
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
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Check the parameters. Only items that wait from before are sent."""
        self._script, options = setup(
            url, key, queue, timeout=timeout, patience=patience, retries=retries
        )
        self._http = httpx.Client(transport=transport, **options)
        self._thread: threading.Thread | None = None
        self._starting, self._background = threading.Lock(), background
        self._wanted, self._closing = threading.Event(), threading.Event()
        self._script.wake, self._script.breaker.is_tended = self._wake, background
        if self._script.waiting.is_there:
            self._wake()

    def bandit(self, name: str, *, baseline: str | None = None) -> "RemoteBandit":
        """Return a bandit of the service. `baseline` is for decisions that name none."""
        return RemoteBandit(self, name, baseline)

    def create(
        self, name: str, arms: Iterable[str] | None = None, policy: str = "default", **more: Any
    ) -> "RemoteBandit":
        """Make a bandit with the parameters of `giro.Bandit`, unless it is there with the same."""
        body = {"name": name, "arms": None if arms is None else list(arms), "policy": policy}
        self._play(self._script.content("POST", "/v1/bandits", body | more))
        return self.bandit(name)

    def names(self) -> list[str]:
        """Return the names of the bandits that the key may read."""
        return list(self._play(self._script.content("GET", "/v1/bandits"))["bandits"])

    @property
    def waiting(self) -> int:
        """The number of decisions and rewards that are still to be sent."""
        return len(self._script.waiting)

    def refused(self) -> list[Refused]:
        """Return the decisions and rewards that waited and then were not taken, and why."""
        return self._script.waiting.refused()

    def flush(self, seconds: float = 60.0) -> int:
        """Send all that waits, for some time at most, and return how much is left."""
        until = time.monotonic() + seconds
        while True:
            pause = self._play(self._script.tend())
            left = until - time.monotonic()
            if pause is None or left <= 0.0:
                return self.waiting
            time.sleep(min(pause, left))

    def close(self) -> None:
        """Try once to send all that waits, unless the service is away, and close everything."""
        self._closing.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()
        if self._script.waiting.is_there and not self._script.breaker.is_open:
            self._play(self._script.tend())
        self._script.waiting.close()
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- playing steps -----------------------------------------------------------------------

    def _play(self, steps: Steps[T]) -> T:
        """Play the steps, and return their result."""
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
                    result = self._sent(step)
                elif isinstance(step, Do):
                    result = step.function()
                else:
                    time.sleep(step.seconds)
            except Exception as failure:
                error = failure

    def _sent(self, step: Send) -> Any:
        try:
            return reply_of(self._http.request(**request_of(step)))
        except httpx.TransportError as error:
            raise lost(error) from error

    def _wake(self) -> None:
        """Have the thread look, which begins when it is needed."""
        self._wanted.set()
        with self._starting:
            is_there = self._thread is not None and self._thread.is_alive()  # not after a fork
            if self._background and not is_there and not self._closing.is_set():
                self._thread = threading.Thread(target=self._tend, name="giro", daemon=True)
                self._thread.start()

    def _tend(self) -> None:
        """Send all that waits, whenever there is something, until the client is closed."""
        pause: float | None = None
        while True:
            if pause is None:
                self._wanted.wait()
            else:
                self._closing.wait(pause)
            if self._closing.is_set():
                return
            self._wanted.clear()
            pause = self._play(self._script.tend())


class RemoteBandit:
    """A bandit of a service, as `Client.bandit` returns it. It sends nothing by itself."""

    def __init__(self, client: Client, name: str, baseline: str | None) -> None:
        """Remember its name."""
        check("a client", WORD, bandit=name)
        self.name, self._client, self._baseline = name, client, baseline
        self._script, self._play = client._script, client._play

    def __repr__(self) -> str:
        return f"RemoteBandit({self.name!r} at {self._script.url})"

    def decide(
        self,
        context: Context = None,
        *,
        arms: Arms = None,
        id: str | None = None,
        baseline: str | None = None,
    ) -> Decision:
        """Return a decision on the arm to take now, as `giro.Bandit.decide` does.

        While the service is away it is `baseline`, or the first of `arms`.
        """
        ask = ask_for(self.name, context, arms, id, baseline or self._baseline)
        return self._play(self._script.decide(self.name, [ask]))[0]

    def decide_many(
        self, contexts: Any, *, arms: Arms = None, baseline: str | None = None
    ) -> list[Decision]:
        """Return a decision for each context, or this many without contexts.

        Decisions are made in groups, so after an error some may have been made.
        """
        asks = asks_for(self.name, contexts, arms, baseline or self._baseline)
        return self._play(self._script.decide(self.name, asks)) if asks else []

    def rank(
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
        return self._play(self._script.rank(self.name, ask, slots))

    def reward(self, id: str, value: float, *, report: str | None = None) -> None:
        """Report a reward, which counts once: now, or when the service is back.

        `report` is a name for it, if you may report it again yourself, see `giro.Bandit.reward`.
        """
        self._play(self._script.reward(self.name, [(id, value, report)]))

    def reward_many(self, rewards: Mapping[str, float] | Iterable[Sequence[Any]]) -> None:
        """Report values by id, or tuples of an id, a value and if need be a name.

        Each counts, or fails, alone. The first error is raised in the end.
        """
        self._play(self._script.reward(self.name, rewards_in(rewards)))

    def add_arm(self, name: str) -> None:
        """Add an arm, or bring a retired one back."""
        path = f"{self._path}/arms"
        self._play(self._script.content("POST", path, {"arm": name}, repeats=False))

    def retire_arm(self, name: str) -> None:
        """Never choose an arm again."""
        path = f"{self._path}/arms/{quoted(name)}"
        self._play(self._script.content("DELETE", path, repeats=False))

    def erase(self, ids: Iterable[str]) -> int:
        """Remove these decisions for good, and return how many events are gone."""
        body, path = {"ids": ids_in(ids)}, f"{self._path}/decisions"
        return int(self._play(self._script.content("DELETE", path, body))["events"])

    def info(self) -> dict[str, Any]:
        """Return the setting of the bandit, its arms and counts."""
        return dict(self._play(self._script.content("GET", self._path)))

    @property
    def arms(self) -> list[str]:
        """The arms that can be chosen."""
        return list(self.info()["arms"])

    def summary(self) -> "pl.DataFrame":
        """Return a row for each arm with its decisions and rewards, as `giro.Bandit.summary`."""
        return summary_table(self._play(self._script.content("GET", f"{self._path}/summary")))

    def events(self, *, since: int = 0) -> "pl.DataFrame":
        """Return the log behind the position `since`, as `giro.Bandit.events` does."""
        reply = self._play(self._script.exchange("GET", f"{self._path}/events?since={since}"))
        return events_in(reply)

    def evaluate(self, policy: str, **options: Any) -> "pl.DataFrame":
        """Return estimates of how another policy would have done, as of `Evaluation.to_frame`.

        The service works on them, with the options of `giro.evaluate`, and this waits.
        """
        return rows_table(self._play(self._script.evaluate(self.name, policy, options)))

    @property
    def _path(self) -> str:
        return f"/v1/bandits/{quoted(self.name)}"
