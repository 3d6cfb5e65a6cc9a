"""Giro: garbage in, reward out (Kveton et al., 2019, Algorithm 2)."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.checks import NotNegative
from giro.compiling import bind, dispatched, inline_kernel, kernel
from giro.kernels.giro.lazy_argmax import lazy_argmax
from giro.kernels.giro.partial_sample import (
    PartialSamples,
    add,
    begin,
    empty_samples,
    is_empty,
    remove,
)
from giro.kernels.giro.pseudo_rewards import pseudo_count_distribution
from giro.kernels.highest.binomial_argmax import (
    BinomialValues,
    binomial_argmax,
    empty_values,
    set_share,
    set_untried,
    set_variant,
)
from giro.kernels.highest.binomial_probabilities import binomial_argmax_probabilities
from giro.kernels.highest.ties import Ties, tie_ranking
from giro.kernels.memory import Everything, Window, exchange, memory_of
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    samples: PartialSamples  # histories of observed rewards: pseudo rewards are counted, not stored
    values: BinomialValues  # distributions of the arms' values while all rewards are 0 or 1
    a: float  # pseudo rewards of each kind per pull
    memory: Any  # which rewards count, see `kernels/memory.py`
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    if is_empty(state.samples.rewards):  # all rewards are 0 or 1: none had to be stored
        return binomial_argmax(state.values, offer.arms, state.ranking, rng)
    begin(state.samples, offer.arms, state.a, rng)
    return lazy_argmax(state.samples, offer.arms, state.ranking, rng)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    _make_room(state.memory, state, arm, reward)
    add(state.samples, arm, reward)
    if is_empty(state.samples.rewards):
        _set_value(state, arm)


@dispatched
def _make_room(memory: Any, state: _State, arm: int, reward: float) -> None:
    """Forget the reward that a new one of an arm replaces, if any."""
    raise TypeError("replaced by dispatch")


def _forget_nothing(memory: Any, state: _State, arm: int, reward: float) -> None:
    pass


def _forget_oldest(memory: Window, state: _State, arm: int, reward: float) -> None:
    old_arm, old_reward = exchange(memory, arm, reward)
    if old_arm >= 0:
        _forget(state, old_arm, old_reward)


bind(_make_room, Everything, _forget_nothing)
bind(_make_room, Window, _forget_oldest)


@inline_kernel
def _set_value(state: _State, arm: int) -> None:
    """Set the distribution of the value of an arm whose rewards are 0 and 1."""
    history = state.samples.rewards.arms[arm]
    floor, share = pseudo_count_distribution(state.a, history.pulls)
    for variant in range(2 if share > 0.0 else 1):
        k = floor + variant
        m = history.pulls + 2 * k  # draws, of which (ones + k) / m are 1
        set_variant(state.values, arm, variant, 0.0, m, (history.total + k) / m, m)
    set_share(state.values, arm, share)


@kernel
def _forget(state: _State, arm: int, reward: float) -> None:
    remove(state.samples, arm, reward)
    if not is_empty(state.samples.rewards):
        return
    if state.samples.rewards.arms[arm].pulls == 0:
        set_untried(state.values, arm)
    else:
        _set_value(state, arm)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    if not is_empty(state.samples.rewards):
        return np.empty(0)
    return binomial_argmax_probabilities(state.values, offer.arms, state.ranking)


@dataclass(frozen=True)
class Giro(Policy, name="giro"):
    """Pulls the arm with the best bootstrap mean of its history and `a` zeros and ones per pull.

    The chosen arm has exactly the distribution of Algorithm 2, at a cost that hardly grows with the
    history: see `binomial_argmax` for rewards 0 and 1, `lazy_argmax` for any others. An untried arm
    has the value infinity. Real `a` follows Section 6.1: floor(a s) or ceil(a s) pseudo rewards of
    each kind, drawn in each round. Differs from the paper: ties are broken at random each time
    unless `ties=fixed`, and values of fractional rewards that agree to 12 digits count as tied.
    Differs from the paper: in live decisions among several arms with hundreds of rewards 0 and 1,
    the number of ones in an arm's sample is drawn from the continuous binomial, of the same mean
    and variance (see `binomial_probabilities`). The logged probabilities are exact for this law.
    Between two arms they differ by less than 0.2 over the standard deviation of that number, 0.02
    at most. `simulate` plays Algorithm 2 itself.

    For worlds that change, the history holds only the last `window` rewards of all arms (a window
    as in Garivier and Moulines, 2011). An arm whose rewards have all left the window is untried
    again. There is no half-life: a history whose entries fade has no bootstrap sample of its own
    length, so it would be another algorithm, for which we know no source.
    """

    source = "Kveton et al. 2019, Algorithm 2"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)
    choose_mutates_state = True  # it tunes tail tests for rewards inside (0, 1)

    a: NotNegative = 1.0
    ties: Ties = field(default="random", kw_only=True)
    window: int | None = field(default=None, kw_only=True)

    def has_propensities(self, *, binary: bool, shared: bool) -> bool:
        """Return whether the probabilities are known: only while all rewards are 0 or 1."""
        return binary

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return empty histories."""
        kept = shape.capacity if self.window is None else self.window * shape.n_arms
        return _State(
            empty_samples(shape.n_arms, min(shape.capacity, kept)),
            empty_values(shape.n_arms),
            float(self.a),
            memory_of(shape, window=self.window),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
