"""Memory: which rewards still count in a world that changes, and how much.

Either all rewards count, or only the last ones (a window), or recent ones more than old ones (a
half-life). The age of a reward is the number of rewards that came after it, of any arm. The class
of a policy's memory says which of these it is, so that only that code is compiled: `Everything`
costs nothing. Policies for worlds that change have the parameters `window` and `half_life`, of
which at most one is given.

A memory is also a clock. `exchange` and `exchange_row` take in one reward each and move it on.
Reward n, from 0, is then known by its number, and the time is the number of rewards so far.
"""

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from giro.checks import POSITIVE, check, optional, whole
from giro.compiling import bind, dispatched, inline_kernel
from giro.errors import BadParameter
from giro.kernels.regression.linear_algebra import assign
from giro.offer import Shape

KNOWN = 0.5  # rewards: an arm of which less is left is as good as untried
REACH = 50  # half-lives
_FOREVER = 2**62


class Everything(NamedTuple):
    """Every reward counts forever."""

    factor: float = 1.0  # nothing fades


class HalfLife(NamedTuple):
    """A reward of age i counts factor^i."""

    factor: float  # below 1
    reach: int  # age from which a reward counts less than a rounding error
    learned: np.ndarray  # [1] rewards so far
    times: np.ndarray  # [row] number of its reward, of those rows that models keep

    def trimmed(self) -> "HalfLife":
        """Return the part in use."""
        return self._replace(times=self.times[: self.learned[0]])


class Window(NamedTuple):
    """Only the last `size` rewards count, in full. Reward n, from 0, is kept at place n % size."""

    arms: np.ndarray  # [place] arm of the reward
    rewards: np.ndarray  # [place]
    rows: np.ndarray  # [place, column] of a regression; without one there are no columns
    learned: np.ndarray  # [1] rewards so far, including those that have left
    times: np.ndarray  # [row] number of its reward, of those rows that models keep
    size: int

    def trimmed(self) -> "Window":
        """Return the part in use."""
        used = min(int(self.learned[0]), self.size)
        arms, rewards, rows = self.arms[:used], self.rewards[:used], self.rows[:used]
        times = self.times[: self.learned[0]]
        return self._replace(arms=arms, rewards=rewards, rows=rows, times=times)


Memory: TypeAlias = Everything | HalfLife | Window


def half_life_memory(half_life: float, *, kept: int = 0) -> HalfLife:
    """Return the memory in which a reward of age `half_life` counts half."""
    reach = min(math.ceil(REACH * half_life), _FOREVER)
    return HalfLife(
        0.5 ** (1.0 / half_life), reach, np.zeros(1, np.int64), np.zeros(kept, np.int64)
    )


def empty_window(size: int, capacity: int, columns: int = 0, *, kept: int = 0) -> Window:
    """Return an empty window with room for `capacity` rewards, at most `size`."""
    capacity = min(size, capacity)
    return Window(
        np.empty(capacity, np.int64),
        np.empty(capacity),
        np.zeros((capacity, columns)),
        np.zeros(1, np.int64),
        np.zeros(kept, np.int64),
        size,
    )


def check_memory(policy: str, *, window: int | None, half_life: float | None = None) -> None:
    """Check that at most one of both is given, window >= 1 and half_life > 0."""
    check(policy, optional(whole(1)), window=window)
    check(policy, optional(POSITIVE), half_life=half_life)
    if window is not None and half_life is not None:
        raise BadParameter(f"{policy} takes one of window and half_life, not both")


def memory_of(
    shape: Shape,
    *,
    window: int | None,
    half_life: float | None = None,
    columns: int = 0,
    kept: int = 0,
) -> Memory:
    """Return an empty memory for the parameters of a policy.

    A window keeps rows of so many columns, and any memory knows the times of `kept` rows.
    """
    if window is not None:
        return empty_window(int(window), shape.capacity, columns, kept=kept)
    return Everything() if half_life is None else half_life_memory(half_life, kept=kept)


# -- taking in a reward --------------------------------------------------------------------------


@inline_kernel
def next_place(window: Window) -> int:
    """Return the place of the next reward."""
    return int(window.learned[0] % window.size)


@dispatched
def exchange(memory: Any, arm: int, reward: float) -> tuple[int, float]:
    """Take in a reward, and return the arm and reward that leave, -1 if none does."""
    raise TypeError("replaced by dispatch")


def _exchange_nothing(memory: Everything, arm: int, reward: float) -> tuple[int, float]:
    return -1, 0.0


def _count(memory: HalfLife, arm: int, reward: float) -> tuple[int, float]:
    memory.learned[0] += 1
    return -1, 0.0


def _exchange_oldest(memory: Window, arm: int, reward: float) -> tuple[int, float]:
    gone, its_reward, place = -1, 0.0, next_place(memory)
    if memory.learned[0] >= memory.size:
        gone, its_reward = int(memory.arms[place]), float(memory.rewards[place])
    memory.arms[place], memory.rewards[place] = arm, reward
    memory.learned[0] += 1
    return gone, its_reward


@dispatched
def exchange_row(
    memory: Any, arm: int, reward: float, row: np.ndarray, gone_row: np.ndarray
) -> tuple[int, float]:
    """Do the same for a row of a regression, and write the row that leaves to `gone_row`."""
    raise TypeError("replaced by dispatch")


def _exchange_no_row(
    memory: Any, arm: int, reward: float, row: np.ndarray, gone_row: np.ndarray
) -> tuple[int, float]:
    return exchange(memory, arm, reward)


def _exchange_oldest_row(
    memory: Window, arm: int, reward: float, row: np.ndarray, gone_row: np.ndarray
) -> tuple[int, float]:
    kept = memory.rows[next_place(memory)]
    assign(gone_row, kept)
    assign(kept, row)
    return exchange(memory, arm, reward)


# -- what counts, and how much -------------------------------------------------------------------


@dispatched
def fade(memory: Any, sums: np.ndarray, start: float) -> None:
    """Fade every sum by one more reward, towards `start`, its value without rewards."""
    raise TypeError("replaced by dispatch")


def _fade_not(memory: Any, sums: np.ndarray, start: float) -> None:
    pass


def _fade_all(memory: HalfLife, sums: np.ndarray, start: float) -> None:
    for i in range(sums.size):
        sums[i] = start + memory.factor * (sums[i] - start)


@dispatched
def now(memory: Any) -> int:
    """Return the number of rewards so far, 0 where nothing is forgotten."""
    raise TypeError("replaced by dispatch")


def _no_time(memory: Everything) -> int:
    return 0


def _rewards_so_far(memory: Any) -> int:
    return int(memory.learned[0])


@dispatched
def left_since(memory: Any, time: int) -> float:
    """Return the factor by which the weights of earlier rewards have shrunk since a time."""
    raise TypeError("replaced by dispatch")


def _all_left(memory: Any, time: int) -> float:
    return 1.0


def _share_left(memory: HalfLife, time: int) -> float:
    return float(memory.factor ** float(memory.learned[0] - time))


@dispatched
def trusted_since(memory: Any, time: int) -> float:
    """Return the same factor for sums from which no reward can be taken back.

    With a full window they fade by 1 - 1 / size with each reward, so that as many rewards count.
    """
    raise TypeError("replaced by dispatch")


def _share_of_window(memory: Window, time: int) -> float:
    beyond = max(memory.learned[0] - memory.size, 0) - max(time - memory.size, 0)
    return float((1.0 - 1.0 / memory.size) ** float(beyond))


@dispatched
def note_row(memory: Any, row: int) -> None:
    """Note that the last reward is in this row."""
    raise TypeError("replaced by dispatch")


def _note_nothing(memory: Everything, row: int) -> None:
    pass


def _note_time(memory: Any, row: int) -> None:
    memory.times[row] = memory.learned[0] - 1


@inline_kernel
def first_since(times: np.ndarray, rows: np.ndarray, time: int) -> int:
    """Return the place of the first of these rows that is not older. The newest row is the last."""
    low, high = 0, rows.size
    while low < high:
        middle = (low + high) // 2
        if times[rows[middle]] < time:
            low = middle + 1
        else:
            high = middle
    return low


for _kind, _exchange, _exchange_row, _fade, _now, _left, _trusted, _note in (
    (
        Everything,
        _exchange_nothing,
        _exchange_no_row,
        _fade_not,
        _no_time,
        _all_left,
        _all_left,
        _note_nothing,
    ),
    (
        HalfLife,
        _count,
        _exchange_no_row,
        _fade_all,
        _rewards_so_far,
        _share_left,
        _share_left,
        _note_time,
    ),
    (
        Window,
        _exchange_oldest,
        _exchange_oldest_row,
        _fade_not,
        _rewards_so_far,
        _all_left,
        _share_of_window,
        _note_time,
    ),
):
    bind(exchange, _kind, _exchange)
    bind(exchange_row, _kind, _exchange_row)
    bind(fade, _kind, _fade)
    bind(now, _kind, _now)
    bind(left_since, _kind, _left)
    bind(trusted_since, _kind, _trusted)
    bind(note_row, _kind, _note)
