"""Lane: requests that wait at the same moment are worked on together, in another thread.

While one group is worked on, which takes as long as a disk needs, the next gathers. So the event
loop never waits for a store, and a busy bandit appends hundreds of events with one commit.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, Generic, TypeVar

from giro.service.errors import Problem

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_LARGEST = 200  # items of a group: an answer should not wait for all others


class Lane(Generic[Item, Answer]):
    """Calls of one function, which takes many items and returns an answer or an error for each."""

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Answer | Exception]],
        pool: Executor,
        *,
        most: int,
        side_by_side: int = 1,
        done: Callable[[float], None] | None = None,
    ) -> None:
        """Work in the threads of a pool, with at most `most` items waiting.

        `side_by_side` is the number of groups at a time. `done` gets the seconds of each.
        """
        self._done = done
        self._work, self._pool, self._most, self._free = work, pool, most, side_by_side
        self._waiting: list[tuple[Item, asyncio.Future[Answer]]] = []
        self._groups: set[asyncio.Future[Any]] = set()

    def __len__(self) -> int:
        """Return how many items wait, without those that are worked on."""
        return len(self._waiting)

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or is worked on."""
        return not (self._waiting or self._groups)

    def put(self, item: Item) -> "asyncio.Future[Answer]":
        """Return the answer to come."""
        if len(self._waiting) >= self._most:
            raise Problem(503, "too many requests wait for this bandit: try again", wait=1)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, answer))
        self._start()
        return answer

    def _start(self) -> None:
        if self._free == 0 or not self._waiting:
            return
        self._free -= 1
        group, self._waiting = self._waiting[:_LARGEST], self._waiting[_LARGEST:]
        loop, begun = asyncio.get_running_loop(), time.perf_counter()
        task = loop.run_in_executor(self._pool, self._work, [item for item, _ in group])
        self._groups.add(task)
        task.add_done_callback(lambda done: self._finish(group, done, begun))

    def _finish(
        self,
        group: Sequence[tuple[Item, "asyncio.Future[Answer]"]],
        done: "asyncio.Future[Any]",
        begun: float,
    ) -> None:
        if self._done is not None:
            self._done(time.perf_counter() - begun)
        self._groups.discard(done)
        self._free += 1
        self._start()
        failure = done.exception()
        answers = [failure] * len(group) if failure is not None else done.result()
        for (_, future), answer in zip(group, answers, strict=True):
            if future.done():  # its caller is gone
                continue
            if isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)

    async def drain(self) -> None:
        """Wait until all that was asked for is answered."""
        while self._groups or self._waiting:
            await asyncio.wait(self._groups or {asyncio.ensure_future(asyncio.sleep(0.001))})
