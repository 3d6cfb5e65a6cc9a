"""The probability of each arm to have the highest of normal or beta draws, against SciPy."""

import numpy as np
import pytest
from laws import assert_follows
from scipy import integrate, special
from scipy.integrate import quad
from scipy.stats import norm

from giro.kernels.highest.beta_argmax import beta_argmax
from giro.kernels.highest.densities import beta_argmax_probabilities, normal_argmax_probabilities
from giro.seeds import stream

CASES = {
    "prior": ([1, 1], [1, 1]),
    "three": ([1, 2, 3], [3, 2, 1]),
    "unlike": ([500, 40, 3], [400, 45, 4]),
    "Jeffreys": ([0.5, 30.5, 2.5], [0.5, 20.5, 0.5]),
    "large": ([1e5, 1e5 + 300, 5], [1e5, 1e5, 6]),
    "skewed": ([1, 1000, 20, 1], [1000, 1000, 25, 1]),
    "tiny": ([0.1, 0.1], [0.1, 0.2]),
    "needle": ([1e6, 2], [1e6, 2]),
}


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


def slow_law(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return the integrals over t = logit x, piece by piece."""
    quantiles = [0.0, 1e-12, 1e-7, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-4, 1 - 1e-9]
    cuts = special.logit([special.betaincinv(alpha, beta, q) for q in quantiles]).ravel()
    cuts = np.unique(np.clip(cuts, -300, 36))
    law = np.zeros(alpha.size)
    for arm in range(alpha.size):

        def integrand(t: float, arm: int = arm) -> float:
            x, others = special.expit(t), np.arange(alpha.size) != arm
            density = np.exp(
                alpha[arm] * special.log_expit(t)
                + beta[arm] * special.log_expit(-t)
                - special.betaln(alpha[arm], beta[arm])
            )
            below = np.where(
                t > 0,
                special.betaincc(beta, alpha, special.expit(-t)),
                special.betainc(alpha, beta, x),
            )
            return float(density * np.prod(below[others]))

        for low, high in zip([-340.0, *cuts], [*cuts, 340.0], strict=True):
            law[arm] += integrate.quad(integrand, low, high, epsabs=1e-14, epsrel=1e-10)[0]
    return law


@pytest.mark.parametrize("case", CASES)
def test_the_law_is_the_integral(case: str) -> None:
    alpha, beta = (np.array(part, float) for part in CASES[case])
    law = beta_argmax_probabilities(alpha, beta)
    assert law == pytest.approx(slow_law(alpha, beta), abs=1e-9)
    assert law.sum() == pytest.approx(1.0, abs=1e-13)


def test_two_arms_have_the_law_in_closed_form() -> None:
    # P(X > Y) for whole alpha: sum over i < alpha_X of B(alpha_Y + i, beta_X + beta_Y) / ...
    a, b, c, d = 7, 5, 4, 9  # X ~ Beta(a, b), Y ~ Beta(c, d)
    i = np.arange(a)
    terms = special.betaln(c + i, b + d) - np.log(b + i) - special.betaln(1 + i, b)
    wins = np.exp(terms - special.betaln(c, d)).sum()
    assert beta_argmax_probabilities(np.array([a, c]), np.array([b, d])) == pytest.approx(
        [wins, 1 - wins], abs=1e-13
    )


def test_draws_follow_the_law(seed: int) -> None:
    alpha, beta, rng = np.array([3.0, 5.0, 1.0]), np.array([2.0, 4.0, 1.0]), stream(seed)
    arms = [beta_argmax(alpha, beta, rng) for _ in range(4_000)]
    assert_follows(arms, beta_argmax_probabilities(alpha, beta))


def test_many_arms_have_the_law_of_a_fine_grid(seed: int) -> None:
    rng = stream(seed)
    alpha = 1.0 + np.floor(np.exp(8.0 * rng.random(40)))
    beta = np.ceil(alpha * np.exp(rng.normal(size=40)))
    t = np.linspace(-15.0, 45.0, 12_001)  # the rule of trapezia is exact for such bumps
    below = special.betainc(alpha[:, None], beta[:, None], special.expit(t))
    log_density = alpha[:, None] * special.log_expit(t) + beta[:, None] * special.log_expit(-t)
    density = np.exp(log_density - special.betaln(alpha, beta)[:, None])
    before, after = np.ones_like(below), np.ones_like(below)
    np.cumprod(below[:-1], axis=0, out=before[1:])
    np.cumprod(below[:0:-1], axis=0, out=after[-2::-1])
    law = (density * before * after).sum(axis=1) * (t[1] - t[0])
    assert law.sum() == pytest.approx(1.0, abs=1e-12)
    assert beta_argmax_probabilities(alpha, beta) == pytest.approx(law, abs=1e-12)


@pytest.mark.parametrize("size", [1e12, 1e20, 1e300])
def test_numbers_without_measure_are_as_good_as_certain(size: float) -> None:
    law = beta_argmax_probabilities(np.array([size, 3.0]), np.array([size, 2.0]))
    assert law[1] == pytest.approx(1.0 - special.betainc(3.0, 2.0, 0.5), abs=1e-6)
