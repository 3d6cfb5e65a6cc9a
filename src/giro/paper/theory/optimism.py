"""Optimism: the probability that an arm's value reaches its limit (Kveton et al., 2019).

Theorem 4 bounds W, the expected inverse of that probability. Section 4.2 has an informal argument:
Giro explores because no unfavourable history is more likely than being optimistic under it
(Equation 7), as it would be with normal values if a (a + 1) / (2a + 1) >= 1/4.

Equation 7 as stated is wrong for every `a` and s: with 0 < mean < 1 - 2^(-1/s), the history
without a one has a probability above 1/2, and optimism under it, P(U > E[U]), at most 1/2. It
also fails for larger means while s is small. For a fixed mean and large s the exact condition
compares two rates of decay (`optimism_exponent`), and asks for less than the paper: a > 0.115.
"""

import math
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize
from scipy.special import logsumexp, rel_entr

from giro.checks import POSITIVE, check
from giro.paper.theory.bound import log_c
from giro.paper.theory.terms import (
    Check,
    Floats,
    check_at_least,
    check_at_most,
    check_pseudo_rewards,
    check_trials,
    is_whole,
    log_binomial,
    log_binomial_tail,
    rounded_up,
    whole_pseudo_count,
)


class OptimismRow(NamedTuple):
    """Both sides of Theorem 4, as logarithms, and whether it holds."""

    n: int
    p: float
    a: float
    log_w: float
    log_bound: float
    holds: bool


def log_inverse_optimism(n: int, p: float, a: float) -> float:
    """Return log W, W the expected inverse probability of being optimistic after `n` pulls.

    Kveton et al. (2019), Appendix C: the mean over x ~ B(n, p) of
    1 / P(Y >= ceil((a + p) n)), where Y ~ B((2a + 1) n, (a n + x) / ((2a + 1) n)). The formula
    needs `a n` to be an integer and so do we; `a` may be 1/3 where n is 3. For a = 0 it is
    infinite (a history of zeros is never optimistic). Costs one term for each x and y.
    """
    check_trials(n, p)
    weights = log_binomial(np.arange(n + 1), n, p)
    tails = np.array([log_optimism(n, p, a, x) for x in range(n + 1)])
    possible = weights > -np.inf
    return float(logsumexp(weights[possible] - tails[possible]))


def log_inverse_optimism_above(n: int, a: float) -> Floats:
    """Return log W just above p = k / n for k = 0..n - 1, of which the largest is W's supremum.

    As p grows from one multiple of 1 / n to the next, the ones asked for stay the same and those
    observed become more, so W falls; at each multiple it jumps.
    """
    check_trials(n, 0.5)
    pseudo = whole_pseudo_count(a, n)
    m, ones = n + 2 * pseudo, np.arange(n + 1)
    chances = log_binomial(np.arange(m + 1), m, (pseudo + ones[:, None]) / m)
    tails = np.logaddexp.accumulate(chances[:, ::-1], axis=1)[:, ::-1]  # [x, y]: P(Y >= y)
    weights = log_binomial(ones, n, ones[:-1, None] / n)  # [k, x]
    terms = weights - np.where(weights > -np.inf, tails[:, pseudo + 1 : pseudo + n + 1].T, 0.0)
    return np.asarray(logsumexp(terms, axis=1))


def log_optimism(n: int, p: float, a: float, x: float) -> float:
    """Return the log probability of a sample with (a + p) n ones or more, given `x` ones of n.

    Kveton et al. (2019), Theorem 4, the inner sum; 0 <= x <= n may be any real number.
    """
    k = whole_pseudo_count(a, n)
    m = n + 2 * k
    return log_binomial_tail(k + rounded_up(p * n), m, min((k + x) / m, 1.0))


def optimism_grid(
    n_values: Iterable[int], p_values: Iterable[float], a_values: Iterable[float]
) -> list[OptimismRow]:
    """Return both sides of Theorem 4 for every combination, each with a n an integer."""
    rows = []
    for n, p, a in product(n_values, p_values, a_values):
        check = check_at_most("Theorem 4", log_inverse_optimism(n, p, a), log_c(a))
        rows.append(OptimismRow(n, p, a, check.lhs, check.rhs, check.holds))
    return rows


# -- the informal argument -------------------------------------------------------------------------


def variance_condition(a: float) -> bool:
    """Tell whether a (a + 1) / (2a + 1) >= 1/4, so that a normal value would be optimistic."""
    check_pseudo_rewards(a)
    return 4 * a * (a + 1) >= 2 * a + 1


def smallest_optimistic_a() -> float:
    """Return the smallest `a` with a (a + 1) / (2a + 1) >= 1/4, which the paper calls about 1/3.

    The root of 4 a^2 + 2 a - 1.

    >>> round(smallest_optimistic_a(), 6)
    0.309017
    """
    return (math.sqrt(5) - 1) / 4


def informal_optimism_checks(s: int, mean: float, a: float) -> list[Check]:
    """Return Equation 7 for every unfavourable history of `s` pulls, as logarithms.

    P(mu_hat >= (mean + a) / alpha given V = v) >= P(V = v) for each v < (mean + a) s that has a
    positive probability. Needs a s to be an integer. `x` is the number of observed ones, v - a s.
    """
    check_trials(s, mean)
    expected = mean * s
    unfavourable = range(rounded_up(expected))
    chances = log_binomial(np.arange(s + 1), s, mean)
    return [
        check_at_least(
            "Equation 7", log_optimism(s, mean, a, x), chances[x], s=s, mean=mean, a=a, x=x
        )
        for x in unfavourable
        if chances[x] > -np.inf
    ]


def informal_optimism_failures(
    s_values: Iterable[int], means: Iterable[float], a: float
) -> list[Check]:
    """Return where Equation 7 is wrong; a pair (s, a) whose product is no integer is left out."""
    places = [(s, mean) for s, mean in product(s_values, means) if is_whole(a * s)]
    checks = (check for s, mean in places for check in informal_optimism_checks(s, mean, a))
    return [check for check in checks if not check.holds]


def optimism_exponent(a: float, mean: ArrayLike, observed: ArrayLike) -> Floats:
    """Return by how much per pull a bad history decays faster than optimism under it.

    After s pulls, a history with a share `observed` of ones has probability about
    exp(-s d(observed, mean)); under it the value reaches the arm's limit with probability about
    exp(-s alpha d((mean + a) / alpha, (observed + a) / alpha)), d the divergence of Lemma 4.
    Where the difference of the two rates is negative, W grows exponentially with s.
    """
    alpha = 2 * a + 1
    mean, observed = np.asarray(mean, dtype=np.float64), np.asarray(observed, dtype=np.float64)
    optimism = divergence((mean + a) / alpha, (observed + a) / alpha)
    return np.asarray(divergence(observed, mean) - alpha * optimism)


def divergence(p: ArrayLike, q: ArrayLike) -> Floats:
    """Return d(p, q), the divergence of Bernoulli distributions (Kveton et al., 2019, Lemma 4)."""
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    return np.asarray(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def smallest_exponent(a: float) -> tuple[float, float, float]:
    """Return the smallest `optimism_exponent` per squared deviation, and its mean and observed.

    Divided by (mean - observed)^2, since the exponent itself is 0 where the two are equal.
    """
    check("the exponent", POSITIVE, a=a)
    mean, share = np.meshgrid(np.linspace(0.01, 0.99, 99), np.linspace(0, 0.99, 100))
    grid = _scaled_exponent(a, mean, share)
    start = np.unravel_index(grid.argmin(), grid.shape)
    found = minimize(
        lambda at: float(_scaled_exponent(a, at[0], at[1])),
        [mean[start], share[start]],
        bounds=[(0.01, 0.99), (0.0, 0.99)],
    )
    return float(found.fun), float(found.x[0]), float(found.x[0] * found.x[1])


def smallest_bounded_a() -> float:
    """Return the smallest `a` for which W stays bounded as the pulls grow, about 0.115.

    Below it optimism can be too rare for a good arm with a bad start, worst for means near 0.6:
    1 / P(optimistic) then grows faster than bad starts die out. Theorem 2 asks for a > 0.707.
    """
    return float(brentq(lambda a: smallest_exponent(a)[0], 0.05, 0.3, xtol=1e-6))


def _scaled_exponent(a: float, mean: ArrayLike, share: ArrayLike) -> Floats:
    mean, share = np.asarray(mean), np.asarray(share)
    return np.asarray(optimism_exponent(a, mean, mean * share) / (mean - mean * share) ** 2)
