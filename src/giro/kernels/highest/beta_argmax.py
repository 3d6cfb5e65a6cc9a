"""Which arm has the highest draw from a beta distribution, drawing as little as possible.

One arm is drawn; let x be its value. Beta(alpha, beta) with whole numbers is the distribution of
the alpha-th smallest of n = alpha + beta - 1 uniform numbers. It reaches x if at most alpha - 1 of
them lie below x, and how many do is N ~ Bin(n, x). For alpha - 1 < n x, with p' = (alpha - 1) / n
and lam = log[(1 - p') x / (p' (1 - x))] > 0,

    P(N = z) = e^(-I) e^(-lam (alpha - 1 - z)) P'(N = z),   I = n kl(p', x),  P' = Bin(n, p'),

so the arm reaches x exactly if one exponential variable is at least I and, for a draw N from P',
N <= alpha - 1 and a second one is at least lam (alpha - 1 - N). Its value is then the
(alpha - N)-th smallest of n - N uniform numbers in [x, 1]. By Pinsker's inequality
I >= 2 n (x - p')^2, so most arms lose at the price of one exponential.
"""

import math

import numpy as np

from giro.compiling import inline_kernel, kernel
from giro.kernels.draws.continuous import beta as beta_draw
from giro.kernels.draws.continuous import standard_exponential
from giro.kernels.draws.discrete import binomial

_NEAR = 1.0  # with a lower bound of I below this, a plain draw is quicker


@inline_kernel
def beta_argmax(alpha: np.ndarray, beta: np.ndarray, rng: np.random.Generator) -> int:
    """Return the place of the highest draw from Beta(alpha, beta), whole numbers above zero."""
    first, highest = 0, -1.0
    for i in range(alpha.size):
        mean = alpha[i] / (alpha[i] + beta[i])
        if mean > highest:
            first, highest = i, mean
    best, x = first, beta_draw(alpha[first], beta[first], rng)
    for i in range(alpha.size):
        n = alpha[i] + beta[i] - 1.0
        distance = x - (alpha[i] - 1.0) / n
        cost = 2.0 * n * distance * distance if distance > 0.0 else 0.0
        if i == first:
            continue
        if cost < _NEAR:
            value = beta_draw(alpha[i], beta[i], rng)
        else:
            patience = standard_exponential(rng)
            value = beta_if_reached(alpha[i], n, x, patience, rng) if patience >= cost else -1.0
        if value > x:
            best, x = i, value
    return best


@kernel
def beta_if_reached(
    alpha: float, n: float, x: float, patience: float, rng: np.random.Generator
) -> float:
    """Return a draw from Beta(alpha, n + 1 - alpha) if it is x or more, otherwise -1.

    `patience` is an exponential variable known to be no less than some lower bound of I.
    """
    most = alpha - 1.0
    log_below = math.log(most / (n * x)) if most > 0.0 else 0.0
    log_above = math.log((n - most) / (n * (1.0 - x)))
    if patience < most * log_below + (n - most) * log_above:
        return -1.0
    below = binomial(int(n), most / n, rng)
    slope = log_above - log_below
    if below > most or standard_exponential(rng) < slope * (most - below):
        return -1.0
    return x + (1.0 - x) * beta_draw(alpha - below, n - most, rng)
