"""Many draws at once, compiled and plain."""

import functools
from collections.abc import Callable
from types import FunctionType

import numpy as np

from giro.compiling import is_kernel, kernel, plain
from giro.seeds import stream


@functools.cache
def _loop(draw: Callable[..., float]) -> Callable[..., None]:
    @kernel
    def fill(out: np.ndarray, rng: np.random.Generator, *parameters: float) -> None:
        for i in range(out.size):
            out[i] = draw(*parameters, rng)

    return fill


def filled(
    draw: Callable[..., float],
    *parameters: float,
    seed: int,
    size: int = 200_000,
    dtype: type = np.float64,
) -> np.ndarray:
    """Return so many draws of the kernel."""
    out: np.ndarray = np.empty(size, dtype)
    _loop(draw)(out, stream(seed), *parameters)
    return out


def counted(draw: Callable[..., int], *parameters: float, seed: int, **more: int) -> np.ndarray:
    """Return so many draws of a kernel that gives whole numbers."""
    return filled(draw, *parameters, seed=seed, dtype=np.int64, **more)


def plainly(draw: Callable[..., float], *parameters: float, seed: int, size: int) -> list[float]:
    """Return draws of the kernel's Python body."""
    rng = stream(seed)
    return [uncompiled(draw)(*parameters, rng) for _ in range(size)]


@functools.cache
def uncompiled(function: Callable[..., float]) -> Callable[..., float]:
    """Return the kernel's Python body, in which all kernels that it calls are theirs, too."""
    body = plain(function)
    called = {name: body.__globals__.get(name) for name in body.__code__.co_names}
    bodies = {name: uncompiled(value) for name, value in called.items() if is_kernel(value)}
    return FunctionType(body.__code__, body.__globals__ | bodies)


class Scripted:
    """A generator that gives these numbers."""

    def __init__(self, *numbers: float) -> None:
        self._numbers = list(numbers)

    def random(self) -> float:
        return self._numbers.pop(0)
