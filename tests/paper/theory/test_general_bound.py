"""Theorem 1 in numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper.theory import naive
from scipy.stats import binom

from giro.errors import BadParameter
from giro.paper.theory.bound import giro_bound
from giro.paper.theory.exact import exact_giro_regret
from giro.paper.theory.general_bound import general_bound

PSEUDO = [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(2)]


def optimism(a: Fraction, s: int, x: int, tau: Fraction) -> Fraction:
    values = naive.arm_values(a, s, x)
    return sum((chance for value, chance in values.items() if value >= tau), Fraction(0))


def naive_terms(best: Fraction, mean: Fraction, n: int, a: Fraction) -> tuple[float, float]:
    """Return a_i and b_i of Theorem 1, every sum written out."""
    tau = (mean + a) / (2 * a + 1) + (best - mean) / (2 * (2 * a + 1))
    a_i, b_i = Fraction(0), Fraction(1)
    for s in range(n):
        for x in range(s + 1):
            q = optimism(a, s, x, tau)
            inverse = min(1 / q - 1, Fraction(n)) if q > 0 else Fraction(n)
            a_i += naive.binomial(x, s, best) * inverse
            b_i += naive.binomial(x, s, mean) * int(q > Fraction(1, n))
    return float(a_i), float(b_i)


@settings(max_examples=25, deadline=None, database=None)
@given(
    tenths=st.tuples(st.integers(0, 10), st.integers(0, 10)).filter(
        lambda pair: pair[0] != pair[1]
    ),
    n=st.integers(1, 9),
    a=st.sampled_from(PSEUDO),
)
def test_both_terms_match_their_sums_in_fractions(tenths, n: int, a: Fraction) -> None:
    low, high = sorted(Fraction(tenth, 10) for tenth in tenths)
    (arm,) = general_bound([float(low), float(high)], n, float(a)).arms
    assert (arm.a, arm.b) == pytest.approx(naive_terms(high, low, n, a), rel=1e-9)


def test_an_optimism_of_exactly_one_in_n_is_not_larger() -> None:
    """With a = 1 and no one in a single pull, P(U = 3) = 1/27."""
    (at, below) = (general_bound([1.0, 0.0], n, taus=[0.9]).arms[0].b for n in (27, 28))
    assert optimism(Fraction(1), 1, 0, Fraction(9, 10)) == Fraction(1, 27)
    assert at == pytest.approx(2)  # s = 0 and the 1 that is added
    assert below == pytest.approx(3)


@pytest.mark.parametrize("a", [1.0, 1 / 3])
def test_what_the_windows_leave_out_is_negligible(a: float) -> None:
    n, best, tau = 400, 0.6, (0.55 + a) / (2 * a + 1)
    total = 0.0
    for s in range(1, n):
        x = np.arange(s + 1)
        low, up = math.floor(a * s + 1e-9), max(a * s - math.floor(a * s + 1e-9), 0)
        q = np.zeros(s + 1)
        for k, weight in ((low, 1 - up), (low + 1, up)):
            m = s + 2 * k
            q += weight * binom.sf(math.ceil(tau * m - 1e-9) - 1, m, (x + k) / m)
        total += binom.pmf(x, s, best) @ np.minimum(1 / q - 1, n)
    assert general_bound([best, 0.5], n, a).arms[0].a == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize("a", [0.1, 1 / 3, 1.0, 2.0])
def test_the_exact_regret_is_below_the_bound(a: float) -> None:
    for means in ([0.9, 0.1], [0.5, 0.6], [1.0, 0.0]):
        for ties in ("random", "fixed"):
            exact = exact_giro_regret(means, 8, a, ties)
            assert all(exact[n - 1] <= general_bound(means, n, a).regret for n in range(1, 9))


@pytest.mark.parametrize("a", [1, 2, 3])
def test_theorem_2_is_above_theorem_1_term_by_term(a: float) -> None:
    for n in (2, 10, 300):
        numbers = general_bound([0.9, 0.5, 0.2], n, a).arms
        for exact, bound in zip(numbers, giro_bound([0.9, 0.5, 0.2], n, a).arms, strict=True):
            assert exact.arm == bound.arm
            assert exact.b <= bound.b
            assert math.log(exact.a + 1e-300) <= bound.log_a


def test_tau_lies_in_the_middle_of_the_two_limits() -> None:
    (arm,) = general_bound([0.8, 0.4], 5, 1).arms
    assert arm.tau == pytest.approx(((0.8 + 1) / 3 + (0.4 + 1) / 3) / 2)
    assert general_bound([0.8, 0.4], 5, 1, taus=[arm.tau]).arms == (arm,)


def test_bootstrapping_alone_has_a_useless_bound() -> None:
    """Without pseudo rewards an unlucky start is never mended: a_i grows with n."""
    for n in (50, 200, 800):
        unlucky = 1 - 0.5 ** (n - 1)  # zeros only, summed over s = 1..n - 1, at a price of n each
        assert general_bound([0.5, 0.2], n, 0).arms[0].a >= unlucky * n
        assert general_bound([0.5, 0.2], n, 1).arms[0].a < 40


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadParameter, match="rounds"):
        general_bound([0.5, 0.4], 0)
    with pytest.raises(BadParameter, match="a >= 0"):
        general_bound([0.5, 0.4], 5, -1)
    with pytest.raises(BadParameter, match="taus needs 1"):
        general_bound([0.5, 0.4], 5, taus=[0.4, 0.5])
    with pytest.raises(BadParameter, match="only one"):
        general_bound([0.5, 0.5], 5)
