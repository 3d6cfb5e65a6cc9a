"""Binomial probabilities and tails, in logarithms where they would vanish otherwise."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, gammaln, logsumexp, xlog1py, xlogy

from giro.errors import BadParameter

Floats = NDArray[np.float64]


def log_binomial(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """Return log B(x; n, p), elementwise; -inf where the probability is 0."""
    x, n, p = np.asarray(x), np.asarray(n), np.asarray(p)
    with np.errstate(divide="ignore"):
        powers = xlogy(x, p) + xlog1py(n - x, -p)
    choices = gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1)
    return np.asarray(choices + powers, dtype=np.float64)


def binomial_tail(y: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """Return P(Y >= y) for Y ~ B(n, p), elementwise; 1 for y <= 0, 0 for y > n."""
    y, n, p = np.broadcast_arrays(y, n, p)
    inside = np.clip(y, 1, np.maximum(n, 1))
    tail = betainc(inside, np.maximum(n, 1) - inside + 1, p)
    return np.asarray(np.where(y <= 0, 1.0, np.where(y > n, 0.0, tail)), dtype=np.float64)


def log_binomial_tail(y: int, n: int, p: float) -> float:
    """Return log P(Y >= y) for Y ~ B(n, p), however small; costs one term per outcome."""
    if y <= 0:
        return 0.0
    if y > n:
        return -np.inf
    return float(min(0.0, logsumexp(log_binomial(np.arange(y, n + 1), n, p))))


def check_trials(n: int, p: float) -> None:
    """Check n >= 1 and 0 <= p <= 1."""
    if n < 1:
        raise BadParameter(f"the number of trials must be >= 1, got n={n}")
    if not 0 <= p <= 1:
        raise BadParameter(f"a probability lies in [0, 1], got p={p}")
