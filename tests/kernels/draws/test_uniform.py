"""Whole numbers, coins, orders, numbers from an interval, and rewards made 0 or 1."""

from itertools import permutations

import numpy as np
import pytest
from kernels.draws.filled import Scripted, counted, plainly, uncompiled
from laws import assert_follows, assert_follows_cdf, p_value_of_counts
from scipy import stats
from scipy.stats import binom

from giro.kernels.draws.uniform import (
    COINS,
    bernoulli_rounded,
    coins,
    integer_below,
    integers_below,
    shuffle,
    shuffled,
    uniforms,
)
from giro.seeds import stream

ORDERS = {order: i for i, order in enumerate(permutations(range(4)))}
LARGE = [2**31 - 1, 2**31, 2**31 + 1, 2**32, 3 * 2**50, 2**53 - 1]


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000])
def test_every_number_is_equally_likely(n: int, seed: int) -> None:
    draws = counted(integer_below, n, seed=seed)
    assert_follows(draws, np.full(n, 1 / n))
    assert np.array_equal(integers_below(n, 200_000, stream(seed)), draws)


def test_one_number_too_many_fails(seed: int) -> None:
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(counted(integer_below, 50, seed=seed), np.full(51, 1 / 51))


@pytest.mark.parametrize("n", LARGE)
def test_large_numbers_are_equally_likely(n: int, seed: int) -> None:
    draws = counted(integer_below, n, seed=seed)
    assert 0 <= draws.min() and draws.max() < n
    assert_follows((draws / n * 100).astype(int), np.full(100, 0.01))
    for divisor in (2, 7):
        assert_follows(draws % divisor, np.full(divisor, 1 / divisor))


def test_words_that_one_block_has_more_than_another_are_drawn_again() -> None:
    n = 3  # 2^32 = 3 * 1431655765 + 1: the first word of block 0 is one too many
    below = uncompiled(integer_below)
    assert below(n, Scripted(0.0, 0.5)) == 1
    assert below(n, Scripted(2**-32)) == 0
    first = [int(-(-block * 2**32 // n)) for block in range(n)]
    last = [int(-(-(block + 1) * 2**32 // n)) - 1 for block in range(n)]
    for block in range(n):
        assert below(n, Scripted(last[block] * 2**-32)) == block
        if block:
            assert below(n, Scripted(first[block] * 2**-32)) == block


def test_remainders_that_are_one_too_many_are_drawn_again() -> None:
    n = 3 * 2**50  # 2^53 = 2 n + 2^51
    below = uncompiled(integer_below)
    assert below(n, Scripted((2 * n - 1) * 2**-53)) == n - 1


@pytest.mark.parametrize("n", [1, 7, 10**6, *LARGE])
def test_compiled_and_plain_numbers_are_equal(n: int, seed: int) -> None:
    plain = plainly(integer_below, n, seed=seed, size=500)
    assert counted(integer_below, n, seed=seed, size=500).tolist() == plain


# -- coins -------------------------------------------------------------------------------------


def tossed(seed: int, times: int) -> np.ndarray:
    thrown = counted(coins, seed=seed, size=times)
    return thrown[:, None] >> np.arange(COINS) & 1


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


# -- orders ------------------------------------------------------------------------------------


def test_every_order_is_equally_likely(seed: int) -> None:
    rng = stream(seed)
    which = [ORDERS[tuple(shuffled(4, rng).tolist())] for _ in range(20_000)]
    assert_follows(which, [1 / 24] * 24)


def test_swapping_any_two_places_would_fail(seed: int) -> None:
    rng, which = stream(seed), []
    for _ in range(20_000):
        order = [0, 1, 2, 3]
        for i in range(4):  # the well-known wrong shuffle
            j = int(rng.random() * 4)
            order[i], order[j] = order[j], order[i]
        which.append(ORDERS[tuple(order)])
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(which, [1 / 24] * 24)


@pytest.mark.parametrize("n", [0, 1, 2, 50])
def test_compiled_and_plain_orders_are_equal_and_lose_nothing(n: int, seed: int) -> None:
    order = shuffled(n, stream(seed))
    assert sorted(order.tolist()) == list(range(n))
    values = np.arange(n, dtype=np.int32)
    uncompiled(shuffle)(values, stream(seed))
    assert values.tolist() == order.tolist()


# -- intervals ---------------------------------------------------------------------------------


def test_numbers_of_an_interval_are_uniform(seed: int) -> None:
    draws = uniforms(-2.0, 3.0, (100, 200), stream(seed))
    assert draws.shape == (100, 200)
    assert_follows_cdf(draws.ravel(), stats.uniform(-2.0, 5.0).cdf)
    with pytest.raises(AssertionError, match="p ="):
        assert_follows_cdf(draws.ravel(), stats.uniform(-2.0, 5.5).cdf)


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
