"""Sums over vectors."""

import math

import numpy as np
import pytest

from giro.compiling import plain
from giro.kernels.regression.vectors import add_multiple, dot, total
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


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 127, 128, 129, 1000, 4321])
def test_total_is_the_sum_in_a_fixed_order(size: int, seed: int) -> None:
    values = 10.0 ** stream(seed, size).uniform(-8, 8, size)
    assert total(values) == pytest.approx(math.fsum(values), rel=1e-14)
    assert total(values) == plain(total)(values)


def test_total_of_known_numbers() -> None:
    values = np.array([1e16, 1.0, -1e16, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    # ((1e16 + 1) + (-1e16 + 1)) + ((1 + 1) + (1 + 1)), then the ninth; ±1e16 + 1 is rounded
    assert total(values) == 5.0
    assert total(np.tile(values[:8], 17)) == plain(total)(np.tile(values[:8], 17))
