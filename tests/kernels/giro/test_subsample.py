"""Sums of samples without replacement."""

from itertools import combinations

import numpy as np
import pytest
from laws import assert_follows

from giro.compiling import kernel
from giro.kernels.giro.subsample import subsampled_sum
from giro.seeds import stream

REWARDS = np.array([0.1, 0.2, 0.4, 0.8, 1.6])  # sums of different subsets differ


@kernel
def _fill(out: np.ndarray, rewards: np.ndarray, n: int, rng: np.random.Generator) -> None:
    for i in range(out.size):
        out[i] = subsampled_sum(rewards, n, rng)


@pytest.mark.parametrize("n", [0, 1, 3, 5])
def test_every_subset_is_equally_likely(n: int, seed: int) -> None:
    sums = sorted(sum(subset) for subset in combinations(REWARDS, n))
    out = np.empty(50_000)
    _fill(out, REWARDS.copy(), n, stream(seed, n))
    which = np.abs(out[:, None] - np.array(sums)).argmin(axis=1)
    assert np.allclose(np.array(sums)[which], out)
    assert_follows(which, np.full(len(sums), 1 / len(sums)))


def test_a_draw_with_replacement_would_fail(seed: int) -> None:
    sums = sorted(sum(subset) for subset in combinations(REWARDS, 2))
    drawn = stream(seed).choice(REWARDS, (50_000, 2)).sum(axis=1)
    which = np.abs(drawn[:, None] - np.array(sums)).argmin(axis=1)
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(which, np.full(len(sums), 1 / len(sums)))


def test_the_rewards_stay_as_they_were(seed: int) -> None:
    rewards = stream(seed).random(100)
    before = rewards.copy()
    subsampled_sum(rewards, 40, stream(seed, 1))
    assert np.array_equal(rewards, before)
