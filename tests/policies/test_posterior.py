"""What the policies that draw from a linear posterior have in common."""

import numpy as np
import pytest
from laws import assert_follows_cdf
from policies.in_context import Past, chosen, informed
from scipy import stats

from giro.offer import offer_of
from giro.policies._posterior import PosteriorPolicy, _drawn_sd
from giro.policies.lin_post import LinPost
from giro.policies.neural_linear import NeuralLinear
from giro.seeds import stream

each_policy = pytest.mark.parametrize("kind", [LinPost, NeuralLinear])


@each_policy
def test_an_arm_with_too_few_rewards_goes_first(kind: type[PosteriorPolicy], seed: int) -> None:
    past = Past(np.zeros((7, 1)), np.array([0, 0, 0, 1, 1, 2, 3]), np.ones(7), 4)
    for initial, untried in ((2, {2, 3}), (3, {1, 2, 3}), (1, {0, 1, 2, 3})):
        state = informed(kind(initial=initial, b=50.0), past)
        arms = chosen(state, offer_of(4, np.zeros(1)), draws=400, seed=seed)
        assert set(arms.tolist()) == untried


def test_the_variance_of_noise_is_inverse_gamma(seed: int) -> None:
    contexts, rewards = np.zeros((30, 1)), np.array([1.0, 0.0, 0.0] * 10)
    state = informed(LinPost(a=2.0, b=0.5), Past(contexts, np.zeros(30, int), rewards, 1))
    rng = stream(seed)
    variances = [_drawn_sd(state.posterior, 0, rng) ** 2 for _ in range(5_000)]
    explained = 10.0**2 / 30.25
    law = stats.invgamma(2.0 + 15.0, scale=0.5 + (10.0 - explained) / 2)
    assert_follows_cdf(variances, law.cdf)
