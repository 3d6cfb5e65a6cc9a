"""Which arm has the highest value, when values are shifted and scaled binomial draws.

The value of an arm is (offset + S) / m with S ~ Bin(n, p): Bernoulli Giro (offset 0, n = m) and
perturbed-history exploration (n fresh coins) are of this form. Only the argmax matters, so almost
nothing needs to be drawn. One arm is drawn; let x be its value. Any other arm reaches x only if an
exponential variable exceeds the arm's cost, 2 (k - np)^2 / n for the least k >= np with which it
does: then `binomial_from` draws S, if it is k or more. Most arms are not even looked at: they are
sorted such that those whose cost is at least `_FAR` come last, and of these only a few lucky ones
have an exponential that exceeds `_FAR`, at places drawn in advance.
"""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import inline_kernel, kernel
from giro.kernels.draws.continuous import standard_exponential
from giro.kernels.draws.discrete import binomial, binomial_from
from giro.kernels.highest.ties import an_untried_arm, beats_in_tie, highest

_NEAR, _FAR = 0.5, 3.0  # nearer than the first, arms are drawn plainly
_PLACES_PER_UNIT = -1.0 / math.log1p(-math.exp(-_FAR))  # to the next exponential above `_FAR`
_VARIANT = np.dtype(
    [("offset", np.float64), ("n", np.int64), ("p", np.float64), ("m", np.float64)], align=True
)
_BOUND = np.dtype(
    [
        ("centre", np.float64),  # the higher of the variants' means; infinite for an untried arm
        ("rate", np.float64),  # the lower of the variants' 2 m^2 / n: cost >= rate (x - mean)^2
        ("share", np.float64),  # probability of variant 1
    ],
    align=True,
)
_LEADER = np.dtype(
    [
        ("tried", np.int64),  # how many arms were; these are sorted
        ("last", np.int64),  # the last of them
        ("first", np.int64),  # the arm to draw first, one with a high centre
    ]
)


class SortedArms(NamedTuple):
    """All arms, those with the largest keys first, and of arms with equal keys the first first."""

    keys: np.ndarray  # [position]
    arms: np.ndarray  # [position] the arm there
    positions: np.ndarray  # [arm] where it is


def without_keys(n_arms: int) -> SortedArms:
    """Return arms that have no key yet: it is below all others, so more arms come last."""
    return SortedArms(np.full(n_arms, -np.inf), np.arange(n_arms), np.arange(n_arms))


@inline_kernel
def set_key(order: SortedArms, arm: int, key: float) -> None:
    """Give the arm this key and the place that goes with it."""
    keys, arms, position = order.keys, order.arms, order.positions[arm]
    while position > 0 and _comes_before(key, arm, keys[position - 1], arms[position - 1]):
        _put(order, position, arms[position - 1], keys[position - 1])
        position -= 1
    while position + 1 < keys.size and _comes_before(
        keys[position + 1], arms[position + 1], key, arm
    ):
        _put(order, position, arms[position + 1], keys[position + 1])
        position += 1
    _put(order, position, arm, key)


@inline_kernel
def _comes_before(key: float, arm: int, other_key: float, other: int) -> bool:
    return key > other_key or (key == other_key and arm < other)


@inline_kernel
def _put(order: SortedArms, position: int, arm: int, key: float) -> None:
    order.keys[position], order.arms[position], order.positions[arm] = key, arm, position


class BinomialValues(NamedTuple):
    """The distributions of all arms' values.

    An arm has two variants where its n is random.
    """

    variants: np.ndarray  # [arm, variant] records
    bounds: np.ndarray  # [arm] records
    near: SortedArms  # an arm's key is the x above which its cost is at least `_FAR`
    leader: np.ndarray  # [1] record


def empty_values(n_arms: int) -> BinomialValues:
    """Return the values of untried arms."""
    variants = np.zeros((n_arms, 2), _VARIANT).view(np.recarray)
    bounds = np.zeros(n_arms, _BOUND).view(np.recarray)
    bounds.centre = np.inf
    leader = np.zeros(1, _LEADER).view(np.recarray)
    return BinomialValues(variants, bounds, without_keys(n_arms), leader)


def prior_values(n_arms: int, zeros: int, ones: int) -> BinomialValues:
    """Return the values of arms that each start with prior zeros and ones, untried without any."""
    values, m = empty_values(n_arms), zeros + ones
    if m > 0:
        for field, value in (("n", m), ("m", m), ("p", ones / m)):
            values.variants[field][:, 0] = value
        values.bounds["centre"], values.bounds["rate"] = ones / m, 2.0 * m
    return values


@inline_kernel
def set_bootstrap(values: BinomialValues, arm: int, m: int, ones: float) -> None:
    """Set the arm's value to the mean of m draws with replacement from m entries of 0 and 1."""
    set_variant(values, arm, 0, 0.0, m, ones / m, m)
    set_share(values, arm, 0.0)


@inline_kernel
def set_variant(
    values: BinomialValues, arm: int, variant: int, offset: float, n: int, p: float, m: int
) -> None:
    """Set the distribution of a variant of an arm.

    `set_share` must follow.
    """
    chosen = values.variants[arm, variant]
    chosen.offset, chosen.n, chosen.p, chosen.m = offset, n, p, float(m)


@inline_kernel
def set_share(values: BinomialValues, arm: int, share: float) -> None:
    """Set the share of variant 1 of an arm, and the bounds of its value."""
    bound, leader, width = values.bounds[arm], values.leader[0], 0.0
    if values.near.keys[values.near.positions[arm]] == -np.inf:
        leader.first = arm if leader.tried == 0 else leader.first
        leader.tried += 1
        leader.last = max(leader.last, arm)
    bound.share, bound.centre, bound.rate = share, -np.inf, np.inf
    for variant in range(2 if share > 0.0 else 1):
        chosen = values.variants[arm, variant]
        bound.centre = max(bound.centre, (chosen.offset + chosen.n * chosen.p) / chosen.m)
        if chosen.n > 0 and 0.0 < chosen.p < 1.0:  # otherwise the value is certain
            bound.rate = min(bound.rate, 2.0 * chosen.m * chosen.m / chosen.n)
            width = max(width, math.sqrt(0.5 * _FAR * chosen.n) / chosen.m)
    set_key(values.near, arm, bound.centre + width)
    if bound.centre > values.bounds[leader.first].centre:
        leader.first = arm


@kernel
def set_untried(values: BinomialValues, arm: int) -> None:
    """Make an arm that was tried untried again."""
    leader, order = values.leader[0], values.near
    values.bounds[arm].centre = np.inf
    set_key(order, arm, -np.inf)
    leader.tried -= 1
    if leader.first == arm:
        leader.first = order.arms[0]
    leader.last = 0
    for position in range(leader.tried):
        leader.last = max(leader.last, order.arms[position])


@inline_kernel
def binomial_argmax(
    values: BinomialValues, arms: np.ndarray, ranking: np.ndarray, rng: np.random.Generator
) -> int:
    """Return which of these arms has the highest value, as if all were drawn.

    Ties as `ranking` says. Where just the sorted arms are on offer, most are not looked at.
    """
    tried = values.leader[0].tried
    if tried == arms.size and values.leader[0].last < tried and arms[tried - 1] == tried - 1:
        return _argmax_of_sorted(values, ranking, rng)
    untried = an_untried_arm(values.bounds, arms, ranking, rng)
    return untried if untried >= 0 else _argmax_of_some(values, arms, ranking, rng)


@kernel
def _argmax_of_some(
    values: BinomialValues, arms: np.ndarray, ranking: np.ndarray, rng: np.random.Generator
) -> int:
    first = highest(values.bounds, arms)
    best, tied, x = first, 1, _value(values, first, rng)
    for arm in arms:
        value = _value_above(values, arm, x, 0.0, rng) if arm != first else -1.0
        if value > x:
            best, tied, x = int(arm), 1, value
        elif value == x:
            tied += 1
            if beats_in_tie(arm, best, tied, ranking, rng):
                best = int(arm)
    return best


@inline_kernel
def _argmax_of_sorted(values: BinomialValues, ranking: np.ndarray, rng: np.random.Generator) -> int:
    first, n_sorted = int(values.leader[0].first), values.leader[0].tried
    best, tied, x = first, 1, _value(values, first, rng)
    keys, position, known = values.near.keys, 0, 0.0
    while True:
        if known == 0.0 and (position == n_sorted or keys[position] < x):
            known = _FAR  # all arms from here on are far
        if known > 0.0:
            position += int(standard_exponential(rng) * _PLACES_PER_UNIT)
            if position >= n_sorted:
                return best
        arm = values.near.arms[position]
        position += 1
        value = _value_above(values, arm, x, known, rng) if arm != first else -1.0
        if value > x:
            best, tied, x = arm, 1, value
        elif value == x:
            tied += 1
            if beats_in_tie(arm, best, tied, ranking, rng):
                best = arm


@inline_kernel
def _value_above(
    values: BinomialValues, arm: int, x: float, known: float, rng: np.random.Generator
) -> float:
    """Return the arm's value, or -1 if it is below x.

    The arm's exponential is at least `known`.
    """
    distance = x - values.bounds[arm].centre
    cost = values.bounds[arm].rate * distance * distance if distance > 0.0 else 0.0
    if cost < _NEAR:
        return _value(values, arm, rng)
    patience = known + standard_exponential(rng)
    return _value_if_reached(values, arm, x, patience, rng) if patience >= cost else -1.0


@inline_kernel
def _variant(
    values: BinomialValues, arm: int, rng: np.random.Generator
) -> tuple[float, int, float, float]:
    """Return offset, n, p and m of the arm in this round."""
    share = values.bounds[arm].share
    chosen = values.variants[arm, 1 if share > 0.0 and rng.random() < share else 0]
    return chosen.offset, chosen.n, chosen.p, chosen.m


@inline_kernel
def _value(values: BinomialValues, arm: int, rng: np.random.Generator) -> float:
    """Return a plain draw of the arm's value."""
    offset, n, p, m = _variant(values, arm, rng)
    return (offset + binomial(n, p, rng)) / m


@inline_kernel
def _value_if_reached(
    values: BinomialValues, arm: int, x: float, patience: float, rng: np.random.Generator
) -> float:
    """Return the arm's value, or -1 if it is below x.

    See `binomial_from` on `patience`.
    """
    offset, n, p, m = _variant(values, arm, rng)
    k = int(m * x - offset)
    while (offset + k) / m < x:
        k += 1
    ones = binomial_from(k, n, p, patience, rng)
    return (offset + ones) / m if ones >= 0 else -1.0
