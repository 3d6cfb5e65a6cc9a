"""Ensemble sampling: models are draws of the posterior, and one of them decides for all arms."""

import math

import numpy as np
import pytest
from laws import assert_follows, assert_follows_cdf
from policies.choosing import choice_counts, informed
from scipy import stats

from giro.errors import BadParameter
from giro.policies.ensemble import Ensemble
from giro.seeds import stream

HISTORY = [0.2, 0.9, 1.0, 0.4]


def values_of(state) -> np.ndarray:
    """Return [model, arm] what each model expects, where there is no context."""
    return 0.5 + (state.moment / state.factor**2)[:, :, 0].T


def test_a_model_is_a_draw_of_the_gaussian_posterior(seed: int) -> None:
    policy = Ensemble(20_000, prior_sd=0.3, noise_sd=0.6)
    values = values_of(informed(policy, [HISTORY, []], stream(seed)))
    precision = 1 / 0.3**2 + 4 / 0.6**2
    mean = (0.5 / 0.3**2 + sum(HISTORY) / 0.6**2) / precision
    assert_follows_cdf(values[:, 0], stats.norm(mean, precision**-0.5).cdf)
    assert_follows_cdf(values[:, 1], stats.norm(0.5, 0.3).cdf)
    with pytest.raises(AssertionError, match="p ="):  # no noise on one of the rewards
        assert_follows_cdf(values[:, 0], stats.norm(mean, 0.9 * precision**-0.5).cdf)


def test_one_model_decides_for_all_arms(seed: int) -> None:
    histories = [HISTORY, [0.5], []]
    policy = Ensemble(6)
    state = informed(policy, histories, stream(seed, 0))  # the state that is asked below
    favourites = np.bincount(values_of(state).argmax(axis=1), minlength=3)
    counts = choice_counts(policy, histories, draws=50_000, seed=seed)
    assert_follows(np.repeat(np.arange(3), counts), favourites / 6)


@pytest.mark.parametrize("models", [0, 1.5, math.nan])
def test_models_is_a_whole_number_of_at_least_one(models: int) -> None:
    with pytest.raises(BadParameter, match="ensemble needs a whole number models >= 1"):
        Ensemble(models)


@pytest.mark.parametrize("value", [0.0, -0.1, math.inf, math.nan])
def test_standard_deviations_are_finite_and_positive(value: float) -> None:
    with pytest.raises(BadParameter, match="ensemble needs a finite prior_sd > 0"):
        Ensemble(prior_sd=value)
    with pytest.raises(BadParameter, match="ensemble needs a finite noise_sd > 0"):
        Ensemble(noise_sd=value)
