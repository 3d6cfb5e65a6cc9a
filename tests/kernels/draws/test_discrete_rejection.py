"""The curves that rejection relies on are above and below those they should be."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from giro.kernels.draws.discrete import _D1, _D2

INNER = 0.43
U = np.concatenate(
    [
        np.linspace(-0.499, 0.499, 100_001),
        [side * (0.5 - gap) for side in (-1, 1) for gap in np.geomspace(1e-3, 1e-9, 300)],
    ]
)
GAP = 0.5 - np.abs(U)


def kept_below(
    a: float,
    b: float,
    c: float,
    ratio: Callable[[np.ndarray], np.ndarray],
    most: float,
    alpha: float,
) -> np.ndarray:
    """Return, for each u, the v below which a point is kept."""
    k = np.floor((2 * a / GAP + b) * U + c)
    possible = (k >= 0) & (k <= most)
    return np.where(possible, ratio(np.clip(k, 0, most)), 0.0) * (a / GAP**2 + b) / alpha


@pytest.mark.parametrize("p", [1e-6, 1e-3, 0.05, 0.2, 0.35, 0.5])
def test_points_for_binomial_draws_are_in_the_square_and_the_easy_ones_all_kept(p: float) -> None:
    for mean in [10.0, 10.3, 10.7, 11.5, 13.0, 17.0, 30.0, 100.0, 3000.0]:
        n = math.ceil(mean / p)
        sd = math.sqrt(n * p * (1 - p))
        b = 1.15 + 2.53 * sd
        a, c = -0.0873 + 0.0248 * b + 0.01 * p, n * p + 0.5
        alpha, v_r = (2.83 + 5.1 / b) * sd, 0.92 - 4.2 / b
        mode = stats.binom.pmf(int((n + 1) * p), n, p)

        def ratio(k: np.ndarray, n: int = n, mode: float = mode) -> np.ndarray:
            return stats.binom.pmf(k, n, p) / mode

        kept = kept_below(a, b, c, ratio, n, alpha)
        assert kept.max() < 1.0
        assert kept[np.abs(U) <= INNER].min() > v_r


@pytest.mark.parametrize("p", [1e-6, 1e-3, 0.05, 0.2, 0.35, 0.5])
def test_far_from_the_mode_the_binomial_law_is_between_its_bounds(p: float) -> None:
    for mean in [10.0, 13.0, 30.0, 100.0, 3000.0]:
        n = math.ceil(mean / p)
        mode, variance = int((n + 1) * p), n * p * (1 - p)
        reach = int(min(0.5 * variance, 40 * variance**0.5))
        k = np.arange(max(0, mode - reach), min(n, mode + reach) + 1)
        distance = np.abs(k - mode)
        k, distance = k[distance > 15], distance[distance > 15]
        rho = ((distance / 3 + 0.625) * distance + 1 / 6) / variance + 0.5
        rho *= distance / variance
        middle = -(distance**2) / (2 * variance)
        law = stats.binom.logpmf(k, n, p) - stats.binom.logpmf(mode, n, p)
        assert np.all(np.abs(law - middle) <= rho + 1e-5)  # scipy is not better


@pytest.mark.parametrize("mean", [10.0, 10.3, 10.7, 11.5, 13.0, 17.0, 30.0, 100.0, 3000.0, 1e6])
def test_points_for_poisson_draws_are_in_the_square_and_the_easy_ones_all_kept(
    mean: float,
) -> None:
    b = 0.931 + 2.53 * math.sqrt(mean)
    a, c = -0.059 + 0.02483 * b, mean + 0.445
    alpha, v_r = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2.0)
    kept = kept_below(a, b, c, lambda k: stats.poisson.pmf(k, mean), 1e9, alpha)
    assert kept.max() < 1.0
    assert kept[np.abs(U) <= INNER].min() > v_r
    edge = GAP < 0.013
    assert np.all(kept[edge] <= GAP[edge])  # where those with v > gap are dropped unseen


@pytest.mark.parametrize("few", [13, 40, 300, 5000])
@pytest.mark.parametrize("rare", [1, 1.5, 10])
@pytest.mark.parametrize("common", [1, 3, 100])
def test_ratios_for_hypergeometric_draws_are_in_the_square(
    few: int, rare: float, common: float
) -> None:
    ones = int(few * rare)
    n = 2 * ones + int(few * common)
    law = stats.hypergeom(n, ones, few)
    k = np.arange(few + 1)
    chance = law.pmf(k) / law.pmf((few + 1) * (ones + 1) // (n + 2))
    assert chance.max() <= 1.0 + 1e-9
    width, centre = _D1 * math.sqrt(law.var() + 0.5) + _D2, few * ones / n + 0.5
    for x in (k, k + 1):  # both ends of the step on which x stands for k
        assert np.max(np.abs(x - centre) * np.sqrt(chance)) <= 0.5 * width
