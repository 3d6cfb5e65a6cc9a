"""Exponential draws."""

import math

import numpy as np
import pytest
from kernels.draws.filled import Scripted, filled, plainly, uncompiled
from kernels.draws.judged import assert_law, assert_other_law
from laws import assert_same_law
from scipy import stats

from giro.kernels.draws import continuous
from giro.kernels.draws.continuous import standard_exponential
from giro.seeds import stream

EDGE, HEIGHT = continuous._EXP_EDGE, continuous._EXP_HEIGHT


def test_draws_are_exponential(seed: int) -> None:
    draws = filled(standard_exponential, seed=seed, size=1_000_000)
    assert_law(draws, stats.expon())
    assert_other_law(1.01 * draws, stats.expon())
    assert draws.min() > 0.0


def test_beyond_the_start_of_the_tail_the_law_goes_on(seed: int) -> None:
    draws = filled(standard_exponential, seed=seed, size=3_000_000)
    assert_law(draws[draws > 5.0] - 5.0, stats.expon())
    assert_other_law(1.15 * (draws[draws > 5.0] - 5.0), stats.expon())
    above = np.sum(draws > continuous._EXP_TAIL)
    assert stats.binomtest(int(above), draws.size, math.exp(-continuous._EXP_TAIL)).pvalue > 1e-6


def test_the_law_is_that_of_the_inverse_distribution_function(seed: int) -> None:
    draws = filled(standard_exponential, seed=seed)
    assert_same_law(draws, -np.log1p(-stream(seed, 1).random(200_000)))


def test_draws_one_after_another_are_independent(seed: int) -> None:
    draws = filled(standard_exponential, seed=seed, size=1_000_000)
    assert_law(draws[::2] + draws[1::2], stats.gamma(2))


def test_layers_have_equal_areas_and_end_on_the_curve() -> None:
    assert pytest.approx(np.exp(-EDGE[1:]), abs=1e-15) == HEIGHT[1:]
    areas = EDGE[1:-1] * np.diff(HEIGHT[1:])
    under_tail = HEIGHT[1] * (EDGE[1] + 1.0)
    assert areas == pytest.approx(under_tail, rel=1e-11)
    assert EDGE[0] * HEIGHT[0] == pytest.approx(under_tail, rel=1e-14)
    assert EDGE[-1] == 0.0 and HEIGHT[-1] == 1.0


@pytest.mark.parametrize("layer", [1, 7, 500, 1022, 1023])
def test_a_point_is_kept_if_it_is_under_the_curve(layer: int) -> None:
    x = 0.5 * (EDGE[layer] + EDGE[layer + 1])
    under = (math.exp(-x) - HEIGHT[layer]) / (HEIGHT[layer + 1] - HEIGHT[layer])
    again = 5.25 / 1024  # in layer 5, a quarter of its width
    beyond = uncompiled(continuous._exponential_beyond)
    assert beyond(layer, x, Scripted(under - 1e-6)) == x
    assert beyond(layer, x, Scripted(under + 1e-6, again)) == pytest.approx(0.25 * EDGE[5])


def test_the_tail_is_the_law_again() -> None:
    x = uncompiled(continuous._exponential_beyond)(
        0, 0.5 * (EDGE[0] + EDGE[1]), Scripted(5.25 / 1024)
    )
    assert x == pytest.approx(EDGE[1] + 0.25 * EDGE[5])


def test_compiled_and_plain_draws_are_equal(seed: int) -> None:
    size = 20_000  # a hundred of them outside the easy part
    plain = plainly(standard_exponential, seed=seed, size=size)
    assert filled(standard_exponential, seed=seed, size=size).tolist() == plain
