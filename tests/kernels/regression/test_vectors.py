"""Sums over vectors."""

import math

import pytest

from giro.compiling import plain
from giro.kernels.regression.vectors import add_multiple, dot
from giro.seeds import stream


@pytest.mark.parametrize("size", range(10))
def test_dot_is_the_sum_of_products(size: int, seed: int) -> None:
    left, right = stream(seed, size).normal(size=(2, size))
    exact = math.fsum(left * right)
    assert dot(left, right) == pytest.approx(exact, rel=1e-13, abs=1e-14)
    assert dot(left, right) == plain(dot)(left, right)


@pytest.mark.parametrize("size", [0, 1, 7, 64])
def test_add_multiple_adds_in_place_what_numpy_adds(size: int, seed: int) -> None:
    vector, other = stream(seed, size).normal(size=(2, size))
    wanted = vector + 0.3 * other
    add_multiple(vector, 0.3, other)
    assert vector.tolist() == wanted.tolist()
