"""Rewards made 0 or 1."""

import pytest
from laws import assert_follows

from giro.kernels.draws.uniform import bernoulli_rounded
from giro.seeds import stream


def test_a_rounded_reward_is_one_with_the_reward_as_probability(seed: int) -> None:
    rng = stream(seed)
    rounded = [int(bernoulli_rounded(0.3, rng)) for _ in range(20_000)]
    assert_follows(rounded, [0.7, 0.3])
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(rounded, [0.66, 0.34])


def test_rewards_of_zero_and_one_stay_and_draw_nothing() -> None:
    rng, untouched = stream(1), stream(1)
    assert bernoulli_rounded(0.0, rng) == 0.0
    assert bernoulli_rounded(1.0, rng) == 1.0
    assert rng.random() == untouched.random()
