"""Memory: which rewards still count in a world that changes, and how much.

Either all rewards count, or only the last ones (a window), or recent ones more than old ones (a
half-life). The age of a reward is the number of rewards that came after it, of any arm. The class
of a policy's memory says which of these it is, so that only that code is compiled: `Everything`
costs nothing. Policies for worlds that change have the parameters `window` and `half_life`, of
which at most one is given.
"""

from typing import Any, NamedTuple

import numpy as np

from giro.checks import POSITIVE, check, optional, whole
from giro.compiling import bind, dispatched, inline_kernel
from giro.errors import BadParameter
from giro.offer import Shape


class Everything(NamedTuple):
    """Every reward counts forever."""

    factor: float = 1.0  # nothing fades


class HalfLife(NamedTuple):
    """A reward of age i counts factor^i."""

    factor: float  # below 1


class Window(NamedTuple):
    """Only the last `size` rewards count, in full. Reward n, from 0, is kept at place n % size."""

    arms: np.ndarray  # [place] arm of the reward
    rewards: np.ndarray  # [place]
    rows: np.ndarray  # [place, column] of a regression; without one there are no columns
    learned: np.ndarray  # [1] rewards so far, including those that have left
    size: int

    def trimmed(self) -> "Window":
        """Return the part in use."""
        used = min(int(self.learned[0]), self.size)
        arms, rewards, rows = self.arms[:used], self.rewards[:used], self.rows[:used]
        return self._replace(arms=arms, rewards=rewards, rows=rows)


def half_life_memory(half_life: float) -> HalfLife:
    """Return the memory in which a reward of age `half_life` counts half."""
    return HalfLife(0.5 ** (1.0 / half_life))


def empty_window(size: int, capacity: int, columns: int = 0) -> Window:
    """Return an empty window with room for `capacity` rewards, at most `size`."""
    capacity = min(size, capacity)
    return Window(
        np.empty(capacity, np.int64),
        np.empty(capacity),
        np.zeros((capacity, columns)),
        np.zeros(1, np.int64),
        size,
    )


def check_memory(policy: str, *, window: int | None, half_life: float | None = None) -> None:
    """Check that at most one of both is given, window >= 1 and half_life > 0."""
    check(policy, optional(whole(1)), window=window)
    check(policy, optional(POSITIVE), half_life=half_life)
    if window is not None and half_life is not None:
        raise BadParameter(f"{policy} takes one of window and half_life, not both")


def memory_of(
    shape: Shape, *, window: int | None, half_life: float | None = None
) -> Everything | HalfLife | Window:
    """Return an empty memory for the parameters of a policy."""
    if window is not None:
        return empty_window(int(window), shape.capacity)
    return Everything() if half_life is None else half_life_memory(half_life)


@inline_kernel
def next_place(window: Window) -> int:
    """Return the place of the next reward."""
    return int(window.learned[0] % window.size)


@inline_kernel
def is_full(window: Window) -> bool:
    """Return whether the next reward replaces the one at its place."""
    return bool(window.learned[0] >= window.size)


@inline_kernel
def keep(window: Window, arm: int, reward: float) -> None:
    """Put a reward at the next place."""
    place = next_place(window)
    window.arms[place], window.rewards[place] = arm, reward
    window.learned[0] += 1


@dispatched
def exchange(memory: Any, arm: int, reward: float) -> tuple[int, float]:
    """Keep a reward if needed, and return the arm and reward that leave, -1 if none does."""
    raise TypeError("replaced by dispatch")


def _exchange_nothing(memory: Any, arm: int, reward: float) -> tuple[int, float]:
    return -1, 0.0


def _exchange_oldest(memory: Window, arm: int, reward: float) -> tuple[int, float]:
    gone, its_reward = -1, 0.0
    if is_full(memory):
        place = next_place(memory)
        gone, its_reward = int(memory.arms[place]), float(memory.rewards[place])
    keep(memory, arm, reward)
    return gone, its_reward


@dispatched
def fade(memory: Any, sums: np.ndarray, start: float) -> None:
    """Fade every sum by one more reward, towards `start`, its value without rewards."""
    raise TypeError("replaced by dispatch")


def _fade_not(memory: Any, sums: np.ndarray, start: float) -> None:
    pass


def _fade_all(memory: HalfLife, sums: np.ndarray, start: float) -> None:
    for i in range(sums.size):
        sums[i] = start + memory.factor * (sums[i] - start)


for _kind, _exchange, _fade in (
    (Everything, _exchange_nothing, _fade_not),
    (HalfLife, _exchange_nothing, _fade_all),
    (Window, _exchange_oldest, _fade_not),
):
    bind(exchange, _kind, _exchange)
    bind(fade, _kind, _fade)
