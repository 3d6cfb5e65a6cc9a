"""The Bernoulli divergence and the upper confidence bound it gives."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import kl_div

from giro.compiling import plain
from giro.kernels.highest.kl import kl, kl_upper

MEANS = [0.0, 1e-9, 0.001, 0.1, 1 / 3, 0.5, 0.9, 0.999, 1 - 1e-9, 1.0]
LEVELS = [1e-12, 1e-6, 1e-3, 0.05, 0.7, 3.0, 20.0]


def reference_kl(p: float, q: float) -> float:
    return float(kl_div(p, q) + kl_div(1 - p, 1 - q))


@pytest.mark.parametrize("p", MEANS)
@pytest.mark.parametrize("q", [1e-6, 0.2, 0.5, 0.77, 1 - 1e-6])
def test_kl_is_the_divergence_of_two_bernoulli_laws(p: float, q: float) -> None:
    assert kl(p, q) == pytest.approx(reference_kl(p, q), rel=1e-13, abs=1e-16)


def test_kl_is_infinite_at_an_end_that_is_not_the_mean() -> None:
    assert kl(0.3, 1.0) == kl(0.3, 0.0) == kl(0.0, 1.0) == np.inf
    assert kl(0.0, 0.0) == kl(1.0, 1.0) == 0.0


def test_kl_keeps_its_digits_close_to_the_mean() -> None:
    p, gap = 0.25, 2.0**-30  # a series of kl in the gap is exact here
    series = gap**2 / (2 * p * (1 - p)) - gap**3 / 6 * (1 / p**2 - 1 / (1 - p) ** 2)
    assert kl(p, p + gap) == pytest.approx(series, rel=1e-5, abs=0)
    assert reference_kl(p, p + gap) != pytest.approx(series, rel=0.5, abs=0)


@pytest.mark.parametrize("p", MEANS)
@pytest.mark.parametrize("level", LEVELS)
def test_kl_upper_is_where_the_divergence_reaches_the_level(p: float, level: float) -> None:
    bound = kl_upper(p, level)
    if p == 1.0:
        assert bound == 1.0
    elif p == 0.0:
        assert bound == pytest.approx(-math.expm1(-level), rel=1e-14, abs=0)
    elif kl(p, 1 - 2**-53) <= level:
        assert bound == pytest.approx(1.0, abs=4e-16)
    else:
        found = brentq(lambda q: kl(p, q) - level, p, 1 - 2**-53, xtol=1e-300, rtol=9e-16)
        assert bound == pytest.approx(found, rel=4e-15, abs=0)


def test_kl_upper_of_level_zero_is_the_mean() -> None:
    assert [kl_upper(p, 0.0) for p in MEANS] == MEANS
    assert kl_upper(0.3, 1e-45) == 0.3


def test_kl_upper_needs_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    body = plain(kl_upper)
    monkeypatch.setitem(body.__globals__, "kl", lambda p, q: calls.append(q) or kl(p, q))
    for p in MEANS:
        for level in LEVELS:
            calls.clear()
            body(p, level)
            assert len(calls) <= 12
