"""The lower bound on the regret of bootstrapping."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from giro.errors import BadParameter
from giro.paper.theory.exact import exact_bootstrap_regret, exact_giro_regret
from giro.paper.theory.linear_regret import (
    linear_regret_bound,
    linear_regret_rows,
    sharper_linear_regret_bound,
)

ordered_means = st.tuples(st.floats(0.01, 1), st.floats(0, 0.99)).filter(
    lambda means: means[0] > means[1] + 1e-6
)


@settings(max_examples=25, deadline=None, database=None)
@given(means=ordered_means, pulls=st.integers(1, 3))
def test_the_exact_regret_is_above_both_bounds(means: tuple[float, float], pulls: int) -> None:
    rows = linear_regret_rows(means, 7, pulls)
    assert [row.n for row in rows] == list(range(1, 8))
    for row in rows:
        sharper = sharper_linear_regret_bound(means, row.n, pulls)
        assert row.holds
        assert row.bound <= sharper + 1e-12
        assert sharper <= row.regret + 1e-12


def test_the_bounds_by_hand() -> None:
    assert linear_regret_bound([0.6, 0.4], 11) == pytest.approx(0.5 * 0.4 * 0.2 * 10)
    assert linear_regret_bound([0.6, 0.4], 11, 2) == pytest.approx(0.5 * 0.16 * 0.2 * 9)
    assert linear_regret_bound([0.6, 0.4], 1) == 0
    assert sharper_linear_regret_bound([0.6, 0.4], 11) == pytest.approx(0.2 * (1 + 0.2 * 9))
    assert sharper_linear_regret_bound([0.6, 0.4], 3, 2) == pytest.approx(0.2)


def test_the_sharper_bound_is_nearly_reached() -> None:
    """When the second arm never pays, all that is lost is lost to ties at 0."""
    exact = exact_bootstrap_regret([0.1, 0.0], 9)[-1]
    assert exact == pytest.approx(sharper_linear_regret_bound([0.1, 0.0], 9), rel=0.02)


def test_a_bound_twice_as_large_would_be_wrong() -> None:
    row = linear_regret_rows([0.1, 0.0], 9)[-1]
    assert row.regret < 2 * row.bound


def test_the_bound_holds_with_the_worse_arm_first_too() -> None:
    exact = exact_bootstrap_regret([0.4, 0.6], 9)
    assert all(exact[n - 1] >= linear_regret_bound([0.6, 0.4], n) for n in range(1, 10))


def test_giro_does_not_obey_it() -> None:
    """Only without pseudo rewards is a first reward of 0 fatal."""
    means, n = [0.5, 0.0], 14
    growth = exact_giro_regret(means, n, ties="fixed")[-1] - exact_giro_regret(means, n - 1)[-1]
    assert growth < linear_regret_bound(means, n) / (n - 1)


def test_bad_input_is_refused() -> None:
    for means in ([0.4, 0.6], [0.5, 0.5], [0.5, 0.4, 0.3], [0.5]):
        with pytest.raises(BadParameter, match="two arms"):
            linear_regret_bound(means, 5)
    with pytest.raises(BadParameter, match="pulls=0"):
        linear_regret_bound([0.6, 0.4], 5, 0)
    with pytest.raises(BadParameter, match="rounds"):
        sharper_linear_regret_bound([0.6, 0.4], 0)
