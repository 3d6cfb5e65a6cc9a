"""The probability of each arm to have the highest of independent beta draws.

With X_i ~ Beta(α_i, β_i) and t = log(x / (1 - x)), the density of arm i over t is, up to a factor,
f_i = exp(α d - (α + β) log(1 + p (e^d - 1))), d = t - log(α / β), p = α / (α + β): a smooth bump
that falls off exponentially, whatever α and β. The line of t is divided into panels, narrow near
the middle of any narrow bump, and

    P(arm j is highest) = integral of f_j prod_{i != j} F_i

is summed by Gauss's rule in each of them. The distribution functions F_i are integrals of the same
kind: the polynomial through the nodes of a panel, integrated up to each node.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from giro.compiling import kernel

_NODES = 16  # in each panel
_NEGLIGIBLE = -43.0  # log of a density, relative to its highest, that is left out
_WIDEST = 1.5  # scale of a bump at most: the integrands have poles 3.14 off the line


class Rule(NamedTuple):
    """Gauss's rule on [0, 1], and integrals up to its nodes."""

    nodes: np.ndarray  # [q]
    weights: np.ndarray  # [q]
    up_to: np.ndarray  # [q, r] weight of node r in the integral from 0 to node q


class _Bumps(NamedTuple):
    """Where the arms' densities over t lie."""

    alpha: np.ndarray  # [arm]
    beta: np.ndarray  # [arm]
    middle: np.ndarray  # [arm] t at the highest density
    scale: np.ndarray  # [arm] about its standard deviation, _WIDEST at most
    low: np.ndarray  # [arm] the density is negligible below this
    high: np.ndarray  # [arm] and above this


def beta_argmax_probabilities(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return the probability [arm] that the arm's Beta(alpha, beta) draw is the highest.

    The error is below 1e-9 for any positive parameters up to 1e7.
    """
    return _probabilities(np.asarray(alpha, float), np.asarray(beta, float), _rule())


@functools.cache
def _rule() -> Rule:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    powers = np.polynomial.legendre.legvander(nodes, _NODES - 1)  # [r, degree]
    through = np.linalg.inv(powers)  # [degree, r] Legendre series through 1 at node r, 0 elsewhere
    integrals = np.polynomial.legendre.legint(through, lbnd=-1.0)
    up_to = np.polynomial.legendre.legval(nodes, integrals)  # [r, q]
    return Rule((nodes + 1.0) / 2.0, weights / 2.0, np.ascontiguousarray(up_to.T) / 2.0)


@kernel
def _probabilities(alpha: np.ndarray, beta: np.ndarray, rule: Rule) -> np.ndarray:
    bumps = _bumps(alpha, beta)
    edges = _edges(bumps, bumps.low.max(), bumps.high.max(), -1)
    n_arms, size = alpha.size, (edges.size - 1) * rule.nodes.size
    density, below = np.empty((n_arms, size)), np.empty((n_arms, size))
    for arm in range(n_arms):
        start = _integral(bumps, arm, _edges(bumps, bumps.low[arm], edges[0], arm), rule)
        total = _integrate(bumps, arm, start, edges, rule, density[arm], below[arm])
        below[arm] /= total
        density[arm] /= total
    chances = np.zeros(n_arms)
    for i in range(size):
        panel, node = i // rule.nodes.size, i % rule.nodes.size
        weight = rule.weights[node] * (edges[panel + 1] - edges[panel])
        for arm in range(n_arms):
            chance = weight * density[arm, i]
            for other in range(n_arms):
                if other != arm:
                    chance *= below[other, i]
            chances[arm] += chance
    return np.asarray(chances / chances.sum())


@kernel
def _bumps(alpha: np.ndarray, beta: np.ndarray) -> _Bumps:
    middle = np.log(alpha / beta)
    scale = np.sqrt(1.0 / alpha + 1.0 / beta)
    low, high = middle - scale, middle + scale
    bumps = _Bumps(alpha, beta, middle, np.minimum(scale, _WIDEST), low, high)
    for arm in range(alpha.size):
        while _log_density(bumps, arm, low[arm]) > _NEGLIGIBLE:
            low[arm] = middle[arm] + 1.3 * (low[arm] - middle[arm])
        while _log_density(bumps, arm, high[arm]) > _NEGLIGIBLE:
            high[arm] = middle[arm] + 1.3 * (high[arm] - middle[arm])
    return bumps


@kernel
def _log_density(bumps: _Bumps, arm: int, t: float) -> float:
    """Return the log of the density over t, relative to its highest."""
    alpha, beta, d = bumps.alpha[arm], bumps.beta[arm], t - bumps.middle[arm]
    if d > 0.0:  # the mirror image, in which e^d does not overflow
        alpha, beta, d = beta, alpha, -d
    return float(alpha * d - (alpha + beta) * math.log1p(alpha / (alpha + beta) * math.expm1(d)))


@kernel
def _edges(bumps: _Bumps, low: float, high: float, only: int) -> np.ndarray:
    """Return the edges of panels from low to high, narrow where a bump is; or just for one arm."""
    edges = np.empty(64)
    edges[0], n = low, 1
    t = low
    while t < high:
        width = max(2.0, abs(t) / 2.0)
        for arm in range(bumps.middle.size):
            if only in (-1, arm):
                distance = abs(t - bumps.middle[arm])
                width = min(width, max(bumps.scale[arm], distance / 2.0))
        t = min(high, t + width)
        if n == edges.size:
            edges = np.append(edges, np.empty(n))
        edges[n] = t
        n += 1
    return edges[:n]


@kernel
def _integral(bumps: _Bumps, arm: int, edges: np.ndarray, rule: Rule) -> float:
    """Return the integral of the arm's density over the panels."""
    total = 0.0
    for panel in range(edges.size - 1):
        width = edges[panel + 1] - edges[panel]
        for node in range(rule.nodes.size):
            t = edges[panel] + width * rule.nodes[node]
            total += width * rule.weights[node] * math.exp(_log_density(bumps, arm, t))
    return total


@kernel
def _integrate(
    bumps: _Bumps,
    arm: int,
    start: float,
    edges: np.ndarray,
    rule: Rule,
    density: np.ndarray,
    below: np.ndarray,
) -> float:
    """Fill in the arm's density and its integral at all nodes; return the whole integral."""
    total, n = start, rule.nodes.size
    for panel in range(edges.size - 1):
        width = edges[panel + 1] - edges[panel]
        here = density[panel * n : (panel + 1) * n]
        for node in range(n):
            t = edges[panel] + width * rule.nodes[node]
            here[node] = math.exp(_log_density(bumps, arm, t))
        for node in range(n):
            below[panel * n + node] = total + width * np.sum(rule.up_to[node] * here)
        total += width * np.sum(rule.weights * here)
    return total
