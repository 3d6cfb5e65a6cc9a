"""Normal draws."""

import math

import numpy as np
import pytest
from kernels.draws.filled import Scripted, filled, plainly, uncompiled
from kernels.draws.judged import assert_law, assert_other_law
from scipy import stats

from giro.kernels.draws import continuous
from giro.kernels.draws.continuous import normals, standard_normal
from giro.seeds import stream

EDGE, HEIGHT = continuous._NORMAL_EDGE, continuous._NORMAL_HEIGHT


def test_draws_are_normal(seed: int) -> None:
    draws = filled(standard_normal, seed=seed, size=1_000_000)
    assert_law(draws, stats.norm())
    assert_other_law(1.01 * draws, stats.norm())
    assert_other_law(draws + 0.01, stats.norm())


def test_both_tails_are_right(seed: int) -> None:
    draws = filled(standard_normal, seed=seed, size=3_000_000)
    for tail in (draws, -draws):
        beyond = tail[tail > 3.0]
        assert stats.binomtest(beyond.size, draws.size, stats.norm.sf(3.0)).pvalue > 1e-6
        assert_law(beyond, stats.truncnorm(3.0, np.inf))
        assert_other_law(3.0 + 1.2 * (beyond - 3.0), stats.truncnorm(3.0, np.inf))
        far = int(np.sum(tail > continuous._NORMAL_TAIL))
        assert (
            stats.binomtest(far, draws.size, stats.norm.sf(continuous._NORMAL_TAIL)).pvalue > 1e-6
        )


def test_the_tail_alone_is_right(seed: int) -> None:
    draws = filled(continuous._normal_tail, seed=seed)
    assert_law(draws, stats.truncnorm(continuous._NORMAL_TAIL, np.inf))
    assert_other_law(
        draws, stats.expon(continuous._NORMAL_TAIL, 1 / continuous._NORMAL_TAIL)
    )  # without thinning


def test_draws_one_after_another_are_independent(seed: int) -> None:
    draws = filled(standard_normal, seed=seed, size=1_000_000)
    assert_law((draws[::2] + draws[1::2]) / math.sqrt(2.0), stats.norm())
    assert_law(draws[::2] ** 2 + draws[1::2] ** 2, stats.chi2(2))


def test_layers_have_equal_areas_and_end_on_the_curve() -> None:
    assert pytest.approx(np.exp(-0.5 * EDGE[1:] ** 2), abs=1e-15) == HEIGHT[1:]
    areas = EDGE[1:-1] * np.diff(HEIGHT[1:])
    tail = math.sqrt(2.0 * math.pi) * stats.norm.sf(EDGE[1])
    assert areas == pytest.approx(HEIGHT[1] * EDGE[1] + tail, rel=1e-11)
    assert EDGE[0] * HEIGHT[0] == pytest.approx(HEIGHT[1] * EDGE[1] + tail, rel=1e-12)
    assert EDGE[-1] == 0.0 and HEIGHT[-1] == 1.0


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("layer", [1, 7, 500, 1022, 1023])
def test_a_point_is_kept_if_it_is_under_the_curve(layer: int, side: int) -> None:
    x = side * 0.5 * (EDGE[layer] + EDGE[layer + 1])
    under = (math.exp(-0.5 * x * x) - HEIGHT[layer]) / (HEIGHT[layer + 1] - HEIGHT[layer])
    again = 5.25 / 1024  # in layer 5, half of its left side
    beyond = uncompiled(continuous._normal_beyond)
    assert beyond(layer, x, Scripted(under - 1e-6)) == x
    assert beyond(layer, x, Scripted(under + 1e-6, again)) == pytest.approx(-0.5 * EDGE[5])


def test_compiled_and_plain_draws_are_equal(seed: int) -> None:
    size = 20_000  # a hundred of them outside the easy part
    plain = plainly(standard_normal, seed=seed, size=size)
    assert filled(standard_normal, seed=seed, size=size).tolist() == plain


def test_arrays_have_the_mean_and_deviation_asked_for(seed: int) -> None:
    draws = normals(3.0, 0.5, (100, 50, 20), stream(seed))
    assert draws.shape == (100, 50, 20)
    assert_law(draws.ravel(), stats.norm(3.0, 0.5))
