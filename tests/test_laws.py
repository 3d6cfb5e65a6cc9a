"""The judges themselves: right samplers pass, slightly wrong ones fail."""

import numpy as np
import pytest
from laws import assert_follows, assert_follows_cdf, assert_same_law, p_value_of_same_counts
from scipy import stats

from giro.seeds import stream

DRAWS = 20_000
BINOMIAL = stats.binom.pmf(np.arange(8), 7, 3 / 7)


def test_a_right_binomial_sampler_passes(seed: int) -> None:
    assert_follows(stream(seed).binomial(7, 3 / 7, DRAWS), BINOMIAL)


def test_a_binomial_sampler_off_by_three_percent_fails(seed: int) -> None:
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(stream(seed).binomial(7, 3 / 7 + 0.03, DRAWS), BINOMIAL)


def test_an_outcome_of_probability_zero_fails() -> None:
    with pytest.raises(AssertionError, match="p = 0"):
        assert_follows([0] * 100 + [1], [1.0, 0.0])


def test_a_right_beta_sampler_passes_and_a_shifted_one_fails(seed: int) -> None:
    law = stats.beta(2, 3).cdf
    assert_follows_cdf(stream(seed).beta(2, 3, DRAWS), law)
    with pytest.raises(AssertionError, match="p ="):
        assert_follows_cdf(stream(seed).beta(2.1, 3, DRAWS), law)


def test_two_samples_of_one_law_agree_and_of_two_laws_do_not(seed: int) -> None:
    rng = stream(seed)
    assert_same_law(rng.normal(size=DRAWS), rng.normal(size=DRAWS))
    with pytest.raises(AssertionError, match="p ="):
        assert_same_law(rng.normal(size=DRAWS), rng.normal(0.1, size=DRAWS))


def test_counts_of_one_law_agree_and_of_two_laws_do_not(seed: int) -> None:
    rng = stream(seed)
    first, same = rng.multinomial(DRAWS, [0.5, 0.3, 0.2], size=2)
    other = rng.multinomial(DRAWS, [0.46, 0.34, 0.2])
    assert p_value_of_same_counts(first, same) > 1e-6
    assert p_value_of_same_counts(first, other) < 1e-6
