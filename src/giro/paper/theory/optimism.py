"""The expected inverse probability of being optimistic (Kveton et al., 2019, Theorem 4)."""

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from giro.paper.theory.binomial import Floats, check_trials, log_binomial, log_binomial_tail
from giro.paper.theory.bound import log_c
from giro.paper.theory.checks import at_most
from giro.paper.theory.pseudo import rounded_up, whole_pseudo_count


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
        check = at_most("Theorem 4", log_inverse_optimism(n, p, a), log_c(a))
        rows.append(OptimismRow(n, p, a, check.lhs, check.rhs, check.holds))
    return rows
