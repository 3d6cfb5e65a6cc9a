"""Moments of histories and bootstrap samples."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper.theory import naive
from paper.theory.naive import Values

from giro.errors import BadParameter
from giro.paper.theory import moments as module
from giro.paper.theory.moments import (
    bootstrap_moments,
    conditional_value_moments,
    history_moments,
    moment_checks,
    smallest_value_variance,
    value_moments,
)


def plain_moments(law: Values) -> tuple[float, float]:
    mean = sum(value * chance for value, chance in law.items())
    return float(mean), float(sum((v - mean) ** 2 * chance for v, chance in law.items()))


def test_all_moments_match_enumerated_laws() -> None:
    s, k, mean = 2, 2, Fraction(1, 4)  # a = 1
    weights = {x: naive.binomial(x, s, mean) for x in range(s + 1)}
    history: Values = {Fraction(k + x): chance for x, chance in weights.items()}
    values: Values = {}
    for x, chance in weights.items():
        given_x = naive.enumerated_values(naive.history(s, x, k))
        assert conditional_value_moments(s, k + x, 1) == pytest.approx(plain_moments(given_x))
        for value, part in given_x.items():
            values[value] = values.get(value, Fraction(0)) + chance * part
    assert history_moments(s, 0.25, 1) == pytest.approx(plain_moments(history))
    assert value_moments(s, 0.25, 1) == pytest.approx(plain_moments(values))


def test_moments_by_hand() -> None:
    assert history_moments(10, 0.5, 1) == pytest.approx((15, 2.5))
    assert bootstrap_moments(10, 15, 1) == pytest.approx((15, 7.5))
    assert smallest_value_variance(10, 1) == pytest.approx(2 / 270)


@settings(max_examples=40, deadline=None, database=None)
@given(s=st.integers(1, 15), k=st.integers(0, 30), mean=st.floats(0, 1))
def test_formulas_match_their_sums(s: int, k: int, mean: float) -> None:
    checks = moment_checks(s, mean, k / s)
    assert len(checks) == 4 + 3 * (s + 1)
    assert all(check.holds for check in checks)


def test_a_wrong_formula_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = module.Moments(1.0, 1.0)
    monkeypatch.setattr(module, "value_moments", lambda s, mean, a: wrong)
    failed = [check.claim for check in moment_checks(4, 0.3, 1) if not check.holds]
    assert failed == ["value mean", "value variance"]


def test_the_smallest_variance_is_reached_at_both_ends() -> None:
    for v in (10, 20):
        variance = conditional_value_moments(10, v, 1).variance
        assert variance == pytest.approx(smallest_value_variance(10, 1))


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadParameter, match="v=31"):
        bootstrap_moments(10, 31, 1)
    with pytest.raises(BadParameter, match=r"p=1\.5"):
        history_moments(10, 1.5, 1)
    with pytest.raises(BadParameter, match="integer"):
        moment_checks(4, 0.5, 1 / 3)
    with pytest.raises(BadParameter, match="n=0"):
        moment_checks(0, 0.5, 1)
