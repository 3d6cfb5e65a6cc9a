"""Which arm has the highest value, when values are shifted and scaled binomial draws.

The value of an arm is (offset + S) / m with S ~ Bin(n, p): Bernoulli Giro (offset 0, n = m) and
perturbed-history exploration (n fresh coins) are of this form. Only the argmax matters, so almost
nothing needs to be drawn. One arm is drawn; let x be its value. Any other arm reaches x only if an
exponential variable exceeds the arm's cost, 2 (k - np)^2 / n for the least k >= np with which it
does: then `binomial_tail` draws S, if it is k or more. Most arms are not even looked at: they are
sorted such that those whose cost is at least `_FAR` come last, and of these only a few lucky ones
have an exponential that exceeds `_FAR`, at places drawn in advance.
"""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import inline_kernel, kernel
from giro.kernels.draws.binomial import binomial
from giro.kernels.draws.binomial_tail import binomial_from
from giro.kernels.draws.exponential import standard_exponential
from giro.kernels.highest.sorted_arms import SortedArms, set_key, without_keys
from giro.kernels.highest.ties import an_untried_arm, beats_in_tie, highest

_NEAR, _FAR = 0.5, 3.0  # nearer than the first, arms are drawn plainly
_PLACES_PER_UNIT = -1.0 / math.log1p(-math.exp(-_FAR))  # of an exponential, see `_unlucky`


_LAW = np.dtype(
    [("offset", np.float64), ("n", np.int64), ("p", np.float64), ("m", np.float64)], align=True
)
_GATE = np.dtype(
    [
        ("centre", np.float64),  # the higher of the variants' means; infinite for an untried arm
        ("rate", np.float64),  # the lower of the variants' 2 m^2 / n: cost >= rate (x - mean)^2
        ("share", np.float64),  # probability of variant 1
    ],
    align=True,
)


_LEAD = np.dtype(
    [
        ("tried", np.int64),  # how many arms were; these are sorted
        ("last", np.int64),  # the last of them
        ("first", np.int64),  # the arm to draw first, one with a high centre
    ]
)


class Race(NamedTuple):
    """The laws of all arms' values; an arm has two variants where its n is random."""

    laws: np.ndarray  # [arm, variant] records
    gates: np.ndarray  # [arm] records
    near: SortedArms  # an arm's key is the x above which its cost is at least `_FAR`
    lead: np.ndarray  # [1] record


def empty_race(n_arms: int) -> Race:
    """Return a race of untried arms."""
    laws = np.zeros((n_arms, 2), _LAW).view(np.recarray)
    gates = np.zeros(n_arms, _GATE).view(np.recarray)
    gates.centre = np.inf
    lead = np.zeros(1, _LEAD).view(np.recarray)
    return Race(laws, gates, without_keys(n_arms), lead)


def prior_race(n_arms: int, zeros: int, ones: int) -> Race:
    """Return a race of arms that each start with prior zeros and ones, untried without any."""
    race, m = empty_race(n_arms), zeros + ones
    if m > 0:
        for field, value in (("n", m), ("m", m), ("p", ones / m)):
            race.laws[field][:, 0] = value
        race.gates["centre"], race.gates["rate"] = ones / m, 2.0 * m
    return race


@inline_kernel
def set_bootstrap_law(race: Race, arm: int, m: int, ones: float) -> None:
    """Let the arm's value be the mean of m draws with replacement from m entries of 0 and 1."""
    set_law(race, arm, 0, 0.0, m, ones / m, m)
    settle(race, arm, 0.0)


@inline_kernel
def set_law(race: Race, arm: int, variant: int, offset: float, n: int, p: float, m: int) -> None:
    """Set the law of a variant of an arm; `settle` must follow."""
    law = race.laws[arm, variant]
    law.offset, law.n, law.p, law.m = offset, n, p, float(m)


@inline_kernel
def settle(race: Race, arm: int, share: float) -> None:
    """Set the share of variant 1 of an arm, and what its gate compares with."""
    gate, lead, width = race.gates[arm], race.lead[0], 0.0
    if race.near.keys[race.near.places[arm]] == -np.inf:
        lead.first = arm if lead.tried == 0 else lead.first
        lead.tried += 1
        lead.last = max(lead.last, arm)
    gate.share, gate.centre, gate.rate = share, -np.inf, np.inf
    for variant in range(2 if share > 0.0 else 1):
        law = race.laws[arm, variant]
        gate.centre = max(gate.centre, (law.offset + law.n * law.p) / law.m)
        if law.n > 0 and 0.0 < law.p < 1.0:  # otherwise the value is certain
            gate.rate = min(gate.rate, 2.0 * law.m * law.m / law.n)
            width = max(width, math.sqrt(0.5 * _FAR * law.n) / law.m)
    set_key(race.near, arm, gate.centre + width)
    if gate.centre > race.gates[lead.first].centre:
        lead.first = arm


@inline_kernel
def winner(race: Race, arms: np.ndarray, ranking: np.ndarray, rng: np.random.Generator) -> int:
    """Return which of these arms has the highest value, as if all were drawn.

    Ties as `ranking` says. Where just the sorted arms are on offer, most are not looked at.
    """
    tried = race.lead[0].tried
    if tried == arms.size and race.lead[0].last < tried and arms[tried - 1] == tried - 1:
        return _winner_of_sorted(race, ranking, rng)
    untried = an_untried_arm(race.gates, arms, ranking, rng)
    return untried if untried >= 0 else _winner_of_some(race, arms, ranking, rng)


@kernel
def _winner_of_some(
    race: Race, arms: np.ndarray, ranking: np.ndarray, rng: np.random.Generator
) -> int:
    first = highest(race.gates, arms)
    best, tied, x = first, 1, _value(race, first, rng)
    for arm in arms:
        value = _challenge(race, arm, x, 0.0, rng) if arm != first else -1.0
        if value > x:
            best, tied, x = int(arm), 1, value
        elif value == x:
            tied += 1
            if beats_in_tie(arm, best, tied, ranking, rng):
                best = int(arm)
    return best


@inline_kernel
def _winner_of_sorted(race: Race, ranking: np.ndarray, rng: np.random.Generator) -> int:
    first, n_sorted = int(race.lead[0].first), race.lead[0].tried
    best, tied, x = first, 1, _value(race, first, rng)
    keys, place, known = race.near.keys, 0, 0.0
    while True:
        if known == 0.0 and (place == n_sorted or keys[place] < x):
            known = _FAR  # all arms from here on are far
        if known > 0.0:
            place += _unlucky(rng)
            if place >= n_sorted:
                return best
        arm = race.near.arms[place]
        place += 1
        value = _challenge(race, arm, x, known, rng) if arm != first else -1.0
        if value > x:
            best, tied, x = arm, 1, value
        elif value == x:
            tied += 1
            if beats_in_tie(arm, best, tied, ranking, rng):
                best = arm


@inline_kernel
def _unlucky(rng: np.random.Generator) -> int:
    """Return how many arms come before the next whose exponential is `_FAR` or more."""
    return int(standard_exponential(rng) * _PLACES_PER_UNIT)


@inline_kernel
def _challenge(race: Race, arm: int, x: float, known: float, rng: np.random.Generator) -> float:
    """Return the arm's value, or -1 if it is below x; its exponential is at least `known`."""
    distance = x - race.gates[arm].centre
    cost = race.gates[arm].rate * distance * distance if distance > 0.0 else 0.0
    if cost < _NEAR:
        return _value(race, arm, rng)
    patience = known + standard_exponential(rng)
    return _value_if_reached(race, arm, x, patience, rng) if patience >= cost else -1.0


@inline_kernel
def _law(race: Race, arm: int, rng: np.random.Generator) -> tuple[float, int, float, float]:
    """Return offset, n, p and m of the arm in this round."""
    share = race.gates[arm].share
    law = race.laws[arm, 1 if share > 0.0 and rng.random() < share else 0]
    return law.offset, law.n, law.p, law.m


@inline_kernel
def _value(race: Race, arm: int, rng: np.random.Generator) -> float:
    """Return a plain draw of the arm's value."""
    offset, n, p, m = _law(race, arm, rng)
    return (offset + binomial(n, p, rng)) / m


@inline_kernel
def _value_if_reached(
    race: Race, arm: int, x: float, patience: float, rng: np.random.Generator
) -> float:
    """Return the arm's value if it is x or more, else -1; see `binomial_from` on `patience`."""
    offset, n, p, m = _law(race, arm, rng)
    k = int(m * x - offset)
    while (offset + k) / m < x:
        k += 1
    ones = binomial_from(k, n, p, patience, rng)
    return (offset + ones) / m if ones >= 0 else -1.0
