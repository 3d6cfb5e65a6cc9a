"""Lattices: the points that binomial values take, walked from the top down.

As in `binomial_argmax`, the value of an arm is (offset + S) / m with S ~ Bin(n, p), perhaps in two
variants. The probability of a point follows from that of the one above it,

    P(S = k - 1) = P(S = k) (k zeros) / ((n - k + 1) ones),  ones = n p, zeros = n - ones.

The lattices wait in a queue in the order of their next points. The first is walked to where the
second begins: what it has above that counts as one point, so a dense lattice costs little between
the points of others. That goes on until it is as good as certain that some arm is higher (see
`probabilities.py`). So this costs as much as there are points of which another lattice has some in
between: up to 8 standard deviations of each of several equal arms, which grow with the square root
of the rewards.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from giro.compiling import borrowed, inline_kernel, kernel
from giro.kernels.draws.logarithms import stirling_error
from giro.kernels.highest.probabilities import Points, Standing, award, award_alone, put, sort

RARE = 32.0  # what has a probability below e^-32, 1e-14, is left out
_NEGLIGIBLE = 1e-13  # probability that the highest value is lower than what was looked at
_LATTICE = np.dtype(
    [
        ("owner", np.int64),  # place of its arm in the offer
        ("offset", np.float64),
        ("n", np.float64),
        ("ones", np.float64),  # n p, and not the odds: their rounding would add up
        ("m", np.float64),
        ("k", np.float64),  # ones at the next point; -1 after the last
        ("x", np.float64),  # value there; -inf after the last
        ("mass", np.float64),  # its probability
    ],
    align=True,
)
LATTICE = np.dtype((np.record, _LATTICE))  # in plain Python fields are attributes, too


# -- one of them -------------------------------------------------------------------------------


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
    if k <= 0 or k >= n:
        return math.exp(n * math.log(p) if k == n else n * math.log1p(-p))
    errors = stirling_error(n) - stirling_error(k) - stirling_error(n - k)
    ones = _mean(n, p)
    exponent = errors - deviance(float(k), ones) - deviance(float(n - k), n - ones)
    return math.exp(exponent) * math.sqrt(n / (2.0 * math.pi * k * (n - k)))


@inline_kernel
def _mean(n: int, p: float) -> float:
    """Return n p, and of p = j / n, which was rounded, j: then no step of a walk is."""
    mean = n * p
    nearest = math.floor(mean + 0.5)
    return float(nearest) if abs(mean - nearest) <= 1e-15 * n else mean


@kernel
def deviance(k: float, mean: float) -> float:
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
def begin(lattice: Any, owner: int, law: Any, weight: float) -> None:
    """Set a lattice of an arm, of which the arm's value is with the probability `weight`."""
    lattice.owner, lattice.offset, lattice.n, lattice.m = owner, law.offset, float(law.n), law.m
    lattice.ones = _mean(law.n, law.p) if law.p > 0.0 else 1.0  # it has one point only
    most = binomial_range(law.n, law.p, RARE)[1]
    lattice.k, lattice.x = float(most), (law.offset + most) / law.m
    lattice.mass = weight * binomial_probability(most, law.n, law.p)


@inline_kernel
def walked(lattice: Any, x: float) -> float:
    """Go to the first point that is not above x, and return the mass of those that are."""
    offset, n, ones, m = lattice.offset, lattice.n, lattice.ones, lattice.m
    k, mass, total, zeros = lattice.k, lattice.mass, 0.0, n - ones
    value, last = lattice.x, max(m * x - offset + 1.0, -1.5)
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
    lattice.k, lattice.mass, lattice.x = k, mass, value
    return total


@kernel
def points_of(lattices: np.ndarray, floor: float) -> Points:
    """Return all points from the floor on."""
    size, n = 0, 0
    for i in range(lattices.size):
        if lattices[i].x >= floor:
            size += int(lattices[i].k - lattices[i].m * floor + lattices[i].offset) + 2
    value, mass, owner = np.empty(size), np.empty(size), np.empty(size, np.int64)
    for i in range(lattices.size):
        lattice = lattices[i]
        while lattice.x >= floor:
            value[n], owner[n] = lattice.x, lattice.owner
            mass[n] = walked(lattice, lattice.x - 0.25 / lattice.m)
            n += 1
    return Points(value[:n], mass[:n], owner[:n], 1.0)


# -- several -----------------------------------------------------------------------------------


class Queue(NamedTuple):
    """Lattices in the order of their next points, the last of them having none."""

    lattices: np.ndarray  # [lattice] records
    ring: np.ndarray  # [place] lattices
    head: np.ndarray  # [1] place of the first


@kernel
def queue_of(lattices: np.ndarray) -> Queue:
    """Return the lattices in a queue."""
    room, points = 2, np.empty(lattices.size)
    while room < lattices.size:
        room *= 2
    ring = np.zeros(room, np.int64)  # places beyond the last are looked at, too
    for i in range(lattices.size):
        ring[i], points[i] = i, lattices[i].x
    sort(points, ring[: lattices.size])
    return Queue(lattices, ring, np.zeros(1, np.int64))


@inline_kernel
def next_point(queue: Queue) -> float:
    """Return the highest point that is left, -inf without any."""
    return float(queue.lattices[queue.ring[queue.head[0]]].x)


@inline_kernel
def _put_back(queue: Queue) -> None:
    """Put the first lattice, which was walked, where it belongs now.

    From the end that is nearer: of equal lattices it is mostly the last.
    """
    lattices, ring, head = queue.lattices, queue.ring, queue.head[0]
    size, mask, moved = lattices.size, ring.size - 1, ring[head]
    x = lattices[moved].x
    if lattices[ring[(head + size // 2) & mask]].x < x:
        place = head
        while lattices[ring[(place + 1) & mask]].x > x:
            ring[place] = ring[(place + 1) & mask]
            place = (place + 1) & mask
        ring[place] = moved
        return
    place = (head + size) & mask
    while lattices[ring[(place - 1) & mask]].x < x:
        ring[place] = ring[(place - 1) & mask]
        place = (place - 1) & mask
    ring[place] = moved
    queue.head[0] = (head + 1) & mask


@kernel
def award_next(standing: Standing, queue: Queue, ranking: np.ndarray) -> None:
    """Award the next point to the arms that can be there."""
    x, n_tied = next_point(queue), 0
    while next_point(queue) == x:
        lattice = queue.lattices[queue.ring[queue.head[0]]]
        n_tied = put(standing, lattice.owner, walked(lattice, x - 0.25 / lattice.m), n_tied)
        _put_back(queue)
    award(standing, n_tied, ranking)


@kernel
def award_until(standing: Standing, queue: Queue, ranking: np.ndarray, until: float) -> None:
    """Walk down to a value, or until the highest is found almost surely."""
    standing, queue = borrowed(standing), borrowed(queue)
    while standing.none_above[0] > _NEGLIGIBLE:
        lattices, ring, head = queue.lattices, queue.ring, queue.head[0]
        lattice = lattices[ring[head]]
        x, second = lattice.x, max(lattices[ring[(head + 1) & (ring.size - 1)]].x, until)
        if x <= until:
            break
        if x > second:
            award_alone(standing, lattice.owner, walked(lattice, second))
            _put_back(queue)
        else:
            award_next(standing, queue, ranking)
