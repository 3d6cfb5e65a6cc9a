"""Means with their errors: kept up to date event by event, and from arrays."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from giro.estimates import (
    WeightedMean,
    normal_estimate,
    ratio_error,
    wilson_estimate,
)
from giro.evaluation.estimators import Sample, Terms, ratio_estimate
from giro.seeds import stream


def kept(weights: np.ndarray, rewards: np.ndarray) -> WeightedMean:
    """Return the mean after these events, one at a time."""
    mean = WeightedMean()
    for weight, reward in zip(weights.tolist(), rewards.tolist(), strict=True):
        mean.add(weight, reward)
    return mean


@pytest.mark.parametrize(
    ("shift", "scale"), [(0.0, 1.0), (0.0, 1e-6), (1e6, 1.0), (-1e9, 1e3), (1.0, 1e3)]
)
def test_a_weighted_mean_is_that_of_arrays_and_of_evaluation(
    shift: float, scale: float, seed: int
) -> None:
    rng = stream(seed, 3)
    weights = rng.random(500) * (rng.random(500) < 0.7) * 5.0  # some are 0
    rewards = shift + scale * rng.random(500)
    found = kept(weights, rewards).estimate(0.9)
    assert found is not None
    value = float(weights @ rewards / weights.sum())
    residuals = weights * (rewards - value)
    se = math.sqrt(float(residuals @ residuals) * 500 / 499) / weights.sum()
    assert found.value == pytest.approx(value, rel=1e-12)
    assert found.se == pytest.approx(se, rel=1e-6)
    sample = Sample("x", 500, 500.0, 5.0)
    terms = Terms(weights * rewards, weights, 5.0, sample)
    whole = ratio_estimate(terms, level=0.9, interval="normal", rng=rng)
    loose = 1e-6 if shift == 0.0 else 1e-2  # sums of products lose digits far from 0
    assert found == pytest.approx(whole, rel=loose)


@pytest.mark.parametrize("reward", [0.1, 1.0, 0.0, 1e9 / 3, -7.7])
def test_equal_rewards_have_exactly_their_mean_and_no_error(reward: float, seed: int) -> None:
    weights = stream(seed, 4).random(1_000) * 3.0
    found = kept(weights, np.full(1_000, reward)).estimate()
    assert found == (reward, 0.0, reward, reward)


def test_events_without_weight_count_but_say_nothing() -> None:
    nothing = kept(np.zeros(5), np.arange(5.0))
    assert nothing.n == 5
    assert nothing.estimate() is None
    assert WeightedMean().estimate() is None
    one = kept(np.array([2.0]), np.array([0.25])).estimate()
    assert one is not None
    assert one.value == 0.25
    assert math.isnan(one.se)
    with_zeros = kept(np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.0, 9.0, 1.0, -9.0])).estimate()
    without = kept(np.ones(2), np.array([0.0, 1.0])).estimate()
    assert with_zeros is not None and without is not None
    assert with_zeros.value == without.value == 0.5
    assert with_zeros.se == pytest.approx(without.se * math.sqrt(4 / 3 / 2))


def test_a_mean_goes_on_from_plain_data(seed: int) -> None:
    rng = stream(seed, 5)
    weights, rewards = rng.random(60), rng.random(60)
    half = kept(weights[:30], rewards[:30])
    again = WeightedMean.restored(json.loads(json.dumps(half.to_json())))
    for weight, reward in zip(weights[30:].tolist(), rewards[30:].tolist(), strict=True):
        again.add(weight, reward)
    assert again.to_json() == kept(weights, rewards).to_json()


def test_a_normal_interval_has_its_quantile() -> None:
    value, se, low, high = normal_estimate(2.0, 0.5, 0.9)
    half = stats.norm.ppf(0.95) * 0.5
    assert (value, se) == (2.0, 0.5)
    assert (low, high) == pytest.approx((2.0 - half, 2.0 + half))
    assert normal_estimate(1.0, 0.1).high == pytest.approx(1.0 + 1.959964 * 0.1)


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (3, 10), (10, 10), (1, 1), (512, 2000)])
def test_wilsons_interval_is_that_of_scipy(successes: int, n: int) -> None:
    found = wilson_estimate(successes, n, 0.9)
    wanted = stats.binomtest(successes, n).proportion_ci(0.9, method="wilson")
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert found.value == successes / n


def test_the_error_of_a_ratio_needs_two_events() -> None:
    assert math.isnan(ratio_error(1.0, 2.0, 1))
    assert ratio_error(8.0, 4.0, 2) == 1.0
