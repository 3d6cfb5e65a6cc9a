"""IMED: the index, and the arm it picks without computing all of them."""

import math

import numpy as np
import pytest
from laws import assert_follows
from policies.choosing import choice_counts, some_arms
from scipy.special import kl_div

from giro.compiling import plain
from giro.policies.imed import Imed, _choose, _State
from giro.seeds import stream


def naive_indices(pulls: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return Honda and Takemura's (2015) index of every arm, with Bernoulli divergences."""
    highest = mean.max()
    indices = np.full(pulls.size, -np.inf)
    for arm in np.flatnonzero(pulls):
        divergence = kl_div(mean[arm], highest) + kl_div(1 - mean[arm], 1 - highest)
        indices[arm] = pulls[arm] * divergence + math.log(pulls[arm])
    return indices


def test_the_index_is_the_formula() -> None:
    found = naive_indices(np.array([4, 10]), np.array([0.25, 0.6]))
    kl = 0.25 * math.log(0.25 / 0.6) + 0.75 * math.log(0.75 / 0.4)
    assert found.tolist() == pytest.approx([4 * kl + math.log(4), math.log(10)], rel=1e-14)


def test_the_arm_on_offer_is_the_one_with_the_least_of_all_indices(seed: int) -> None:
    rng, choose = stream(seed), plain(_choose)
    for _ in range(500):
        n_arms, scale = int(rng.integers(2, 8)), int(10 ** rng.uniform(0.3, 3.5))
        pulls = rng.integers(rng.integers(0, 2), scale + 1, n_arms)
        total = rng.binomial(pulls, rng.choice([0.0, 0.2, 0.5, 0.97, 1.0], n_arms)).astype(float)
        mean = total / np.maximum(pulls, 1)
        arms = np.flatnonzero(rng.random(n_arms) < 0.7)
        if arms.size == 0:
            continue
        state = _State(pulls, total, mean, rng.permutation(n_arms).astype(float))
        indices = naive_indices(pulls[arms], mean[arms])
        chosen = choose(state, some_arms(arms.tolist()), rng)
        assert indices[arms == chosen] == pytest.approx(indices.min(), rel=1e-9, abs=1e-9)


def test_tied_arms_are_pulled_equally_often_and_untried_ones_first(seed: int) -> None:
    counts = choice_counts(Imed(), [[1, 0], [0, 1], [1, 1, 0, 0]], draws=20_000, seed=seed)
    assert_follows(np.repeat(np.arange(3), counts), [0.5, 0.5, 0.0])
    counts = choice_counts(Imed(), [[1], [], [1], []], draws=20_000, seed=seed)
    assert_follows(np.repeat(np.arange(4), counts), [0.0, 0.5, 0.0, 0.5])
