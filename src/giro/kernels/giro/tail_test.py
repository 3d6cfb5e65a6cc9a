"""Tail test: whether an arm's mean reaches a threshold, at the price of one exponential variable.

With S the sum of the arm's sample of m entries, and any u > 0,

    P(S in dz) = e^(-I) e^(-u (z - m x)) P_u(S in dz),   I = u m x - log E e^(u S),

where P_u is the distribution weighted by e^(u S). So the arm reaches x exactly if one exponential
variable is at least I and, for a draw S from P_u, S >= m x and a second one is at least
u (S - m x); S then has the distribution of S given that x is reached. I, the rate, is linear in x,
so u and what E e^(u S) needs of the history are kept until the arm is pulled again or x has moved
far.
"""

import math

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.ziggurat import standard_exponential
from giro.kernels.giro.partial_sample import PartialSamples, finish, weight_of

_STEEPEST = 3.0  # a larger u would make draws from the weighted distribution slow
_DRIFT = 1.5  # a u this many times too large or too small is found again


@kernel
def rate_of(samples: PartialSamples, arm: int, x: float) -> float:
    """Return roughly I at its best u, as for a normal S; zero if x is no more than the mean."""
    its = samples.rewards.arms[arm]
    lead = x - its.centre
    return 0.5 * lead * lead / its.noise if lead > 0.0 else 0.0


@kernel
def tail_test(samples: PartialSamples, arm: int, x: float, rng: np.random.Generator) -> None:
    """Draw whether the undrawn arm reaches x: then finish its sample, else mark it as out."""
    its = samples.rewards.arms[arm]
    u = min((x - its.centre) / (its.m * its.noise), _STEEPEST)
    if u > _DRIFT * its.tilt or u * _DRIFT < its.tilt:  # the u of the last test will not do
        its.tilt, its.test_k = u, -1
        if its.fractional:
            its.weight = weight_of(samples, arm, 0, its.pulls, u, 0.0)
        else:
            its.weight = its.pulls - its.total + its.total * math.exp(u)
    if its.test_k != its.k:
        its.test_k = its.k
        pseudo = its.k * (1.0 + math.exp(its.tilt))
        its.test_cost = its.m * math.log((its.weight + pseudo) / its.m)
    if standard_exponential(rng) < its.tilt * its.m * x - its.test_cost:
        its.out = True
        return
    finish(samples, arm, its.tilt, rng)
    excess = its.m * (its.centre - x)
    its.out = excess < 0.0 or standard_exponential(rng) < its.tilt * excess
