"""Thompson sampling: arms are pulled as often as their posterior draw is the highest."""

import math

import numpy as np
import pytest
from laws import assert_follows
from policies.choosing import choice_counts, informed
from scipy import integrate, stats

from giro.errors import BadParameter
from giro.policies.thompson import Thompson
from giro.seeds import stream

HISTORIES = [[1, 0, 0, 1, 1], [0, 1], [0, 0, 1, 0, 1, 1, 1, 0]]


def best_of_betas(parameters: list[tuple[float, float]]) -> list[float]:
    """Return the probability that each of independent beta variables is the largest."""
    laws = [stats.beta(*pair) for pair in parameters]

    def integrand(x: float, i: int) -> float:
        return laws[i].pdf(x) * math.prod(law.cdf(x) for j, law in enumerate(laws) if j != i)

    return [integrate.quad(integrand, 0, 1, args=(i,))[0] for i in range(len(laws))]


def test_each_arm_is_pulled_with_the_probability_that_it_is_best(seed: int) -> None:
    counts = choice_counts(Thompson(), HISTORIES, draws=200_000, seed=seed)
    arms = np.repeat(np.arange(3), counts)
    assert_follows(arms, best_of_betas([(4, 3), (2, 2), (5, 5)]))
    with pytest.raises(AssertionError, match="p ="):  # one prior one too many for an arm
        assert_follows(arms, best_of_betas([(4, 3), (3, 2), (5, 5)]))


def test_the_prior_is_a_parameter(seed: int) -> None:
    counts = choice_counts(Thompson(alpha=0.5, beta=2), HISTORIES, draws=50_000, seed=seed)
    law = best_of_betas([(3.5, 4), (1.5, 3), (4.5, 6)])
    assert_follows(np.repeat(np.arange(3), counts), law)


def test_a_real_reward_counts_as_one_zero_or_one_one(seed: int) -> None:
    state = informed(Thompson(), [[0.25] * 4_000], stream(seed))
    ones = state.alpha[0] - 1
    assert state.alpha[0] + state.beta[0] == 4_002
    assert stats.binomtest(int(ones), 4_000, 0.25).pvalue > 1e-6


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_the_prior_is_finite_and_positive(value: float) -> None:
    with pytest.raises(BadParameter, match=r"thompson needs a finite (alpha|beta) > 0"):
        Thompson(alpha=value)
    with pytest.raises(BadParameter, match=r"thompson needs a finite (alpha|beta) > 0"):
        Thompson(beta=value)
