"""The upper envelope of lines, against drawing u and looking."""

import math

import numpy as np
import pytest
from laws import assert_follows

from giro.kernels.highest.envelope import envelope_probabilities
from giro.seeds import stream

ANY = np.empty(0)


def literal_shares(means: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return the share of each line by summing the density of u over a fine grid."""
    u = np.linspace(0.0, 9.0, 400_001)
    density = np.exp(-(u**2) / 2)
    values = means[:, None] + widths[:, None] * u
    highest = values == values.max(axis=0)
    return (highest / highest.sum(axis=0) * density).sum(axis=1) / density.sum()


@pytest.mark.parametrize("n_arms", [1, 2, 5, 40])
def test_shares_are_those_of_a_fine_grid(n_arms: int, seed: int) -> None:
    rng = stream(seed, n_arms)
    for _ in range(5):
        means, widths = rng.normal(size=n_arms), rng.random(n_arms)
        found = envelope_probabilities(means, widths, ANY)
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(found, literal_shares(means, widths), atol=2e-5)


def test_two_lines_that_cross_where_half_of_the_draws_lie() -> None:
    median = 0.6744897501960817  # of |N(0, 1)|
    found = envelope_probabilities(np.array([median, 0.0]), np.array([0.0, 1.0]), ANY)
    assert found == pytest.approx([0.5, 0.5], abs=1e-12)


def test_equal_lines_share_or_follow_the_ranking() -> None:
    means, widths = np.array([0.2, 0.5, 0.5, 0.5]), np.array([0.1, 0.1, 0.1, 0.0])
    assert envelope_probabilities(means, widths, ANY).tolist() == [0.0, 0.5, 0.5, 0.0]
    ranking = np.array([9.0, 1.0, 2.0, 8.0])
    assert envelope_probabilities(means, widths, ranking).tolist() == [0.0, 0.0, 1.0, 0.0]


def test_three_lines_through_one_point_leave_nothing_to_the_one_between() -> None:
    means, widths = np.array([1.0, 0.5, 0.0]), np.array([0.0, 0.5, 1.0])
    found = envelope_probabilities(means, widths, ANY)
    assert found == pytest.approx([math.erf(1 / math.sqrt(2)), 0.0, math.erfc(1 / math.sqrt(2))])


def test_a_slightly_wrong_width_is_noticed(seed: int) -> None:
    means, widths = np.array([0.5, 0.4, 0.1]), np.array([0.05, 0.15, 0.5])
    u = np.abs(stream(seed).normal(size=40_000))
    arms = np.argmax(means[:, None] + widths[:, None] * u, axis=0)
    assert_follows(arms, envelope_probabilities(means, widths, ANY))
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(arms, envelope_probabilities(means, 1.05 * widths, ANY))
