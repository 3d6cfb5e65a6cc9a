"""The probability of each arm to have the highest value, where values are binomial draws.

As in `binomial_argmax`, the value of an arm is (offset + S) / m with S ~ Bin(n, p), perhaps in two
variants. Values that count lie on lattices, each of which is walked from the top down, the
probability of a point following from that of the one above it,

    P(S = k - 1) = P(S = k) (k zeros) / ((n - k + 1) ones),  ones = n p, zeros = n - ones.

The lattices wait in a queue in the order of their next points. The first is walked to where the
second begins: what it has above that counts as one point, so a dense lattice costs little between
the points of others. That goes on until it is as good as certain that some arm is higher (see
`probabilities.py`). Nor does it matter in which order points come that are so high that some arm
has one of them with a probability T of 1e-7: two have with less than T^2. So this costs as much as
there are points of which another lattice has some in between: up to 8 standard deviations of each
of several equal arms, which grow with the square root of the rewards.

No density can stand for these sums. Points of one lattice fall in places between those of another
that depend on how the m of both divide, and so does the law: by more than 1e-6 after 666,667
rewards of two arms (a test compares it with that of a density), which is far from 1e-12.
"""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import borrowed, inline_kernel, kernel
from giro.kernels.draws.logarithms import stirling_error
from giro.kernels.highest.binomial_argmax import BinomialValues
from giro.kernels.highest.probabilities import (
    Points,
    Standing,
    argmax_probabilities,
    argmax_probabilities_of_points,
    award,
    award_alone,
    before_all,
    put,
    sort,
)
from giro.offer import of_arms

_RARE = 32.0  # what has a probability below e^-32, 1e-14, is left out
_SCARCE = 16.0  # of points that have one of e^-16, 1e-7, in all, the order does not matter
_MANY = 128  # lattices, with which a queue takes longer than sorting all points
_NEGLIGIBLE = 1e-13  # probability that the highest value is lower than what was looked at


class _Walks(NamedTuple):
    """Lattices, and how far each was walked."""

    owner: np.ndarray  # [walk] place of its arm in the offer
    offset: np.ndarray  # [walk]
    n: np.ndarray  # [walk]
    ones: np.ndarray  # [walk] n p, and not the odds: their rounding would add up
    m: np.ndarray  # [walk]
    k: np.ndarray  # [walk] ones at the next point; -1 after the last
    x: np.ndarray  # [walk] value there; -inf after the last
    mass: np.ndarray  # [walk] its probability


@kernel
def binomial_argmax_probabilities(
    values: BinomialValues, arms: np.ndarray, ranking: np.ndarray
) -> np.ndarray:
    """Return the probability [i] with which `binomial_argmax` returns each of these arms.

    The error is below 1e-12.
    """
    ranking, top, floor = of_arms(ranking, arms), np.empty(arms.size), -np.inf
    for i in range(arms.size):
        low, top[i] = _reach(values, arms[i], _RARE)
        floor = max(floor, low)  # which some arm reaches almost surely
    if floor == np.inf or (top >= floor).sum() == 1:  # an untried arm, or one that has no rival
        return argmax_probabilities(top, ranking)
    scarce, ceiling = _SCARCE + math.log(arms.size), floor
    for i in range(arms.size):
        if top[i] >= floor:
            ceiling = max(ceiling, _reach(values, arms[i], scarce)[1])
    walks, standing = _walks(values, arms, top, floor), before_all(arms.size, 1.0)
    if walks.x.size > _MANY:
        return argmax_probabilities_of_points(_points(walks, floor), arms.size, ranking)
    for walk in range(walks.x.size):
        award_alone(standing, walks.owner[walk], _walked(walks, walk, ceiling))
    _walk_all(standing, walks, _queue(walks), ranking)
    return np.asarray(standing.chances / standing.chances.sum())


@kernel
def _reach(values: BinomialValues, arm: int, rare: float) -> tuple[float, float]:
    """Return values of an arm beyond which its probability is below e^-rare, on either side."""
    bound, low, high = values.bounds[arm], np.inf, -np.inf
    if bound.centre == np.inf:
        return np.inf, np.inf
    for variant in range(2 if bound.share > 0.0 else 1):
        law = values.variants[arm, variant]
        first, last = binomial_range(law.n, law.p, rare)
        low = min(low, (law.offset + first) / law.m)
        high = max(high, (law.offset + last) / law.m)
    return low, high


@kernel
def binomial_range(n: int, p: float, rare: float) -> tuple[int, int]:
    """Return numbers of ones beyond which the probability is below e^-rare, on either side.

    By the inequality of Bernstein (1924) for sums of bounded variables.
    """
    if p <= 0.0 or p >= 1.0:
        return (0, 0) if p <= 0.0 else (n, n)
    reach = rare / 3.0 + math.sqrt(rare * (rare / 9.0 + 2.0 * n * p * (1.0 - p)))
    return max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach))


@kernel
def binomial_probability(k: int, n: int, p: float) -> float:
    """Return P(Bin(n, p) = k), to 13 digits for any n (Loader, 2000)."""
    if p <= 0.0 or p >= 1.0:
        return 1.0 if k == n * p else 0.0
    if k in {0, n}:
        return math.exp(n * math.log(p) if k == n else n * math.log1p(-p))
    errors = stirling_error(n) - stirling_error(k) - stirling_error(n - k)
    ones = _mean(n, p)
    exponent = errors - _deviance(float(k), ones) - _deviance(float(n - k), n - ones)
    return math.exp(exponent) * math.sqrt(n / (2.0 * math.pi * k * (n - k)))


@kernel
def _mean(n: int, p: float) -> float:
    """Return n p, and of p = j / n, which was rounded, j: then no step of a walk is."""
    mean = n * p
    nearest = math.floor(mean + 0.5)
    return float(nearest) if abs(mean - nearest) <= 1e-15 * n else mean


@kernel
def _deviance(k: float, mean: float) -> float:
    """Return k log(k / mean) + mean - k, without cancelling where these are close."""
    v = (k - mean) / (k + mean)
    if abs(v) > 0.1:
        return k * math.log(k / mean) + mean - k
    total, term, j = (k - mean) * v, 2.0 * k * v * v * v, 3.0
    while abs(term) > 1e-17 * total:
        total += term / j
        term, j = term * v * v, j + 2.0
    return total


@kernel
def _walks(values: BinomialValues, arms: np.ndarray, top: np.ndarray, floor: float) -> _Walks:
    """Return the lattices that reach the floor, before the first step."""
    size, w = 2 * arms.size, 0
    owner, (offset, n, ones, m, k, x, mass) = np.empty(size, np.int64), np.empty((7, size))
    for i in range(arms.size):
        share = values.bounds[arms[i]].share
        for variant in range(2 if share > 0.0 else 1):
            if top[i] < floor:
                break
            law, weight = values.variants[arms[i], variant], share if variant == 1 else 1.0 - share
            owner[w], offset[w], n[w], m[w] = i, law.offset, law.n, law.m
            ones[w] = _mean(law.n, law.p) if law.p > 0.0 else 1.0  # it has one point only
            most = binomial_range(law.n, law.p, _RARE)[1]
            k[w], x[w] = most, (law.offset + most) / law.m
            mass[w] = weight * binomial_probability(most, law.n, law.p)
            w += 1
    return _Walks(owner[:w], offset[:w], n[:w], ones[:w], m[:w], k[:w], x[:w], mass[:w])


@kernel
def _points(walks: _Walks, floor: float) -> Points:
    """Return all points from the floor on."""
    size, n = 0, 0
    for walk in range(walks.x.size):
        size += int(walks.k[walk] - walks.m[walk] * floor + walks.offset[walk]) + 2
    value, mass, owner = np.empty(size), np.empty(size), np.empty(size, np.int64)
    for walk in range(walks.x.size):
        while walks.x[walk] >= floor:
            value[n], mass[n], owner[n] = walks.x[walk], walks.mass[walk], walks.owner[walk]
            _step(walks, walk)
            n += 1
    return Points(value[:n], mass[:n], owner[:n], 1.0)


@kernel
def _queue(walks: _Walks) -> np.ndarray:
    """Return the lattices in the order of their highest points, in a ring with room for them."""
    room = 2
    while room < walks.x.size:
        room *= 2
    queue, order = np.zeros(room, np.int64), np.arange(walks.x.size)
    sort(walks.x, order)
    queue[: order.size] = order
    return queue


@kernel
def _walk_all(standing: Standing, walks: _Walks, queue: np.ndarray, ranking: np.ndarray) -> None:
    """Walk down until the highest value is found almost surely."""
    standing, walks, queue = borrowed(standing), borrowed(walks), borrowed(queue)
    head, mask = 0, queue.size - 1
    while standing.none_above[0] > _NEGLIGIBLE:
        first = queue[head]
        x, below = walks.x[first], walks.x[queue[(head + 1) & mask]]
        if x > below:
            award_alone(standing, walks.owner[first], _walked(walks, first, below))
            head = _queued(queue, head, walks)
        elif x == -np.inf:
            break
        else:
            n_tied = 0
            while walks.x[queue[head]] == x:
                first = queue[head]
                n_tied = put(standing, walks.owner[first], _step(walks, first), n_tied)
                head = _queued(queue, head, walks)
            award(standing, n_tied, ranking)


@inline_kernel
def _walked(walks: _Walks, walk: int, x: float) -> float:
    """Go to the first point that is not above x, and return the mass of those that are."""
    offset, n, ones, m = walks.offset[walk], walks.n[walk], walks.ones[walk], walks.m[walk]
    k, mass, total, zeros = walks.k[walk], walks.mass[walk], 0.0, n - ones
    value, last = walks.x[walk], max(m * x - offset + 1.0, -1.5)
    while k - 4.0 > last:  # four at once: the formula above, with one division for all of them
        a, b, c, d = k * zeros, (k - 1.0) * zeros, (k - 2.0) * zeros, (k - 3.0) * zeros
        e, f = (n - k + 1.0) * ones, (n - k + 2.0) * ones
        g, h = (n - k + 3.0) * ones, (n - k + 4.0) * ones
        each = 1.0 / (e * f * g * h)
        total += mass * (each * h * (((e + a) * f + a * b) * g + a * b * c))
        mass *= each * (a * b * c * d)
        k -= 4.0
        value = (offset + k) / m if k >= 0.0 else -np.inf
    while value > x:
        total += mass
        mass *= k * zeros / ((n - k + 1.0) * ones)
        k -= 1.0
        value = (offset + k) / m if k >= 0.0 else -np.inf
    walks.k[walk], walks.mass[walk], walks.x[walk] = k, mass, value
    return total


@inline_kernel
def _step(walks: _Walks, walk: int) -> float:
    """Go to the next point, and return the mass of this one."""
    return _walked(walks, walk, walks.x[walk] - 0.25 / walks.m[walk])


@inline_kernel
def _queued(queue: np.ndarray, head: int, walks: _Walks) -> int:
    """Put the first lattice, which was walked, where it belongs now, and return the new head.

    From the end that is nearer: of equal lattices it is mostly the last.
    """
    size, mask, walk = walks.x.size, queue.size - 1, queue[head]
    x = walks.x[walk]
    if walks.x[queue[(head + size // 2) & mask]] < x:
        place = head
        while walks.x[queue[(place + 1) & mask]] > x:
            queue[place] = queue[(place + 1) & mask]
            place = (place + 1) & mask
        queue[place] = walk
        return head
    place = (head + size) & mask
    while walks.x[queue[(place - 1) & mask]] < x:
        queue[place] = queue[(place - 1) & mask]
        place = (place - 1) & mask
    queue[place] = walk
    return (head + 1) & mask
