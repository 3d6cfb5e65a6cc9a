"""With what probability each arm has the highest value."""

import numpy as np
import pytest
from laws import assert_follows
from scipy.integrate import quad
from scipy.stats import norm

from giro.kernels.highest.normal_probabilities import normal_argmax_probabilities
from giro.seeds import stream


def by_quadrature(means: np.ndarray, deviations: np.ndarray, arm: int) -> float:
    """Return P(arm is the highest) by SciPy's adaptive rule, split where factors bend."""

    def density(value: float) -> float:
        others = [j for j in range(means.size) if j != arm]
        below = np.prod([norm.cdf(value, means[j], deviations[j]) for j in others])
        return float(norm.pdf(value, means[arm], deviations[arm]) * below)

    low, high = means[arm] - 12 * deviations[arm], means[arm] + 12 * deviations[arm]
    bends = [m + k * s for m, s in zip(means, deviations, strict=True) for k in (-4, -1, 0, 1, 4)]
    inside = sorted(bend for bend in bends if low < bend < high)
    pieces = zip([low, *inside], [*inside, high], strict=True)
    return sum(quad(density, *piece, epsabs=1e-13, epsrel=1e-12)[0] for piece in pieces)


@pytest.mark.parametrize(
    ("means", "deviations"),
    [
        ([0.0, 1.0], [1.0, 1.0]),
        ([0.3, 0.5, 0.4], [0.1, 1e-4, 2.0]),
        ([0.3, 0.5, 0.4], [1e-6, 1e-4, 1e-8]),
        ([0.0, 0.0, 0.0, 0.0], [1.0, 10.0, 100.0, 1000.0]),
        ([5.0, 0.0], [1e-3, 1.0]),
        ([7.0], [2.0]),
    ],
)
def test_chances_of_normals_are_their_integrals(
    means: list[float], deviations: list[float]
) -> None:
    m, s = np.array(means), np.array(deviations)
    chances = normal_argmax_probabilities(m, s)
    wanted = [by_quadrature(m, s, arm) for arm in range(m.size)]
    np.testing.assert_allclose(chances, wanted, rtol=0, atol=1e-9)
    assert chances.sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_two_normals_have_the_chance_that_their_difference_is_positive(shift: float) -> None:
    means = np.array([0.375, 0.125]) + shift
    chances = normal_argmax_probabilities(means, np.array([0.5, 1.2]))
    assert chances[0] == pytest.approx(norm.cdf(0.25 / 1.3), abs=1e-12)


def test_fifty_normals_win_as_often_as_their_chances_say(seed: int) -> None:
    means, deviations = stream(0).normal(size=50), stream(1).exponential(size=50)
    winners = np.argmax(means + deviations * stream(seed, 2).normal(size=(100_000, 50)), axis=1)
    chances = normal_argmax_probabilities(means, deviations)
    assert_follows(winners, chances)
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(winners, normal_argmax_probabilities(means, deviations + 0.1))


def test_without_deviations_the_highest_means_share() -> None:
    chances = normal_argmax_probabilities(np.array([1.0, 2.0, 2.0]), np.zeros(3))
    assert chances.tolist() == [0.0, 0.5, 0.5]


def test_many_normals_have_the_law_of_a_fine_grid(seed: int) -> None:
    means, deviations = stream(seed).normal(size=200), 0.1 + stream(seed, 1).exponential(size=200)
    x = np.linspace(-60.0, 60.0, 12_001)  # the rule of trapezia is exact for such bumps
    z = (x - means[:, None]) / deviations[:, None]
    below = norm.cdf(z)
    before, after = np.ones_like(below), np.ones_like(below)
    np.cumprod(below[:-1], axis=0, out=before[1:])
    np.cumprod(below[:0:-1], axis=0, out=after[-2::-1])
    law = (norm.pdf(z) / deviations[:, None] * before * after).sum(axis=1) * (x[1] - x[0])
    assert normal_argmax_probabilities(means, deviations) == pytest.approx(law, abs=1e-12)


@pytest.mark.parametrize("means", [[0.0, -0.5], [1e12, 1e12 - 0.5], [5.0, 4.5]])
def test_a_needle_beside_a_wide_normal_is_as_good_as_certain(means: list[float]) -> None:
    chances = normal_argmax_probabilities(np.array(means), np.array([1.0, 1e-20]))
    assert chances[0] == pytest.approx(norm.cdf(0.5), abs=1e-12)
