"""The online bootstrap: what replicas see, and how one of them is picked."""

import math

import numpy as np
import pytest
from laws import assert_follows
from policies.choosing import choice_counts, informed, shape_for, winner_law
from scipy import stats

from giro.errors import BadParameter
from giro.policies.online_bootstrap import OnlineBootstrap
from giro.seeds import stream


def test_a_replica_has_seen_each_reward_with_probability_one_half(seed: int) -> None:
    state = informed(OnlineBootstrap(20_000), [[1, 0, 1, 1, 0, 0, 0], []], stream(seed))
    ones = (state.total[0] - 1).astype(int)
    zeros = (state.size[0] - 2 - ones).astype(int)
    both = 5 * ones + zeros
    law = np.outer(stats.binom.pmf(range(4), 3, 0.5), stats.binom.pmf(range(5), 4, 0.5))
    assert_follows(both, law.ravel())
    assert (state.total[1] == 1).all() and (state.size[1] == 2).all()
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(both, np.outer(stats.binom.pmf(range(4), 3, 0.52), law.sum(0)).ravel())


def test_each_arm_is_valued_by_a_replica_of_its_own(seed: int) -> None:
    policy = OnlineBootstrap(5, alpha=0.5, beta=2)
    histories = [[1, 0.5, 0, 1], [0.25, 1], [0.5]]
    state = informed(policy, histories, stream(seed, 0))  # the state that is asked below
    counts = choice_counts(policy, histories, draws=100_000, seed=seed)
    values = list(state.total / state.size)
    assert_follows(np.repeat(np.arange(3), counts), winner_law(values, [np.full(5, 0.2)] * 3))


def test_replicas_start_with_the_prior(seed: int) -> None:
    state = OnlineBootstrap(3, alpha=0.5, beta=2).start(shape_for(2, 10), stream(seed))
    assert (state.total / state.size == 0.2).all()


@pytest.mark.parametrize("replicas", [0, 2.5, math.nan])
def test_replicas_is_a_whole_number_of_at_least_one(replicas: int) -> None:
    with pytest.raises(BadParameter, match="online-bootstrap needs a whole number replicas >= 1"):
        OnlineBootstrap(replicas)


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_the_prior_is_finite_and_positive(value: float) -> None:
    with pytest.raises(BadParameter, match="online-bootstrap needs a finite alpha > 0"):
        OnlineBootstrap(alpha=value)
    with pytest.raises(BadParameter, match="online-bootstrap needs a finite beta > 0"):
        OnlineBootstrap(beta=value)
