"""Single steps of the proofs in the appendices."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from giro.paper.theory import proof_steps as steps
from giro.paper.theory.general_bound import general_bound
from giro.paper.theory.proof_steps import optimism_chain

ratio = st.floats(0.01, 1.999)
chance = st.floats(0.01, 0.99)


@settings(max_examples=100, deadline=None, database=None)
@given(b=ratio, i=st.integers(0, 200))
def test_the_algebra_of_theorem_4_is_right(b: float, i: int) -> None:
    assert steps.square_check(b, i).holds
    assert 4 * b**2 / (2 - b) + 4 * b == pytest.approx(8 * b / (2 - b))
    for check in (steps.shifted_sum_check(b), steps.integral_check(b)):
        assert check.holds
    assert steps.half_integral_check(b).holds


def test_the_sums_of_theorem_4_by_hand() -> None:
    """With b = 1: exp(-(i - 2)^2) and exp(-i^2), i = 0, 1, ..."""
    check = steps.shifted_sum_check(1.0)
    terms = [math.exp(-(i**2)) for i in range(9)]
    assert check.lhs == pytest.approx(sum(terms) + terms[1] + terms[2])
    assert check.rhs == pytest.approx(2 * sum(terms))
    assert steps.integral_check(1.0).rhs == pytest.approx(1 + math.sqrt(math.pi))
    assert steps.square_check(1.0, 3).lhs == 18 - 25


def test_the_root_and_the_failure_are_bounded_for_every_n() -> None:
    roots = [steps.floor_of_root_check(n) for n in range(1, 5_000)]
    assert all(check.holds for check in roots)
    assert min(roots, key=lambda check: check.margin).at == {"n": 3}
    assert all(steps.small_failure_check(n).holds for n in range(2, 5_000))


@settings(max_examples=200, deadline=None, database=None)
@given(p=st.floats(0, 1), q=chance)
def test_the_divergence_is_below_its_chi_square_bound(p: float, q: float) -> None:
    assert steps.divergence_check(p, q).holds


@settings(max_examples=150, deadline=None, database=None)
@given(n=st.integers(1, 400), p=chance, i=st.integers(0, 5), gap=st.floats(0.01, 1))
def test_the_uses_of_hoeffdings_inequality_are_right(n: int, p: float, i: int, gap: float) -> None:
    assert steps.history_tail_check(n, p, i).holds
    assert steps.deviation_check(n, p, gap, 1).holds
    assert steps.sample_deviation_check(3 * n, n + round(p * n), gap * n / 4).holds


def test_tails_in_hoeffdings_inequality_by_hand() -> None:
    assert steps.history_tail_check(4, 0.5, 1).lhs == pytest.approx(1 / 16)  # X <= 0
    assert steps.deviation_check(4, 0.5, 0.9, 1).lhs == pytest.approx(5 / 16)  # X > 2.9
    assert steps.sample_deviation_check(3, 1, 1.0).lhs == pytest.approx(7 / 27)  # U >= 2


def test_the_proof_of_theorem_2_counts_one_pull_too_few() -> None:
    """Pulls 0..884 are 885, L = 884.19: with 1 and almost 1 more, above the L + 2 stated."""
    check = steps.counted_pulls_check(10_000, 0.5, 1)
    assert check.lhs == pytest.approx(885 + 9_115 / 10_000 + 1)
    assert check.rhs == pytest.approx(884.1927 + 2, abs=1e-4)
    assert not check.holds
    assert steps.counted_pulls_check(10, 0.5, 1).holds  # fewer rounds than L


@pytest.mark.parametrize("a", [1, 2])
@pytest.mark.parametrize("means", [[1.0, 0.0], [0.9, 0.5], [0.6, 0.3]])
def test_what_theorem_2_states_of_b_is_true_all_the_same(means: list[float], a: float) -> None:
    for n in (2, 30, 1_000):
        stated = steps.counted_pulls_check(n, means[0] - means[1], a).rhs
        assert general_bound(means, n, a).arms[0].b <= stated


@settings(max_examples=30, deadline=None, database=None)
@given(n=st.integers(1, 60), p=st.floats(0.001, 1), a=st.sampled_from([1, 2, 3]))
def test_every_step_of_the_proof_of_theorem_4_only_adds(n: int, p: float, a: float) -> None:
    chain = optimism_chain(n, p, a)
    assert list(chain) == sorted(chain)


def test_most_is_lost_by_extending_a_short_sum_to_infinity() -> None:
    chain = optimism_chain(1, 0.5, 1)
    assert chain.after_bootstrap == pytest.approx(7.63, abs=0.01)
    assert chain.after_shift == pytest.approx(26.89, abs=0.01)
