"""Many fair coins from one random number."""

import numpy as np
import pytest
from laws import assert_follows, p_value_of_counts
from scipy.stats import binom

from giro.kernels.coins import COINS, coins
from giro.seeds import stream


def tossed(seed: int, times: int) -> np.ndarray:
    rng = stream(seed)
    return np.array([[coins_ >> i & 1 for i in range(COINS)] for coins_ in _many(rng, times)])


def _many(rng: np.random.Generator, times: int) -> list[int]:
    return [int(coins(rng)) for _ in range(times)]


def test_every_coin_is_fair_and_their_number_of_heads_is_binomial(seed: int) -> None:
    heads = tossed(seed, 20_000)
    for coin in heads.T:
        assert_follows(coin, [0.5, 0.5])
    assert_follows(heads.sum(axis=1), binom.pmf(np.arange(COINS + 1), COINS, 0.5))


def test_neighbouring_coins_are_independent(seed: int) -> None:
    heads = tossed(seed, 4_000)
    pairs = np.bincount((2 * heads[:, 1:] + heads[:, :-1]).ravel(), minlength=4)
    assert p_value_of_counts(pairs, np.full(4, 0.25)) > 1e-6


def test_one_coin_too_many_would_fail(seed: int) -> None:
    rng = stream(seed)
    stuck = [int(rng.random() * 2.0**53) >> 53 & 1 for _ in range(1_000)]
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(stuck, [0.5, 0.5])
