"""The informal argument for optimism."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper.theory import naive

from giro.errors import BadParameter
from giro.paper.theory.informal_optimism import (
    divergence,
    informal_optimism_checks,
    informal_optimism_failures,
    optimism_exponent,
    smallest_bounded_a,
    smallest_exponent,
    smallest_optimistic_a,
    variance_condition,
)
from giro.paper.theory.optimism import log_inverse_optimism


def test_roughly_a_third_is_a_root_of_the_variance_condition() -> None:
    root = smallest_optimistic_a()
    assert root == pytest.approx(0.30902, abs=5e-6)
    assert root * (root + 1) / (2 * root + 1) == pytest.approx(0.25)
    assert variance_condition(root + 1e-9)
    assert not variance_condition(root - 1e-9)
    assert variance_condition(1 / 3)


@settings(max_examples=30, deadline=None, database=None)
@given(s=st.integers(1, 8), tenths=st.integers(1, 10), k=st.integers(1, 8))
def test_both_sides_of_equation_7_match_fractions(s: int, tenths: int, k: int) -> None:
    mean, m = Fraction(tenths, 10), s + 2 * k
    checks = {check.at["x"]: check for check in informal_optimism_checks(s, float(mean), k / s)}
    likely = [x for x in range(s + 1) if x < mean * s and naive.binomial(x, s, mean) > 0]
    assert sorted(checks) == likely
    for x in likely:
        optimism = naive.tail(math.ceil(k + mean * s), m, Fraction(k + x, m))
        assert checks[x].lhs == pytest.approx(math.log(optimism))
        assert checks[x].rhs == pytest.approx(math.log(naive.binomial(x, s, mean)))
        assert checks[x].holds == (optimism >= naive.binomial(x, s, mean))


def test_equation_7_is_wrong_after_one_pull() -> None:
    """A first reward of 0 has probability 1/2; then 2 ones of 3 come up with 7/27."""
    (check,) = informal_optimism_checks(1, 0.5, 1)
    assert math.exp(check.lhs) == pytest.approx(7 / 27)
    assert math.exp(check.rhs) == pytest.approx(1 / 2)
    assert not check.holds


@pytest.mark.parametrize("a", [1 / 3, 1.0, 2.0, 10.0])
def test_equation_7_is_wrong_for_rare_rewards_however_many_pulls(a: float) -> None:
    for s in (3, 30, 300):
        first = informal_optimism_checks(s, 0.9 * (1 - 0.5 ** (1 / s)), a)[0]
        assert first.at["x"] == 0
        assert not first.holds


def test_equation_7_is_right_for_a_fixed_mean_and_many_pulls() -> None:
    means = np.linspace(0.05, 0.95, 19)
    failures = informal_optimism_failures(range(1, 41), means, 1.0)
    assert max(check.at["s"] for check in failures) == 21
    assert informal_optimism_failures([30, 60], means[1:-1], 1 / 3) == []


def test_pairs_without_a_whole_number_of_pseudo_rewards_are_left_out() -> None:
    assert {check.at["s"] for check in informal_optimism_failures([2, 3, 4], [0.1], 1 / 3)} == {3}


def test_the_exponent_is_the_growth_of_w() -> None:
    """For a = 0.05 the worst history is the one without a one."""
    observed = np.linspace(0, 0.6, 2001)
    rate = -optimism_exponent(0.05, 0.61, observed).min()
    logs = [log_inverse_optimism(n, 0.61, 0.05) for n in (400, 800)]
    assert rate == pytest.approx((logs[1] - logs[0]) / 400, rel=0.02)


def test_the_smallest_exponent_is_found() -> None:
    mean, share = np.meshgrid(np.linspace(0.01, 0.99, 393), np.linspace(0, 0.99, 397))
    for a in (0.05, 0.1, 0.2):
        grid = optimism_exponent(a, mean, mean * share) / (mean - mean * share) ** 2
        found, at, observed = smallest_exponent(a)
        assert found == pytest.approx(grid.min(), abs=2e-3)
        assert found <= grid.min() + 1e-9
        assert optimism_exponent(a, at, observed) == pytest.approx(found * (at - observed) ** 2)


def test_optimism_is_frequent_enough_above_a_ninth_or_so() -> None:
    threshold = smallest_bounded_a()
    assert threshold == pytest.approx(0.11465, abs=5e-5)
    assert smallest_exponent(threshold - 1e-3)[0] < 0 < smallest_exponent(threshold + 1e-3)[0]


def test_the_divergence_by_hand() -> None:
    assert divergence(0.5, 0.25) == pytest.approx(0.5 * math.log(4 / 3))
    assert divergence(0, 0.5) == pytest.approx(math.log(2))


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadParameter, match="integer"):
        informal_optimism_checks(4, 0.5, 1 / 3)
    with pytest.raises(BadParameter, match="a >= 0"):
        variance_condition(-1)
    with pytest.raises(BadParameter, match="a > 0"):
        smallest_exponent(0)
