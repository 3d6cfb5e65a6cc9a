"""Binomial draws, of any coins and of fair ones."""

import math

import numpy as np
import pytest
from kernels.draws.filled import Scripted, counted, plainly, uncompiled
from kernels.draws.judged import assert_law, assert_other_law
from laws import assert_follows, p_value_of_counts
from scipy import stats

from giro.kernels.draws.discrete import binomial, binomials, fair_binomial
from giro.seeds import stream

LAWS = [
    (1, 0.3),
    (2, 0.5),
    (7, 0.9),
    (19, 0.5),
    (20, 0.5),  # from a mean of 10 on another way is taken
    (21, 0.5),
    (30, 0.33),
    (30, 0.34),
    (50, 0.3),
    (100, 0.01),
    (100, 0.97),
    (4096, 1e-3),
    (4097, 1e-3),
    (1000, 0.5),
    (1000, 0.85),
    (10**6, 2e-6),
    (10**6, 0.2),
    (10**9, 3e-9),
    (10**9, 1.5e-8),
    (10**9, 1.0 - 1.5e-8),
    (10**9, 0.4),
]


@pytest.mark.parametrize(("n", "p"), LAWS)
def test_draws_are_binomial(n: int, p: float, seed: int) -> None:
    assert_law(counted(binomial, n, p, seed=seed), stats.binom(n, p))


@pytest.mark.parametrize(("n", "p"), LAWS)
def test_a_slightly_other_chance_fails(n: int, p: float, seed: int) -> None:
    sd = math.sqrt(p * (1.0 - p) / n)
    other = p + 0.04 * (sd if p < 0.5 else -sd)
    assert_other_law(counted(binomial, n, other, seed=seed), stats.binom(n, p))


@pytest.mark.parametrize(("n", "p"), [(1, 0.3), (13, 0.6), (60, 0.25)])
def test_the_law_is_that_of_coins_thrown_one_by_one(n: int, p: float, seed: int) -> None:
    thrown = (stream(seed, 1).random((100_000, n)) < p).sum(axis=1)
    drawn = counted(binomial, n, p, seed=seed, size=100_000)
    table = [np.bincount(draws, minlength=n + 1) for draws in (thrown, drawn)]
    common = np.sum(table, axis=0) > 20
    assert stats.chi2_contingency(np.array(table)[:, common]).pvalue > 1e-6


@pytest.mark.parametrize("n", [0, 1, 5, 50, 10**9])
def test_certain_coins_are_certain(n: int, seed: int) -> None:
    assert set(counted(binomial, n, 0.0, seed=seed, size=100)) == {0}
    assert set(counted(binomial, n, 1.0, seed=seed, size=100)) == {n}
    assert set(counted(binomial, 0, 0.4, seed=seed, size=100)) == {0}


@pytest.mark.parametrize(("n", "p"), [(1, 0.5), (8, 0.99), (19, 0.5), (10**6, 9e-6), (3, 1e-300)])
def test_every_uniform_number_gives_a_possible_count(n: int, p: float) -> None:
    for number in (0.0, 2**-53, 0.5, 1 - 2**-53):
        assert 0 <= uncompiled(binomial)(n, p, _Constant(number)) <= n


class _Constant(Scripted):
    """A generator of one number."""

    def __init__(self, number: float) -> None:
        super().__init__(number, number, number)


@pytest.mark.parametrize(("n", "p"), LAWS)
def test_compiled_and_plain_draws_are_equal(n: int, p: float, seed: int) -> None:
    plain = plainly(binomial, n, p, seed=seed, size=1_000)
    assert counted(binomial, n, p, seed=seed, size=1_000).tolist() == plain


def test_arrays_have_a_draw_for_each_n_and_p(seed: int) -> None:
    n, p = np.tile([3, 0, 40], 20_000), np.tile([0.2, 0.7, 1.0], 20_000)
    drawn = binomials(n, p, stream(seed)).reshape(-1, 3)
    assert_follows(drawn[:, 0], stats.binom.pmf(np.arange(4), 3, 0.2))
    assert set(drawn[:, 1]) == {0} and set(drawn[:, 2]) == {40}


@pytest.mark.parametrize("n", [0, 1, 52, 53, 54, 106, 107, 300, 318, 319, 2000])
def test_fair_coins_follow_the_binomial_law(n: int, seed: int) -> None:
    values = counted(fair_binomial, n, seed=seed)
    assert_follows(values, stats.binom.pmf(np.arange(n + 1), n, 0.5))


def test_a_lost_coin_fails(seed: int) -> None:
    counts = np.bincount(counted(fair_binomial, 52, seed=seed), minlength=54)
    assert p_value_of_counts(counts, stats.binom.pmf(np.arange(54), 53, 0.5)) < 1e-6


@pytest.mark.parametrize("n", [3, 53, 300, 1000])
def test_compiled_and_plain_fair_draws_are_equal(n: int, seed: int) -> None:
    plain = plainly(fair_binomial, n, seed=seed, size=200)
    assert counted(fair_binomial, n, seed=seed, size=200).tolist() == plain
