"""The lemmas of Appendix C with numbers put in (Kveton et al., 2019, Lemmas 2 to 4).

Each function returns one check for each case, so that a lemma can be tried on a grid and its
failures read off. What we found:

- Lemma 2 fails for p = 0 only, where "the smallest integer" i_0 is -1 and the bound is
  e^-2 f(0), while the sum is f(0). With i_0 >= 0 it holds.
- Lemma 3 holds wherever tried, though its proof uses Lemma 4 at y = m for small `a` too.
- Lemma 4 fails for x = 0 and x = n, where its right side is infinite. Stirling's upper bound
  in its proof is 0 at k = 0, while 0! = 1.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import binom

from giro.errors import BadParameter
from giro.paper.theory.binomial import check_trials, log_binomial
from giro.paper.theory.checks import Check, at_least, at_most
from giro.paper.theory.optimism import log_optimism

_LOG_SCALE = 0.5 * math.log(2 * math.pi) - 2  # log of sqrt(2 pi) / e^2


def last_interval(n: int, p: float) -> int:
    """Return i_0 of Lemma 2, the smallest integer such that (i_0 + 1) sqrt(n) >= p n.

    It is -1 for p = 0.
    """
    guess = math.ceil(p * math.sqrt(n)) - 1
    return min(i for i in (guess - 1, guess, guess + 1) if (i + 1) * math.sqrt(n) >= p * n)


def history_bound(n: int, p: float, f: Callable[[float], float], *, last: int) -> float:
    """Return the right side of Lemma 2 for a decreasing function f, with i_0 = last."""
    terms = (math.exp(-2 * i**2) * f(p * n - (i + 1) * math.sqrt(n)) for i in range(last))
    return sum(terms) + math.exp(-2 * last**2) * f(0)


def history_checks(n: int, p: float) -> list[Check]:
    """Return Lemma 2 for every step function f(x) = 1{x <= step}, step = 0..n.

    These decide the lemma for (n, p): both sides are linear in f, every decreasing f >= 0 is a
    mixture of steps, and a step between two integers has the same left side and no smaller right.
    """
    check_trials(n, p)
    last, sums = last_interval(n, p), binom.cdf(np.arange(n + 1), n, p)
    return [
        at_most("Lemma 2", sums[step], _step_bound(n, p, step, last), n=n, p=p, step=step)
        for step in range(n + 1)
    ]


def _step_bound(n: int, p: float, step: int, last: int) -> float:
    return history_bound(n, p, lambda x: float(x <= step), last=last)


def bootstrap_checks(n: int, p: float, a: float, shares: Sequence[float]) -> list[Check]:
    """Return Lemma 3, as logarithms, for x = share p n; needs a > 0 and a n an integer."""
    check_trials(n, p)
    if not a > 0:
        raise BadParameter(f"Lemma 3 needs a > 0, got a={a}")
    b = (2 * a + 1) / (a * (a + 1))
    checks = []
    for x in (share * p * n for share in shares):
        exponent = b * (p * n + math.sqrt(n) - x) ** 2 / n
        bound = _LOG_SCALE - 0.5 * math.log(2 * a + 1) - exponent
        checks.append(at_least("Lemma 3", log_optimism(n, p, a, x), bound, n=n, p=p, a=a, x=x))
    return checks


def stirling_checks(n: int, p: float) -> list[Check]:
    """Return Lemma 4, as logarithms, for x = 0..n and 0 < p < 1."""
    check_trials(n, p)
    if p in (0, 1):
        raise BadParameter(f"Lemma 4 divides by p (1 - p), so it needs 0 < p < 1, got p={p}")
    chances = log_binomial(np.arange(n + 1), n, p)
    return [
        at_least("Lemma 4", chances[x], stirling_bound(x, n, p), n=n, p=p, x=x)
        for x in range(n + 1)
    ]


def stirling_bound(x: int, n: int, p: float) -> float:
    """Return the logarithm of the right side of Lemma 4; infinite for x = 0 and x = n."""
    if x in (0, n):
        return math.inf
    return _LOG_SCALE + 0.5 * math.log(n / (x * (n - x))) - (x - p * n) ** 2 / (p * (1 - p) * n)
