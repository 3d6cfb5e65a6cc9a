"""Geometric resampling: how many choices a policy takes to choose the same arm again."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from laws import assert_follows
from live_kernels import live_of

from giro import GiroError, Policy
from giro.live import LivePolicy
from giro.offer import Case, Offer, Shape, offer_of

SURE = 5.0  # standard errors
FRACTIONS = [0.2, 0.7, 0.6, 0.9, 0.4, 0.5, 0.1, 0.3]


def taught(policy: str, rewards: list[float], seed: int, n_arms: int = 4) -> LivePolicy:
    """Return a policy whose arms had these rewards in turn."""
    live = live_of(Policy.parse(policy), Shape(n_arms, 0, 0, 100, 100), seed=seed)
    for i, reward in enumerate(rewards):
        live.learn(Case(np.empty(0), np.empty(0)), i % n_arms, reward)
    return live


def slow_tries(live: LivePolicy, offer: Offer, arm: int, limit: int) -> int:
    number = 1
    while live.choose(offer) != arm and number < limit:
        number += 1
    return number


def pairs(live: LivePolicy, offer: Offer, n: int, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n times an arm that the policy chose, and how many tries it took."""
    found = []
    for number in range(n):
        live.stream_of(number)
        arm = live.choose(offer)
        found.append((arm, live.tries(offer, arm, limit)))
    arms, tries = np.array(found).T
    return arms, tries


@pytest.mark.parametrize("rewards", [FRACTIONS, [0.0, 1.0, 1.0, 0.0, 0.0]])
def test_tries_are_choices_counted_one_by_one(rewards: list[float], seed: int) -> None:
    quick, slow, offer = taught("giro", rewards, seed), taught("giro", rewards, seed), offer_of(4)
    for number in range(50):
        quick.stream_of(number), slow.stream_of(number)
        arm, limit = number % 4, 1 + number % 7
        assert quick.tries(offer, arm, limit) == slow_tries(slow, offer, arm, limit)
        assert quick.choose(offer) == slow.choose(offer)  # both generators stand at one place


def test_tries_are_geometric_up_to_the_limit(seed: int) -> None:
    live, offer, limit = taught("thompson", [1.0, 0.0, 1.0, 1.0, 0.0], seed), offer_of(4), 6
    law = live.propensities(offer)
    assert law is not None
    live.stream_of(0)
    for arm, p in enumerate(law.tolist()):
        tries = np.array([live.tries(offer, arm, limit) for _ in range(8_000)])
        misses = (1.0 - p) ** np.arange(limit)
        at_last = np.append(p * misses[:-1], misses[-1])  # the limit is returned whatever comes
        assert_follows(tries - 1, at_last)
        mean, error = (1.0 - (1.0 - p) ** limit) / p, tries.std() / np.sqrt(tries.size)
        assert abs(tries.mean() - mean) < SURE * error
        misses = (1.0 - 1.2 * p) ** np.arange(limit)
        with pytest.raises(AssertionError, match="p ="):
            assert_follows(tries - 1, np.append(1.2 * p * misses[:-1], misses[-1]))


def test_weights_by_tries_are_unbiased_where_no_probability_is_known(seed: int) -> None:
    live, offer = taught("giro", FRACTIONS, seed), offer_of(4)
    assert live.propensities(offer) is None
    arms, tries = pairs(live, offer, 20_000, limit=10**6)
    for arm in range(4):
        weights = np.where(arms == arm, tries, 0)  # of which the mean is p times 1 / p
        assert abs(weights.mean() - 1.0) < SURE * weights.std() / np.sqrt(weights.size)
    error = tries.std() / np.sqrt(tries.size)
    assert abs(tries.mean() - 4.0) < SURE * error  # as many as there are arms


def test_a_limit_costs_the_stated_bias(seed: int) -> None:
    live, offer, limit = taught("thompson", [1.0, 0.0, 0.0, 0.0], seed), offer_of(4), 3
    law = live.propensities(offer)
    assert law is not None
    arms, tries = pairs(live, offer, 20_000, limit)
    for arm, p in enumerate(law.tolist()):
        weights = np.where(arms == arm, tries, 0)
        wanted, error = 1.0 - (1.0 - p) ** limit, weights.std() / np.sqrt(weights.size)
        assert abs(weights.mean() - wanted) < SURE * error
        assert abs(weights.mean() - 1.0) > SURE * error
        assert 1.0 - wanted <= 1.0 / (np.e * p * limit)


class _Nothing(NamedTuple):
    empty: np.ndarray


@dataclass(frozen=True)
class Stray(Policy):
    """Chooses an arm that is not on offer."""

    def start(self, shape: Shape, rng: np.random.Generator) -> _Nothing:
        return _Nothing(np.empty(0))

    @staticmethod
    def choose(state: _Nothing, offer: Offer, rng: np.random.Generator) -> int:
        return 2

    @staticmethod
    def learn(state: _Nothing, case: Case, arm: int, reward: float, rng: Any) -> None:
        pass


def test_an_arm_that_is_not_on_offer_is_an_error() -> None:
    live = live_of(Stray(), Shape(3, 0, 0, 10, 10), seed=1)
    live.stream_of(0)
    with pytest.raises(GiroError, match="not on offer"):
        live.tries(offer_of(2), 1, 10)
