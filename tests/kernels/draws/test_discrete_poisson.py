"""Poisson draws."""

import math

import numpy as np
import pytest
from kernels.draws.filled import Scripted, counted, filled, plainly, uncompiled
from kernels.draws.judged import assert_law, assert_other_law
from scipy import stats

from giro.kernels.draws.continuous import standard_exponential
from giro.kernels.draws.discrete import poisson, poisson_of_few

MEANS = [1e-3, 0.3, 1.0, 2.7, 5.0, 9.9, 10.0, 10.1, 14.5, 60.0, 1000.0, 1e6]


@pytest.mark.parametrize("mean", MEANS)
def test_draws_are_poisson(mean: float, seed: int) -> None:
    assert_law(counted(poisson, mean, seed=seed), stats.poisson(mean))


@pytest.mark.parametrize("mean", MEANS)
def test_a_slightly_other_mean_fails(mean: float, seed: int) -> None:
    other = mean + max(0.04 * math.sqrt(mean), 0.6 * mean if mean < 0.01 else 0.0)
    assert_other_law(counted(poisson, other, seed=seed), stats.poisson(mean))


@pytest.mark.parametrize("mean", [0.3, 4.0, 12.0])
def test_the_law_is_that_of_points_with_exponential_gaps(mean: float, seed: int) -> None:
    gaps = filled(standard_exponential, seed=seed + 1, size=50_000 * 40).reshape(-1, 40)
    points = (gaps.cumsum(axis=1) < mean).sum(axis=1)
    drawn = counted(poisson, mean, seed=seed, size=50_000)
    table = [np.bincount(draws, minlength=60) for draws in (points, drawn)]
    common = np.sum(table, axis=0) > 20
    assert stats.chi2_contingency(np.array(table)[:, common]).pvalue > 1e-6


def test_without_a_mean_there_is_nothing(seed: int) -> None:
    assert set(counted(poisson, 0.0, seed=seed, size=1_000)) == {0}
    assert uncompiled(poisson)(0.0, Scripted(1 - 2**-53)) == 0


@pytest.mark.parametrize("mean", [1e-9, 0.3, 1.0, 9.99])
def test_the_largest_uniform_number_gives_a_number_that_may_be(mean: float) -> None:
    k = uncompiled(poisson_of_few)(mean, math.exp(-mean), Scripted(1 - 2**-53))
    assert stats.poisson.sf(k - 1, mean) > 1e-19


@pytest.mark.parametrize("mean", [0.0, *MEANS])
def test_compiled_and_plain_draws_are_equal(mean: float, seed: int) -> None:
    plain = plainly(poisson, mean, seed=seed, size=1_000)
    assert counted(poisson, mean, seed=seed, size=1_000).tolist() == plain
