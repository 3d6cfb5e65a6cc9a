"""Optimism: its expected inverse probability, and the informal argument for it."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper.theory import naive

from giro.errors import BadParameter
from giro.paper.theory.bound import log_c
from giro.paper.theory.optimism import (
    bernoulli_divergence,
    informal_optimism_checks,
    log_inverse_optimism,
    log_inverse_optimism_above,
    log_optimism,
    optimism_exponent,
    smallest_bounded_a,
    smallest_exponent,
    smallest_optimistic_a,
    variance_condition,
)


def plain_w(n: int, p: Fraction, a: Fraction) -> Fraction:
    """Return W as Theorem 4 defines it."""
    m = (2 * a + 1) * n
    assert m.denominator == 1
    needed = math.ceil((a + p) * n)
    parts = (
        naive.binomial(x, n, p) / naive.tail(needed, int(m), (a * n + x) / m)
        for x in range(n + 1)
        if naive.binomial(x, n, p) > 0
    )
    return sum(parts, Fraction(0))


@settings(max_examples=40, deadline=None, database=None)
@given(n=st.integers(1, 12), twelfths=st.integers(0, 12), k=st.integers(1, 24))
def test_w_matches_its_sum_in_fractions(n: int, twelfths: int, k: int) -> None:
    exact = plain_w(n, Fraction(twelfths, 12), Fraction(k, n))
    found = log_inverse_optimism(n, twelfths / 12, k / n)
    assert found == pytest.approx(math.log(exact), rel=1e-9, abs=1e-9)


@settings(max_examples=30, deadline=None, database=None)
@given(n=st.integers(1, 15), k=st.integers(1, 30), p=st.floats(1e-6, 1))
def test_w_is_never_above_its_limits_at_the_jumps(n: int, k: int, p: float) -> None:
    limits = log_inverse_optimism_above(n, k / n)
    near = [log_inverse_optimism(n, i / n + 1e-7, k / n) for i in range(n)]
    assert limits == pytest.approx(near, abs=1e-4)
    assert log_inverse_optimism(n, p, k / n) <= limits.max() + 1e-9


def test_w_of_one_pull_by_hand() -> None:
    """For x = 0 and 1, P(Y >= 2) is 7/27 and 20/27 when p = 1/2, a = 1."""
    assert math.exp(log_inverse_optimism(1, 0.5, 1)) == pytest.approx((27 / 7 + 27 / 20) / 2)


def test_optimism_is_a_binomial_tail() -> None:
    assert math.exp(log_optimism(1, 0.5, 1, 0)) == pytest.approx(7 / 27)
    assert math.exp(log_optimism(2, 0.3, 0.5, 0.5)) == pytest.approx(
        sum(math.comb(4, y) * 0.375**y * 0.625 ** (4 - y) for y in (2, 3, 4))
    )


def test_theorem_4_holds_on_a_grid() -> None:
    for n in (1, 2, 3, 10, 40):
        for p in (0, 0.01, 0.25, 0.5, 0.51, 0.9, 1):
            for a in (1, 2, 3, 8):
                assert log_inverse_optimism(n, p, a) <= log_c(a)


def test_the_bound_is_far_from_what_it_bounds() -> None:
    """W stays below e^1.5 for a = 1, where the bound is e^27.6."""
    places = itertools.product([1, 2, 3, 10, 100], [0.01, 0.25, 0.501, 0.51, 0.9])
    assert 1.4 < max(log_inverse_optimism(n, p, 1) for n, p in places) < 1.5


def test_w_grows_exponentially_with_too_few_pseudo_rewards() -> None:
    logs = [log_inverse_optimism(n, 0.61, 1 / 20) for n in (100, 200, 400)]
    assert logs[2] - logs[1] == pytest.approx(2 * (logs[1] - logs[0]), rel=0.05)
    assert log_inverse_optimism(300, 0.61, 1 / 3) < 1.5


def test_w_is_infinite_without_pseudo_rewards() -> None:
    assert log_inverse_optimism(3, 0.5, 0) == math.inf


def test_a_probability_beyond_floats_is_no_obstacle() -> None:
    assert log_optimism(600, 1.0, 0.01, 0) < -745  # exp of this is 0
    assert math.isfinite(log_inverse_optimism(600, 0.5, 0.01))


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadParameter, match="integer"):
        log_inverse_optimism(4, 0.5, 1 / 3)
    with pytest.raises(BadParameter, match=r"p=1\.5"):
        log_inverse_optimism(4, 1.5, 1)
    with pytest.raises(BadParameter, match="n=0"):
        log_inverse_optimism(0, 0.5, 1)
    with pytest.raises(BadParameter, match="a > 1 / sqrt"):
        log_c(0.5)


# -- the informal argument ----------------------------------------------------------------------


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
    checks = [c for s in range(1, 41) for m in means for c in informal_optimism_checks(s, m, 1.0)]
    assert max(check.at["s"] for check in checks if not check.holds) == 21
    for s, mean in itertools.product([30, 60], means[1:-1]):
        assert all(check.holds for check in informal_optimism_checks(s, mean, 1 / 3))


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
    assert bernoulli_divergence(0.5, 0.25) == pytest.approx(0.5 * math.log(4 / 3))
    assert bernoulli_divergence(0, 0.5) == pytest.approx(math.log(2))


def test_bad_input_of_the_informal_argument_is_refused() -> None:
    with pytest.raises(BadParameter, match="integer"):
        informal_optimism_checks(4, 0.5, 1 / 3)
    with pytest.raises(BadParameter, match="a >= 0"):
        variance_condition(-1)
    with pytest.raises(BadParameter, match="a > 0"):
        smallest_exponent(0)
