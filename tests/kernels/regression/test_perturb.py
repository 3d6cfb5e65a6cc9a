"""Pseudo rewards at every observed context."""

import math
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_follows, assert_same_law
from scipy.stats import binom

from giro.compiling import kernel
from giro.kernels.regression.linear_algebra import dot
from giro.kernels.regression.perturb import pseudo_rewards_by_pull, rounded, throw
from giro.seeds import stream

DRAWS = 20_000


@kernel
def _sums(scores: np.ndarray, throws: np.ndarray, out: np.ndarray, rng) -> None:
    ones = np.empty(scores.size)
    for i in range(out.size):
        throw(throws, ones, rng)
        out[i] = dot(scores, ones)


def drawn_sums(scores: np.ndarray, throws: np.ndarray, seed: int) -> np.ndarray:
    out = np.empty(DRAWS)
    _sums(scores, throws, out, stream(seed))
    return out


@pytest.mark.parametrize("a", [Fraction(1, 3), Fraction(1), Fraction(11, 10), Fraction(5, 2)])
def test_the_pulls_of_an_arm_have_as_many_pseudo_rewards_as_in_phe(a: Fraction) -> None:
    numbers = pseudo_rewards_by_pull(float(a), 300)
    assert np.cumsum(numbers).tolist() == [math.ceil(a * s) for s in range(1, 301)]
    assert set(numbers) <= {math.floor(a), math.ceil(a)}


@pytest.mark.parametrize("throws", [[1] * 5, [2, 0, 3], [4], [7, 1], [400, 3]])
def test_equal_scores_are_summed_over_a_binomial_number_of_ones(
    throws: list[int], seed: int
) -> None:
    numbers = np.array(throws)
    n = int(numbers.sum())
    sums = drawn_sums(np.ones(numbers.size), numbers, seed)
    assert_follows(sums.astype(int), binom.pmf(np.arange(n + 1), n, 0.5))


def test_each_context_has_coins_of_its_own(seed: int) -> None:
    scores = np.array([1.0, 10.0, 100.0])  # digits of the sum are the numbers of ones
    sums = drawn_sums(scores, np.array([1, 2, 1]), seed).astype(int)
    law = np.zeros(122)
    for ones in np.ndindex(2, 3, 2):
        law[np.dot(ones, [1, 10, 100])] = binom.pmf(ones, [1, 2, 1], 0.5).prod()
    assert_follows(sums, law)


def test_many_contexts_are_perturbed_as_numpy_perturbs_them(seed: int) -> None:
    rng = stream(seed, 1)
    scores, throws = rng.normal(size=80), rng.integers(0, 9, 80)
    literal = rng.binomial(throws, 0.5, (DRAWS, 80)) @ scores
    assert_same_law(drawn_sums(scores, throws, seed), literal)
    with pytest.raises(AssertionError, match="p ="):
        assert_same_law(1.2 * drawn_sums(scores, throws, seed), literal)


def test_rounded_is_the_nearest_multiple() -> None:
    assert rounded(0.1234567, 1e3) == 0.123
    assert rounded(-0.1236, 1e3) == -0.124
    assert rounded(2 / 3 + 1e-15, 1e12) == rounded(2 / 3, 1e12)
