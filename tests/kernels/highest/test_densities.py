"""The probability of each arm to have the highest of normal or beta draws, against SciPy."""

from fractions import Fraction

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


@pytest.mark.parametrize("small", [(1, 1), (4, 9), (30, 20), (3, 1)])
@pytest.mark.parametrize(
    "large",
    [(1, 1), (7, 5), (10_000, 9_900), (900_000, 100_000), (10**7, 10**7), (1, 10**7), (10**7, 2)],
)
def test_two_arms_have_the_law_in_closed_form(
    small: tuple[int, int], large: tuple[int, int]
) -> None:
    # X ~ Beta(a, b) wins against Y ~ Beta(c, d) with the probability that is the sum over i < a of
    # B(c + i, b + d) / ((b + i) B(1 + i, b) B(c, d)), whose terms are fractions
    (a, b), (c, d) = small, large
    term, wins = Fraction(1), Fraction(0)
    for k in range(b):
        term *= Fraction(d + k, c + d + k)
    for i in range(a):
        wins += term
        term *= Fraction((c + i) * (b + i), (b + c + d + i) * (i + 1))
    law = beta_argmax_probabilities(np.array([a, c], float), np.array([b, d], float))
    assert law == pytest.approx([float(wins), float(1 - wins)], abs=1e-13)


def law_of_trapezia(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return the law by the rule of trapezia, of 400 to the narrowest deviation, in long numbers.

    The density of t = logit x is taken relative to its highest and divided by its sum. The
    distribution function is the sum so far, to which Euler and Maclaurin add h² f' / 12; what is
    left is of the order of 1 / (720 400⁴), 5e-14.
    """
    a, b = (part.astype(np.longdouble)[:, None] for part in (alpha, beta))
    middle, scale, n = np.log(a / b), np.sqrt(1 / a + 1 / b), a + b
    h = min(scale.min(), 1) / 400
    low, high = (middle - 10 * scale - 50 / a).min(), (middle + 10 * scale + 50 / b).max()
    t = low + h * np.arange(int((high - low) / h), dtype=np.longdouble)
    p = np.minimum(a, b) / n  # or the mirror image
    d = np.where(a < b, t - middle, middle - t)
    density = np.exp(-n * (np.log1p(p * np.expm1(d)) - p * d))
    density /= h * density.sum(axis=1)[:, None]
    rises = density * np.where(a < b, -1, 1) * n * (p * np.exp(d) / (1 + p * np.expm1(d)) - p)
    below = h * (density.cumsum(axis=1) - density / 2) - h * h / 12 * rises
    others = [np.prod(np.delete(below, arm, axis=0), axis=0) for arm in range(alpha.size)]
    return np.asarray(h * (density * others).sum(axis=1), float)


@pytest.mark.parametrize("pulls", [0, 3, 100, 10**4, 10**6, 10**7])
@pytest.mark.parametrize("mean", [0.4, 1e-6, 1 - 1e-6])
@pytest.mark.parametrize("prior", [1.0, 1 / 3])
def test_arms_alike_have_the_law_of_trapezia(pulls: int, mean: float, prior: float) -> None:
    ones = stream(pulls).binomial(pulls, mean, 4).astype(float)
    alpha, beta = prior + ones, prior + pulls - ones
    law = beta_argmax_probabilities(alpha, beta)
    assert law == pytest.approx(law_of_trapezia(alpha, beta), abs=1e-12)
    assert law.sum() == pytest.approx(1.0, abs=1e-14)


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
