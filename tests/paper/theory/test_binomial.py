"""Binomial probabilities and tails."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper.theory import naive

from giro.errors import BadParameter
from giro.paper.theory.binomial import (
    binomial_tail,
    check_trials,
    log_binomial,
    log_binomial_tail,
)

trials = st.tuples(st.integers(1, 30), st.integers(0, 12))


@settings(max_examples=80, deadline=None, database=None)
@given(case=trials, y=st.integers(-2, 33))
def test_probabilities_and_tails_match_exact_fractions(case: tuple[int, int], y: int) -> None:
    n, twelfths = case
    p = Fraction(twelfths, 12)
    exact = float(naive.tail(y, n, p))
    assert binomial_tail(y, n, float(p)) == pytest.approx(exact, rel=1e-11)
    assert math.exp(log_binomial_tail(y, n, float(p))) == pytest.approx(exact, rel=1e-11)
    if 0 <= y <= n:
        one = float(naive.binomial(y, n, p))
        assert np.exp(log_binomial(y, n, float(p))) == pytest.approx(one, rel=1e-11)


def test_a_tail_too_small_for_a_float_has_a_logarithm() -> None:
    assert log_binomial_tail(1000, 1000, 0.001) == pytest.approx(1000 * math.log(0.001))


def test_a_tail_is_elementwise() -> None:
    tails = binomial_tail([0, 1, 2, 3], [2, 2, 2, 2], 0.5)
    assert tails.tolist() == pytest.approx([1, 0.75, 0.25, 0])


@pytest.mark.parametrize(("n", "p"), [(0, 0.5), (-1, 0.5), (3, -0.1), (3, 1.1), (3, math.nan)])
def test_what_is_no_binomial_law_is_refused(n: int, p: float) -> None:
    with pytest.raises(BadParameter):
        check_trials(n, p)
