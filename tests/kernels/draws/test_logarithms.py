"""Logarithms in whole numbers, of factorials, and of probabilities."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import binom, poisson

from giro.kernels.draws.logarithms import (
    UNIT,
    binomial_surprise,
    log1p,
    log_factorial,
    poisson_surprise,
    stirling_error,
    to_fixed_point,
)


@pytest.mark.parametrize("n", [2, 15, 16, 33, 5000, 10**6])
@pytest.mark.parametrize("p", [1e-4, 0.3, 0.5, 0.999])
def test_surprise_is_minus_the_logarithm_of_the_binomial_probability(n: int, p: float) -> None:
    for k in {0, 1, n // 3 + 1, n // 2 + 1, n - 1, n}:
        wanted = -binom.logpmf(k, n, p)
        assert binomial_surprise(k, n, p) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("mean", [0.3, 10.0, 1234.5, 1e6])
def test_surprise_is_minus_the_logarithm_of_the_poisson_probability(mean: float) -> None:
    for k in {0, 1, 5, 15, 16, int(mean), int(1.1 * mean) + 1, int(2 * mean)}:
        wanted = -poisson.logpmf(k, mean)
        assert poisson_surprise(k, mean) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_table_and_series_of_log_factorials_are_one_curve() -> None:
    for k in [0, 1, 2, 10, 1022, 1023, 1024, 1025, 10**5, 10**9]:
        assert log_factorial(k) == pytest.approx(gammaln(k + 1.0), rel=1e-14, abs=1e-15)


def test_stirlings_error_goes_on_where_the_table_ends() -> None:
    errors = np.array([stirling_error(k) for k in range(1, 40)])
    k = np.arange(1, 40)
    wanted = gammaln(k + 1) - (k + 0.5) * np.log(k) + k - 0.5 * np.log(2 * np.pi)
    assert errors == pytest.approx(wanted, abs=1e-13)
    assert np.all(np.diff(errors) < 0)


@pytest.mark.parametrize("t", ["0.001", "0.5", "1", "2.5"])
def test_the_logarithm_in_whole_numbers_is_right(t: str) -> None:
    assert log1p(to_fixed_point(t)) / UNIT == pytest.approx(np.log1p(float(t)), rel=1e-15)
    assert to_fixed_point(t) == Fraction(t) * UNIT // 1
