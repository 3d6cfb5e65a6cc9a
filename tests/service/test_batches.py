"""Lanes: groups of requests in another thread."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from giro.service.batches import Lane
from giro.service.errors import Problem


class Work:
    """Doubles numbers, and stops until it may go on."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.go_on = threading.Event()

    def __call__(self, numbers: Sequence[int]) -> list[int | Exception]:
        self.groups.append(list(numbers))
        self.go_on.wait(60)
        if 13 in numbers:
            raise OSError("13")
        return [ValueError(str(n)) if n < 0 else 2 * n for n in numbers]


def run(game: Callable[[Lane[int, int], Work], Awaitable[None]], *, most: int = 100) -> None:
    async def whole() -> None:
        work = Work()
        with ThreadPoolExecutor(2) as pool:
            await game(Lane(work, pool, most=most), work)

    asyncio.run(whole())


def test_items_that_wait_at_the_same_moment_are_one_group() -> None:
    async def game(lane: Lane[int, int], work: Work) -> None:
        answers = [lane.put(number) for number in range(5)]
        assert len(lane) == 4
        work.go_on.set()
        assert await asyncio.gather(*answers) == [0, 2, 4, 6, 8]
        assert work.groups == [[0], [1, 2, 3, 4]]

    run(game)


def test_an_item_fails_alone_and_a_group_that_fails_fails_for_all() -> None:
    async def game(lane: Lane[int, int], work: Work) -> None:
        work.go_on.set()
        first = lane.put(1)
        results = await asyncio.gather(*map(lane.put, (2, -3, 4)), return_exceptions=True)
        assert [str(each) for each in results] == ["4", "-3", "8"]
        assert await first == 2
        alone = lane.put(5)
        bad = await asyncio.gather(*map(lane.put, (6, 13)), return_exceptions=True)
        assert [type(each) for each in bad] == [OSError, OSError]
        assert await alone == 10

    run(game)


def test_a_full_lane_refuses_and_one_that_gave_up_holds_up_nobody() -> None:
    async def game(lane: Lane[int, int], work: Work) -> None:
        answers = [lane.put(number) for number in range(4)]
        with pytest.raises(Problem) as caught:
            lane.put(5)
        assert (caught.value.status, caught.value.headers) == (503, {"retry-after": "1"})
        answers[1].cancel()
        work.go_on.set()
        assert [await answers[i] for i in (0, 2, 3)] == [0, 4, 6]
        await lane.drain()
        assert len(lane) == 0

    run(game, most=3)


def test_to_drain_is_to_answer_all_that_was_asked_for() -> None:
    async def game(lane: Lane[int, int], work: Work) -> None:
        answers = [lane.put(number) for number in range(3)]
        draining = asyncio.create_task(lane.drain())
        await asyncio.sleep(0)
        assert not draining.done()
        work.go_on.set()
        await draining
        assert all(answer.done() for answer in answers)

    run(game)
