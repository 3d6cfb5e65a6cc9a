"""Sixteen numbers at once are the same numbers, compiled and in Python."""

import numpy as np
import pytest

from giro.compiling import kernel, plain
from giro.compiling.lanes import (
    LANES,
    fetch,
    inner_product,
    lanes_at,
    plus,
    put,
    where_positive,
    within,
    zeros,
)
from giro.seeds import stream


@kernel
def _every_function(x: np.ndarray, factor: float, out: np.ndarray) -> float:
    fetch(x, 3)
    left, right = lanes_at(x, 1), lanes_at(x, LANES + 2)
    put(out, 0, plus(left, factor, right))
    put(out, LANES, where_positive(right, left))
    put(out, 2 * LANES, within(left, 0.5))
    put(out, 3 * LANES, zeros())
    return inner_product(left, right)


def test_lanes_are_the_same_numbers_compiled_and_in_python(seed: int) -> None:
    x = stream(seed).normal(size=2 * LANES + 2)
    compiled, python = np.ones(4 * LANES + 1), np.ones(4 * LANES + 1)
    product = _every_function(x, 1 / 3, compiled)
    assert product == plain(_every_function)(x, 1 / 3, python)
    assert np.array_equal(compiled, python)
    left, right = x[1 : LANES + 1], x[LANES + 2 :]
    assert product == pytest.approx(left @ right)
    wanted = [left + right / 3, left * (right > 0), left.clip(-0.5, 0.5), 0 * left, np.ones(1)]
    np.testing.assert_allclose(python, np.concatenate(wanted), rtol=1e-12)
