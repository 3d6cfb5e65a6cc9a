"""Bootstrap samples that are drawn only as finely as needed, from rewards kept in order.

A partial sample of an arm starts with nothing drawn. `refine` first draws how many entries of the
sample are pseudo rewards and how many come from each quarter of the arm's ordered rewards, then
from each eighth, and so on. What is not drawn yet leaves the sum S of the sample uncertain, but not
by much: if the entries left lie in ranges no wider than w, Bernstein's inequality says that

    log E exp(u (S - E S)) <= u^2 V / (2 (1 - |u| w / 3)),   V the variance of S, |u| w < 3.

`finish` draws the rest, if asked from the distribution weighted by exp(u S), normalised by
`cumulant`.
"""

import math
from typing import NamedTuple

import numpy as np

from giro.compiling import inline_kernel, kernel
from giro.kernels.draws.continuous import standard_exponential
from giro.kernels.draws.discrete import binomial, fair_binomial
from giro.kernels.giro.pseudo_rewards import pseudo_count

_FIRST_CAPACITY = 8
_GRANULE = 16  # the number of ordered rewards is a multiple of this, so that it can be halved
_SMALLEST_PART = 64  # rewards; a larger part is divided further
_UNDRAWN, _FINISHED = -1, -2  # levels of a sample without parts
_FIRST_LEVEL = 2  # the first refinement goes to 2^2 parts
_SMALLEST_WHOLE = 128  # with fewer rewards it is quicker to draw each
_GRAIN = 2.0**-40
_TINY = 1e-12  # a variance that rounding errors cannot exceed

STORAGE = [  # fields of an arm's record that say where its rewards are
    ("begin", np.int64),  # where the arm's rewards start in the pool
    ("length", np.int64),  # how many there are
    ("fits", np.int64),  # how many fit
    ("ordered", np.int64),  # how many of them, the first ones, ascend
    ("levels", np.int64),  # how often these can be halved
    ("used", np.int64),  # entries of the pool given away to any arm; counted in the first record
]


# -- rewards in order -----------------------------------------------------------------------------


class Ordered(NamedTuple):
    """The rewards of all arms in one pool.

    The latest rewards of an arm follow its ordered ones. Latest rewards are merged when there are
    about sqrt(s) of them, so that a reward costs about sqrt(s) copies; some stay, to keep the
    ordered ones a multiple of 16. An arm that outgrows its place moves to one of twice the size at
    the end of the pool, which is thus at most four times as large as the rewards in it, plus eight
    per arm.
    """

    arms: np.ndarray  # [arm] records with the fields of STORAGE
    pool: np.ndarray  # [entry]
    sums: np.ndarray  # [arm, 2^level + part, power - 1] of the rewards of a part and their squares

    def trimmed(self) -> "Ordered":
        """Return the rewards without unused room."""
        used = int(self.arms["used"][0])
        nodes = 2 << int(self.arms["levels"].max()) if used else 0
        return self._replace(pool=self.pool[:used], sums=self.sums[:, :nodes])


def empty_ordered(arms: np.ndarray, capacity: int) -> Ordered:
    """Return a history without rewards, that can hold `capacity` of them."""
    pool = np.empty(4 * capacity + _FIRST_CAPACITY * arms.size)
    return Ordered(arms, pool, np.empty((arms.size, 2 * most_parts(capacity), 2)))


def most_parts(capacity: int) -> int:
    """Return the largest number of parts, at least four, for `capacity` rewards."""
    parts = 4
    while parts * _SMALLEST_PART < capacity:
        parts *= 2
    return parts


@inline_kernel
def is_empty(state: Ordered) -> bool:
    """Return whether no arm has a reward."""
    return bool(state.arms[0].used == 0)


@kernel
def insert(state: Ordered, arm: int, reward: float) -> None:
    """Add a reward to the arm's history."""
    record = state.arms[arm]
    if record.length == record.fits:
        _move(state, arm)
    state.pool[record.begin + record.length] = reward
    record.length += 1
    latest = record.length - record.ordered
    if latest >= _GRANULE and latest * latest > record.length:
        _merge(state, arm, latest - latest % _GRANULE)


@kernel
def take_out(state: Ordered, arm: int, reward: float) -> None:
    """Take one reward of this value out of the arm's history, in about s steps.

    If it was an ordered one, the 15 largest of these count as latest, so that the others are still
    a multiple of 16.
    """
    record, pool = state.arms[arm], state.pool
    rank = 0
    while pool[record.begin + rank] != reward:
        rank += 1
    record.length -= 1
    for i in range(record.begin + rank, record.begin + record.length):
        pool[i] = pool[i + 1]
    if rank < record.ordered:
        record.ordered -= _GRANULE
        _sum_up(state, arm)


@kernel
def _move(state: Ordered, arm: int) -> None:
    """Give the arm a place of twice the size at the end of the pool."""
    record, target = state.arms[arm], state.arms[0].used
    for i in range(record.length):
        state.pool[target + i] = state.pool[record.begin + i]
    record.begin = target
    record.fits = max(_FIRST_CAPACITY, 2 * record.length)
    state.arms[0].used += record.fits


@kernel
def _merge(state: Ordered, arm: int, count: int) -> None:
    """Bring the first `count` of the latest rewards in order with the others, and sum them up."""
    record, pool = state.arms[arm], state.pool
    begin, first = record.begin, record.begin + record.ordered
    latest = np.empty(count)
    for n in range(count):  # in order: about sqrt(s) are few, and np.sort takes long to compile
        i, reward = n, pool[first + n]
        while i > 0 and latest[i - 1] > reward:
            latest[i] = latest[i - 1]
            i -= 1
        latest[i] = reward
    i, j = first - 1, count - 1
    while j >= 0:
        if i >= begin and pool[i] > latest[j]:
            pool[i + j + 1] = pool[i]
            i -= 1
        else:
            pool[i + j + 1] = latest[j]
            j -= 1
    record.ordered += count
    _sum_up(state, arm)


@kernel
def _sum_up(state: Ordered, arm: int) -> None:
    """Set the sums of all parts: of the smallest ones from their rewards, then of pairs."""
    record, sums = state.arms[arm], state.sums[arm]
    record.levels = 0
    while (record.ordered >> record.levels) > _SMALLEST_PART:
        record.levels += 1
    for part in range(1 << record.levels):
        low, high = part_of(record.ordered, record.levels, part)
        total, squares = 0.0, 0.0
        for entry in range(record.begin + low, record.begin + high):
            total += state.pool[entry]
            squares += state.pool[entry] * state.pool[entry]
        node = (1 << record.levels) + part
        sums[node, 0], sums[node, 1] = total, squares
    for node in range((1 << record.levels) - 1, 0, -1):
        sums[node, 0] = sums[2 * node, 0] + sums[2 * node + 1, 0]
        sums[node, 1] = sums[2 * node, 1] + sums[2 * node + 1, 1]


@kernel
def part_of(size: int, level: int, part: int) -> tuple[int, int]:
    """Return the range of ranks that a part covers, one of the 2^level of `size` rewards."""
    return (part * size) >> level, ((part + 1) * size) >> level


@kernel
def mean_and_variance(state: Ordered, arm: int, level: int, part: int) -> tuple[float, float]:
    """Return the mean and the variance of the rewards of a part."""
    low, high = part_of(state.arms[arm].ordered, level, part)
    node = (1 << level) + part
    mean = state.sums[arm, node, 0] / (high - low)
    return mean, max(state.sums[arm, node, 1] / (high - low) - mean * mean, 0.0)


# -- samples --------------------------------------------------------------------------------------

_ARM = np.dtype(
    [
        *STORAGE,
        ("pulls", np.int64),
        ("total", np.float64),  # sum of rewards
        ("squares", np.float64),  # sum of squared rewards
        ("fractional", np.bool_),  # whether any reward was neither 0 nor 1
        ("k", np.int64),  # pseudo rewards of each kind in this round
        ("m", np.int64),  # entries of the history and of the sample in this round
        ("level", np.int64),  # the ordered rewards are split into 2^level parts
        ("drawn", np.float64),  # sum of the entries that are drawn
        ("centre", np.float64),  # expected mean of the sample, given what is drawn
        ("noise", np.float64),  # V / m^2: the variance of the mean, given what is drawn
        ("width", np.float64),  # w / m
        ("out", np.bool_),  # whether the mean is known to be below the threshold
        ("tilt", np.float64),  # the u of the arm's tail test, 0 before there is one
        ("weight", np.float64),  # sum of exp(tilt y) over the rewards
        ("test_k", np.int64),  # the k for which the next is right
        ("test_cost", np.float64),  # log E exp(tilt S)
    ],
    align=True,
)


class PartialSamples(NamedTuple):
    """The history of each arm, and its partly drawn bootstrap sample."""

    rewards: Ordered  # of the arms with fractional rewards; its records are of the dtype above
    counts: np.ndarray  # [arm, part] entries of the sample that come from the part

    def trimmed(self) -> "PartialSamples":
        """Return the parts in use from one round to the next."""
        return self._replace(counts=self.counts[:, :0])


def empty_samples(n_arms: int, capacity: int) -> PartialSamples:
    """Return histories without rewards, that can hold `capacity` of them."""
    arms = np.zeros(n_arms, _ARM).view(np.recarray)
    counts = np.empty((n_arms, most_parts(capacity)), np.int64)
    return PartialSamples(empty_ordered(arms, capacity), counts)


@inline_kernel
def add(samples: PartialSamples, arm: int, reward: float) -> None:
    """Add a reward to the arm's history.

    While all are 0 or 1 they are only counted.
    """
    record = samples.rewards.arms[arm]
    if not record.fractional and 0.0 < reward < 1.0:
        record.fractional = True
        for i in range(record.pulls):
            insert(samples.rewards, arm, 1.0 if i < record.total else 0.0)
    if record.fractional:
        insert(samples.rewards, arm, reward)
    record.pulls += 1
    record.total += reward
    record.squares += reward * reward
    record.tilt = 0.0


@kernel
def remove(samples: PartialSamples, arm: int, reward: float) -> None:
    """Take one reward of this value out of the arm's history."""
    record = samples.rewards.arms[arm]
    record.pulls -= 1
    record.total -= reward
    record.squares -= reward * reward
    record.tilt = 0.0
    if record.fractional:
        take_out(samples.rewards, arm, reward)
        record.total, record.squares = 0.0, 0.0  # summed again, or rounding errors would add up
        for entry in range(record.begin, record.begin + record.length):
            record.total += samples.rewards.pool[entry]
            record.squares += samples.rewards.pool[entry] * samples.rewards.pool[entry]


@kernel
def begin(samples: PartialSamples, arms: np.ndarray, a: float, rng: np.random.Generator) -> None:
    """Start new samples of these arms, with `a` pseudo rewards of each kind per reward."""
    for arm in arms:
        record = samples.rewards.arms[arm]
        record.k = pseudo_count(a, record.pulls, rng)
        record.m = record.pulls + 2 * record.k
        restart(samples, arm)


@kernel
def restart(samples: PartialSamples, arm: int) -> None:
    """Forget all draws of the arm's sample."""
    record = samples.rewards.arms[arm]
    record.level = _UNDRAWN
    record.out = False
    if record.m == 0:
        record.centre = np.inf
        return
    record.centre = (record.total + record.k) / record.m
    mean_square = (record.squares + record.k) / record.m
    record.noise = max(mean_square - record.centre * record.centre, _TINY) / record.m
    record.width = 1.0 / record.m


@kernel
def refine(samples: PartialSamples, arm: int, rng: np.random.Generator) -> None:
    """Draw the arm's sample more finely."""
    record = samples.rewards.arms[arm]
    if not record.fractional or record.ordered <= _SMALLEST_WHOLE or record.level == record.levels:
        finish(samples, arm, 0.0, rng)
        return
    if record.level == _UNDRAWN:
        # how many entries are pseudo rewards, and all those from the latest rewards
        observed = binomial(record.m, record.pulls / record.m, rng) if record.k > 0 else record.m
        latest = binomial(observed, 1.0 - record.ordered / record.length, rng)
        record.drawn = float(fair_binomial(record.m - observed, rng))
        record.drawn += _sum_of_draws(samples, arm, record.ordered, record.length, latest, 0.0, rng)
        samples.counts[arm, 0] = observed - latest
        record.level = 0
        for _ in range(_FIRST_LEVEL - 1):
            _halve(samples, arm, rng)
    _halve(samples, arm, rng)
    _assess(samples, arm)


@kernel
def _halve(samples: PartialSamples, arm: int, rng: np.random.Generator) -> None:
    """Draw how the entries of each part divide between its halves."""
    record, counts = samples.rewards.arms[arm], samples.counts[arm]
    for part in range((1 << record.level) - 1, -1, -1):
        low, high = part_of(record.ordered, record.level, part)
        middle = ((2 * part + 1) * record.ordered) >> (record.level + 1)
        count = counts[part]
        if 2 * (middle - low) == high - low:
            left = fair_binomial(count, rng)
        else:
            left = binomial(count, (middle - low) / (high - low), rng)
        counts[2 * part], counts[2 * part + 1] = left, count - left
    record.level += 1


@kernel
def _assess(samples: PartialSamples, arm: int) -> None:
    """Set mean, noise and width from the counts of the parts."""
    record, pool = samples.rewards.arms[arm], samples.rewards.pool
    expected, variance, width = record.drawn, 0.0, 0.0
    for part in range(1 << record.level):
        count = samples.counts[arm, part]
        if count > 0:
            low, high = part_of(record.ordered, record.level, part)
            mean, spread = mean_and_variance(samples.rewards, arm, record.level, part)
            expected += count * mean
            span = pool[record.begin + high - 1] - pool[record.begin + low]
            if span > 0.0:
                variance += count * (spread + _TINY)
                width = max(width, span)
    record.centre = expected / record.m
    record.noise = variance / (record.m * record.m)
    record.width = width / record.m
    if variance == 0.0:
        _settle(samples, arm, expected)


@kernel
def _settle(samples: PartialSamples, arm: int, total: float) -> None:
    """End the arm's sample with this sum.

    The mean is rounded to 12 digits: sums of the same rewards in another order are then equal.
    """
    record = samples.rewards.arms[arm]
    record.level = _FINISHED
    record.centre = math.floor(total / record.m / _GRAIN + 0.5) * _GRAIN
    record.noise = 0.0


@kernel
def finish(samples: PartialSamples, arm: int, u: float, rng: np.random.Generator) -> None:
    """Draw the rest of the arm's sample, from the distribution weighted by exp(u S)."""
    record = samples.rewards.arms[arm]
    if record.level == _FINISHED:
        return
    if record.level == _UNDRAWN:
        _settle(samples, arm, _whole_sum(samples, arm, u, rng))
        return
    total = record.drawn
    for part in range(1 << record.level):
        low, high = part_of(record.ordered, record.level, part)
        total += _sum_of_draws(samples, arm, low, high, samples.counts[arm, part], u, rng)
    _settle(samples, arm, total)


@kernel
def _whole_sum(samples: PartialSamples, arm: int, u: float, rng: np.random.Generator) -> float:
    """Return the sum of a whole sample, from the distribution weighted by exp(u S)."""
    record = samples.rewards.arms[arm]
    zeros, ones = float(record.k), record.k * math.exp(u)
    if not record.fractional:
        zeros += record.pulls - record.total
        ones += record.total * math.exp(u)
        return float(binomial(record.m, ones / (zeros + ones), rng))
    weight = record.weight
    if u == 0.0 or u != record.tilt:
        weight = weight_of(samples, arm, 0, record.pulls, u, 0.0)
    observed = (
        binomial(record.m, weight / (weight + zeros + ones), rng) if record.k > 0 else record.m
    )
    pseudo = binomial(record.m - observed, ones / (zeros + ones), rng) if record.k > 0 else 0
    return pseudo + _sum_of_draws(samples, arm, 0, record.pulls, observed, u, rng)


@kernel
def _sum_of_draws(
    samples: PartialSamples,
    arm: int,
    low: int,
    high: int,
    count: int,
    u: float,
    rng: np.random.Generator,
) -> float:
    """Return the sum of `count` draws from the arm's rewards low..high-1, weighted by exp(u y).

    A reward drawn uniformly is kept with a probability in proportion to its weight.
    """
    record, pool = samples.rewards.arms[arm], samples.rewards.pool
    first, size = record.begin + low, high - low
    heaviest = 1.0 if u > 0.0 else 0.0
    if high <= record.ordered:
        heaviest = pool[first + size - 1] if u > 0.0 else pool[first]
    total, kept = 0.0, 0
    while kept < count:
        y = pool[first + int(rng.random() * size)]
        if u == 0.0 or standard_exponential(rng) >= u * (heaviest - y):
            total += y
            kept += 1
    return total


@kernel
def cumulant(samples: PartialSamples, arm: int, u: float) -> float:
    """Return log E exp(u (S - E S)), with S the sum of the arm's sample given its draws so far."""
    record = samples.rewards.arms[arm]
    if record.level == _FINISHED:
        return 0.0
    if record.level == _UNDRAWN:
        h = (record.total + record.k) / record.m
        zero, one = math.exp(-u * h), math.exp(u * (1.0 - h))
        whole = record.k * (zero + one)
        if record.fractional:
            whole += weight_of(samples, arm, 0, record.pulls, u, h)
        else:
            whole += (record.pulls - record.total) * zero + record.total * one
        return float(record.m * math.log(whole / record.m))
    result = 0.0
    for part in range(1 << record.level):
        low, high = part_of(record.ordered, record.level, part)
        mean, _ = mean_and_variance(samples.rewards, arm, record.level, part)
        weight = weight_of(samples, arm, low, high, u, mean)
        result += samples.counts[arm, part] * math.log(weight / (high - low))
    return result


@kernel
def weight_of(
    samples: PartialSamples, arm: int, low: int, high: int, u: float, centre: float
) -> float:
    """Return the sum of exp(u (y - centre)) over the arm's rewards low..high-1."""
    if u == 0.0:
        return float(high - low)
    begin, weight = samples.rewards.arms[arm].begin, 0.0
    for entry in range(begin + low, begin + high):
        weight += math.exp(u * (samples.rewards.pool[entry] - centre))
    return weight
