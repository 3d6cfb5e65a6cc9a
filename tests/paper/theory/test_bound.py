"""The bound of Theorem 2."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from giro.errors import BadParameter
from giro.paper.theory.bound import (
    b_constant,
    cheapest_a,
    counted_pulls_check,
    giro_bound,
    log_c,
    log_f,
    log_useful_rounds,
)
from giro.paper.theory.exact import exact_giro_regret
from giro.paper.theory.general_bound import general_bound


def plain_bound(means: list[float], n: int, a: float) -> float:
    """Return Equation 9 as it is printed, with floats that may overflow."""
    b = (2 * a + 1) / (a * (a + 1))
    c = (
        2 * math.e**2 * math.sqrt(2 * a + 1) / math.sqrt(2 * math.pi)
        * math.exp(8 * b / (2 - b)) * (1 + math.sqrt(2 * math.pi / (4 - 2 * b)))
    )  # fmt: skip
    gaps = [max(means) - mean for mean in means if mean < max(means)]
    return sum(
        gap * (16 * (2 * a + 1) * c / gap**2 * math.log(n) + 2
               + 8 * (2 * a + 1) / gap**2 * math.log(n) + 2)
        for gap in gaps
    )  # fmt: skip


@settings(max_examples=50, deadline=None, database=None)
@given(
    a=st.sampled_from([0.75, 1, 2, 3, 10]),
    n=st.integers(2, 10**6),
    others=st.lists(st.floats(0, 0.85), min_size=1, max_size=5),
)
def test_the_bound_is_the_printed_formula(a: float, n: int, others: list[float]) -> None:
    means = [*others, 0.9]
    assert giro_bound(means, n, a).regret == pytest.approx(plain_bound(means, n, a), rel=1e-9)


@pytest.mark.parametrize(("a", "exponent"), [(1, 24), (2, 5.7), (3, 3.3)])
def test_f_is_as_large_as_the_discussion_says(a: float, exponent: float) -> None:
    assert round(log_f(b_constant(a)), 1) == exponent


def test_b_is_as_the_discussion_says() -> None:
    assert [b_constant(a) for a in (1, 2, 3)] == pytest.approx([3 / 2, 5 / 6, 7 / 12])


def test_c_for_one_pseudo_reward_by_hand() -> None:
    """2 e^2 sqrt(3) / sqrt(2 pi) (1 + sqrt(2 pi)) e^24 = 35.80... e^24."""
    assert math.exp(log_c(1) - 24) == pytest.approx(10.2115 * 3.506628, rel=1e-4)
    assert log_c(1) == pytest.approx(27.578, abs=5e-4)


def test_the_terms_of_an_arm_by_hand() -> None:
    bound = giro_bound([0.75, 0.25], 100, 1)
    (arm,) = bound.arms
    assert (arm.arm, arm.gap) == (1, 0.5)
    assert arm.b == pytest.approx(96 * math.log(100) + 2)
    assert math.exp(arm.log_a) == pytest.approx(192 * math.log(100) * math.exp(bound.log_c) + 2)
    assert (bound.b, bound.log_f) == (1.5, 24)


def test_the_bound_falls_with_a_before_it_rises() -> None:
    """Section 5.3 says that it increases with a."""
    regrets = [giro_bound([0.7, 0.2], 10_000, a).regret for a in range(1, 12)]
    assert regrets.index(min(regrets)) == 6  # a = 7
    assert regrets[0] > 1e8 * regrets[6]
    theorem_1 = [general_bound([0.7, 0.2], 500, a).regret for a in (1 / 3, 1, 2, 3)]
    assert theorem_1 == sorted(theorem_1)


@pytest.mark.parametrize(("means", "n"), [([0.7, 0.4], 10_000), ([0.9, 0.1, 0.85], 100)])
def test_no_other_a_has_a_smaller_bound(means: list[float], n: int) -> None:
    best = giro_bound(means, n, cheapest_a(means, n)).log_regret
    assert all(giro_bound(means, n, a / 100).log_regret >= best for a in range(75, 2000))


@pytest.mark.parametrize("a", [0.72, 1, 7])
@pytest.mark.parametrize("means", [[0.7, 0.4], [0.9, 0.1, 0.899], [0.51, 0.5]])
def test_the_bound_says_something_from_the_useful_rounds_on(means: list[float], a: float) -> None:
    log_n, gap = log_useful_rounds(means, a), max(means) - min(means)
    for factor, below in ((0.99, False), (1.01, True)):
        n = 10 ** (factor * log_n / math.log(10)) if log_n < 600 else None
        if n is not None:
            assert (giro_bound(means, int(n), a).regret < n * gap) == below
    assert math.isfinite(log_n)


def test_the_bound_never_overflows() -> None:
    bound = giro_bound([0.9, 0.1], 1000, 1 / math.sqrt(2) + 1e-9)
    assert bound.log_c > 1e9
    assert math.isfinite(bound.log_regret)
    assert bound.regret == math.inf


def test_the_exact_regret_is_below_the_bound() -> None:
    exact = exact_giro_regret([0.9, 0.1], 8)
    assert all(exact[n - 1] < giro_bound([0.9, 0.1], n).regret for n in range(2, 9))


@pytest.mark.parametrize("a", [1 / math.sqrt(2), 0.5, 0, -1, math.nan, math.inf])
def test_too_few_pseudo_rewards_are_refused(a: float) -> None:
    with pytest.raises(BadParameter, match="a > 1 / sqrt"):
        giro_bound([0.5, 0.4], 10, a)


def test_other_bad_input_is_refused() -> None:
    with pytest.raises(BadParameter, match="a whole number rounds >= 2"):
        giro_bound([0.5, 0.4], 1)
    with pytest.raises(BadParameter, match=r"\[0, 1\]"):
        giro_bound([1.5, 0.4], 10)
    with pytest.raises(BadParameter, match="only one"):
        giro_bound([0.5, 0.5], 10)
    with pytest.raises(BadParameter, match="two arms"):
        giro_bound([0.5], 10)
    with pytest.raises(BadParameter, match="b=2"):
        log_f(2.0)


def test_the_proof_of_theorem_2_counts_one_pull_too_few() -> None:
    """Pulls 0..884 are 885, L = 884.19: with 1 and almost 1 more, above the L + 2 stated."""
    check = counted_pulls_check(10_000, 0.5, 1)
    assert check.lhs == pytest.approx(885 + 9_115 / 10_000 + 1)
    assert check.rhs == pytest.approx(884.1927 + 2, abs=1e-4)
    assert not check.holds
    assert counted_pulls_check(10, 0.5, 1).holds  # fewer rounds than L


@pytest.mark.parametrize("a", [1, 2])
@pytest.mark.parametrize("means", [[1.0, 0.0], [0.9, 0.5], [0.6, 0.3]])
def test_what_theorem_2_states_of_b_is_true_all_the_same(means: list[float], a: float) -> None:
    for n in (2, 30, 1_000):
        stated = counted_pulls_check(n, means[0] - means[1], a).rhs
        assert general_bound(means, n, a).arms[0].b <= stated
