"""The expected inverse probability of being optimistic."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper.theory import naive

from giro.errors import BadParameter
from giro.paper.theory.bound import log_c
from giro.paper.theory.optimism import (
    log_inverse_optimism,
    log_inverse_optimism_above,
    log_optimism,
    optimism_grid,
)


def plain_w(n: int, p: Fraction, a: Fraction) -> Fraction:
    """Return W as Theorem 4 defines it."""
    m = (2 * a + 1) * n
    assert m.denominator == 1
    needed = math.ceil((a + p) * n)
    return sum(
        naive.binomial(x, n, p) / naive.tail(needed, int(m), (a * n + x) / m)
        for x in range(n + 1)
        if naive.binomial(x, n, p) > 0
    )


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
    rows = optimism_grid([1, 2, 3, 10, 40], [0, 0.01, 0.25, 0.5, 0.51, 0.9, 1], [1, 2, 3, 8])
    assert len(rows) == 5 * 7 * 4
    assert all(row.holds for row in rows)
    assert all(row.log_bound == log_c(row.a) for row in rows)


def test_the_bound_is_far_from_what_it_bounds() -> None:
    """W stays below e^1.5 for a = 1, where the bound is e^27.6."""
    rows = optimism_grid([1, 2, 3, 10, 100], [0.01, 0.25, 0.501, 0.51, 0.9], [1])
    assert 1.4 < max(row.log_w for row in rows) < 1.5


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
        optimism_grid([2], [0.5], [0.5])
