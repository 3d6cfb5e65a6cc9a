"""The law of the highest of beta draws, against integrals by SciPy."""

import numpy as np
import pytest
from laws import assert_follows
from scipy import integrate, special

from giro.kernels.highest.beta_argmax import beta_argmax
from giro.kernels.highest.beta_probabilities import beta_argmax_probabilities
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
