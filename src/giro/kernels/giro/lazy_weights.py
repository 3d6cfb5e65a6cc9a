"""Which arm has the highest mean under exponential weights, drawing only as many as it takes.

Rewards and prior zeros and ones have independent Exp(1) weights. The sum of n weights is gamma with
shape n, and the share of some of them in that sum is beta, whatever the sum. So the weights of an
arm's rewards, in ascending order, are drawn as sums: of sixteen parts of them, then of the halves
of each, and so on. The mean is between what it were if each part's weight were on its lowest
reward, and on its highest. Arms are drawn more finely until one's least mean is above all others'
largest. Few rewards, and those not yet in order, have weights of their own from the start.
"""

from typing import NamedTuple

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.continuous import beta, standard_exponential, standard_gamma
from giro.kernels.giro.partial_sample import (
    STORAGE,
    Ordered,
    empty_ordered,
    insert,
    is_empty,
    most_parts,
    part_of,
)
from giro.kernels.highest.beta_argmax import beta_argmax
from giro.kernels.highest.densities import beta_argmax_probabilities
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import argmax
from giro.offer import of_arms

_FEW = 128  # ordered rewards that are quicker drawn one by one
_DRAWN = -1.0  # in place of a value that is drawn
_FIRST_LEVEL = 4  # the first sums are those of 2^4 parts

_ARM = np.dtype(
    [
        *STORAGE,
        ("pulls", np.int64),
        ("total", np.float64),  # sum of rewards
        ("fractional", np.bool_),  # whether any reward was neither 0 nor 1
        ("level", np.int64),  # there are weights of 2^level parts
        ("drawn", np.float64),  # weighted sum of what has weights of its own
        ("weight", np.float64),  # sum of all weights
        ("low", np.float64),  # the mean is at least this
        ("high", np.float64),  # and at most this: it is drawn to its end if they are equal
    ],
    align=True,
)


class WeightedArms(NamedTuple):
    """The rewards of each arm, and the weights drawn in this round."""

    rewards: Ordered  # of the arms with fractional rewards; its records are of the dtype above
    weights: np.ndarray  # [arm, part] sum of the weights of the part's rewards

    def trimmed(self) -> "WeightedArms":
        """Return the parts in use from one round to the next."""
        return self._replace(weights=self.weights[:, :0])


def empty_arms(n_arms: int, capacity: int) -> WeightedArms:
    """Return arms without rewards, that can have `capacity` of them."""
    arms = np.zeros(n_arms, _ARM).view(np.recarray)
    weights = np.empty((n_arms, most_parts(capacity)))
    return WeightedArms(empty_ordered(arms, capacity), weights)


@kernel
def add_reward(arms: WeightedArms, arm: int, reward: float) -> None:
    """Add a reward of the arm. While all are 0 or 1 they are only counted."""
    record = arms.rewards.arms[arm]
    if not record.fractional and 0.0 < reward < 1.0:
        record.fractional = True
        for i in range(record.pulls):
            insert(arms.rewards, arm, 1.0 if i < record.total else 0.0)
    if record.fractional:
        insert(arms.rewards, arm, reward)
    record.pulls += 1
    record.total += reward


@kernel
def exponential_choice(
    state: WeightedArms,
    arms: np.ndarray,
    zeros: int,
    ones: int,
    ranking: np.ndarray,
    rng: np.random.Generator,
) -> int:
    """Return which of these arms has the highest mean of its rewards and prior zeros and ones.

    An arm without any of them has the mean infinity.
    """
    if is_empty(state.rewards):  # all rewards are 0 or 1: none had to be stored
        return _binary_argmax(state.rewards.arms, arms, zeros, ones, ranking, rng)
    return _argmax_in_parts(state, arms, zeros, ones, ranking, rng)


@kernel
def exponential_probabilities(
    state: WeightedArms, arms: np.ndarray, zeros: int, ones: int, ranking: np.ndarray
) -> np.ndarray:
    """Return the probability of each choice, or an empty array for rewards other than 0 and 1."""
    if not is_empty(state.rewards):
        return np.empty(0)
    return _binary_probabilities(state.rewards.arms, arms, zeros, ones, ranking)


@kernel
def _argmax_in_parts(
    state: WeightedArms,
    arms: np.ndarray,
    zeros: int,
    ones: int,
    ranking: np.ndarray,
    rng: np.random.Generator,
) -> int:
    records = state.rewards.arms
    for arm in arms:
        _begin(state, arm, zeros, ones, rng)
    while True:
        guess, rival = int(arms[0]), -1
        for arm in arms:
            if records[arm].low > records[guess].low:
                guess = int(arm)
        for arm in arms:
            if arm != guess and (rival < 0 or records[arm].high > records[rival].high):
                rival = int(arm)
        if rival < 0 or records[guess].low > records[rival].high:
            return guess
        guess_width = records[guess].high - records[guess].low
        rival_width = records[rival].high - records[rival].low
        if records[guess].low == records[guess].high and records[rival].low == records[rival].high:
            break
        _refine(state, guess if guess_width >= rival_width else rival, rng)
    lows = np.empty(arms.size)
    for i in range(arms.size):
        lows[i] = records[arms[i]].low
    return argmax(lows, arms, ranking, rng)


@kernel
def _begin(state: WeightedArms, arm: int, zeros: int, ones: int, rng: np.random.Generator) -> None:
    """Draw the arm's weights anew: of prior rewards, of the latest, and of a few parts."""
    record = state.rewards.arms[arm]
    if record.pulls + zeros + ones == 0:
        record.low = record.high = np.inf
        return
    if not record.fractional:
        record.drawn = _gamma_or_zero(ones + record.total, rng)
        record.weight = record.drawn + _gamma_or_zero(zeros + record.pulls - record.total, rng)
        record.low = record.high = record.drawn / record.weight
        return
    record.drawn = _gamma_or_zero(float(ones), rng)
    record.weight = record.drawn + _gamma_or_zero(float(zeros), rng)
    ordered = record.ordered if record.ordered > _FEW else 0
    for entry in range(record.begin + ordered, record.begin + record.length):
        weight = standard_exponential(rng)
        record.drawn += weight * state.rewards.pool[entry]
        record.weight += weight
    if ordered == 0:
        record.low = record.high = record.drawn / record.weight
        return
    record.level = min(_FIRST_LEVEL, record.levels)
    for part in range(1 << record.level):
        first, last = part_of(ordered, record.level, part)
        state.weights[arm, part] = standard_gamma(float(last - first), rng)
        record.weight += state.weights[arm, part]
    _bound(state, arm)


@kernel
def _gamma_or_zero(shape: float, rng: np.random.Generator) -> float:
    return standard_gamma(shape, rng) if shape > 0.0 else 0.0


@kernel
def _bound(state: WeightedArms, arm: int) -> None:
    """Set the least and the largest mean from the weights of the parts."""
    record, pool = state.rewards.arms[arm], state.rewards.pool
    low = high = record.drawn
    for part in range(1 << record.level):
        first, last = part_of(record.ordered, record.level, part)
        low += state.weights[arm, part] * pool[record.begin + first]
        high += state.weights[arm, part] * pool[record.begin + last - 1]
    record.low, record.high = low / record.weight, high / record.weight


@kernel
def _refine(state: WeightedArms, arm: int, rng: np.random.Generator) -> None:
    """Divide each part's weight among its halves or, where parts are small, its rewards."""
    record, weights, pool = state.rewards.arms[arm], state.weights[arm], state.rewards.pool
    if record.level == record.levels:
        total = record.drawn
        for part in range(1 << record.level):
            first, last = part_of(record.ordered, record.level, part)
            drawn, weight = 0.0, 0.0
            for entry in range(record.begin + first, record.begin + last):
                own = standard_exponential(rng)
                drawn += own * pool[entry]
                weight += own
            total += weights[part] * (drawn / weight)
        record.low = record.high = total / record.weight
        return
    for part in range((1 << record.level) - 1, -1, -1):
        first, last = part_of(record.ordered, record.level, part)
        middle = ((2 * part + 1) * record.ordered) >> (record.level + 1)
        share = 0.5  # of the left half, if it makes a difference
        if pool[record.begin + first] < pool[record.begin + last - 1]:
            share = beta(float(middle - first), float(last - middle), rng)
        weight = weights[part]
        weights[2 * part], weights[2 * part + 1] = share * weight, (1.0 - share) * weight
    record.level += 1
    _bound(state, arm)


# -- rewards 0 and 1 -----------------------------------------------------------------------------


@kernel
def _binary_argmax(
    records: np.ndarray,
    arms: np.ndarray,
    zeros: int,
    ones: int,
    ranking: np.ndarray,
    rng: np.random.Generator,
) -> int:
    """Return the arm with the highest mean, where all rewards are 0 or 1.

    Sums of Exp(1) are gamma, so the mean of g ones and f
    zeros is Beta(g, f).
    """
    alpha, beta_ = _beta_of(records, arms, zeros, ones)
    if min(alpha.min(), beta_.min()) > 0.0:
        return int(arms[beta_argmax(alpha, beta_, rng)])
    values = _certain_values(alpha, beta_)
    if values.max() < 1.0:  # otherwise no draw can win
        for i in range(values.size):
            if values[i] == _DRAWN:
                values[i] = beta(alpha[i], beta_[i], rng)
    return argmax(values, arms, ranking, rng)


@kernel
def _binary_probabilities(
    records: np.ndarray, arms: np.ndarray, zeros: int, ones: int, ranking: np.ndarray
) -> np.ndarray:
    """Return the probability with which `_binary_argmax` returns each of the arms."""
    alpha, beta_ = _beta_of(records, arms, zeros, ones)
    if min(alpha.min(), beta_.min()) > 0.0:
        return beta_argmax_probabilities(alpha, beta_)
    values = _certain_values(alpha, beta_)
    drawn = np.flatnonzero(values == _DRAWN)
    if values.max() >= 1.0 or drawn.size == 0:
        return argmax_probabilities(values, of_arms(ranking, arms))
    law = np.zeros(values.size)
    law[drawn] = beta_argmax_probabilities(alpha[drawn], beta_[drawn])
    return law


@kernel
def _beta_of(
    records: np.ndarray, arms: np.ndarray, zeros: int, ones: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ones and zeros of these arms, prior ones included."""
    alpha, beta_ = np.empty((2, arms.size))
    for i in range(arms.size):
        record = records[arms[i]]
        alpha[i], beta_[i] = record.total + ones, record.pulls - record.total + zeros
    return alpha, beta_


@kernel
def _certain_values(ones: np.ndarray, zeros: np.ndarray) -> np.ndarray:
    """Return infinity for arms without any entry, 1 or 0 where all are that, else `_DRAWN`."""
    values = np.full(ones.size, _DRAWN)
    for i in range(ones.size):
        if zeros[i] == 0.0:
            values[i] = 1.0 if ones[i] > 0.0 else np.inf
        elif ones[i] == 0.0:
            values[i] = 0.0
    return values
