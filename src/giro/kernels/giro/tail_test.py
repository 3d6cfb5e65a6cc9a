"""Gates: whether an arm's mean reaches a threshold, at the price of one exponential variable.

With S the sum of the arm's sample of m entries, and any u > 0,

    P(S in dz) = e^(-I) e^(-u (z - m x)) P_u(S in dz),   I = u m x - log E e^(u S),

where P_u is the law weighted by e^(u S). So the arm reaches x exactly if one exponential variable
is at least I and, for a draw S from P_u, S >= m x and a second one is at least u (S - m x); S then
has the law of S given that x is reached. I is linear in x, so u and what E e^(u S) needs of the
history are kept until the arm is pulled again or x has moved far.
"""

import math

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.exponential import standard_exponential
from giro.kernels.giro.partial_sample import Draft, finish, weight_of

_STEEPEST = 3.0  # a larger u would make draws from the weighted law slow
_DRIFT = 1.5  # a u this many times too large or too small is found anew


@kernel
def closeness(draft: Draft, arm: int, x: float) -> float:
    """Return roughly I at its best u, by the normal law; zero if x is no more than the mean."""
    its = draft.rewards.arms[arm]
    lead = x - its.centre
    return 0.5 * lead * lead / its.noise if lead > 0.0 else 0.0


@kernel
def gate(draft: Draft, arm: int, x: float, rng: np.random.Generator) -> None:
    """Draw whether the undrawn arm reaches x: then finish its sample, else mark it as out."""
    its = draft.rewards.arms[arm]
    _tune(draft, arm, x)
    if standard_exponential(rng) < its.tilt * its.m * x - its.gate_cost:
        its.out = True
        return
    finish(draft, arm, its.tilt, rng)
    excess = its.m * (its.centre - x)
    its.out = excess < 0.0 or standard_exponential(rng) < its.tilt * excess


@kernel
def _tune(draft: Draft, arm: int, x: float) -> None:
    """Choose the u of the arm's gate, unless the one it has will do."""
    its = draft.rewards.arms[arm]
    u = min((x - its.centre) / (its.m * its.noise), _STEEPEST)
    if u > _DRIFT * its.tilt or u * _DRIFT < its.tilt:
        its.tilt, its.gate_k = u, -1
        if its.fractional:
            its.weight = weight_of(draft, arm, 0, its.pulls, u, 0.0)
        else:
            its.weight = its.pulls - its.total + its.total * math.exp(u)
    if its.gate_k != its.k:
        its.gate_k = its.k
        pseudo = its.k * (1.0 + math.exp(its.tilt))
        its.gate_cost = its.m * math.log((its.weight + pseudo) / its.m)
