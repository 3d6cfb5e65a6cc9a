"""ReBoot: the bootstrap of residuals is one normal draw."""

import math

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from policies.choosing import choice_counts
from scipy import stats

from giro.errors import BadParameter
from giro.policies.reboot import Reboot
from giro.seeds import stream

REAL = [[0.5, 0.25, 0.9], [0.25, 0.75], [0.6, 0.4, 0.5, 0.45]]
DRAWS = 50_000


def literal_counts(
    histories: list[list[float]], seed: int, *, r: float, sd: float | None = None
) -> np.ndarray:
    """Return how often each arm wins in Wang et al. (2020), Algorithm 1, residual by residual."""
    rng, values = stream(seed, 9), []
    for history in histories:
        rewards, n = np.array(history), len(history) + 2
        residuals = rewards - rewards.mean()
        pseudo = math.sqrt(n) * r * (residuals.std() if sd is None else sd)
        weights = rng.normal(size=(DRAWS, n))
        values.append(rewards.mean() + weights @ np.array([*residuals, pseudo, -pseudo]) / n)
    return np.bincount(np.argmax(values, axis=0), minlength=len(histories))


@pytest.mark.parametrize(("r", "sd"), [(1.5, None), (0.25, None), (1.0, 0.3)])
def test_values_are_those_of_weighted_residuals(r: float, sd: float | None, seed: int) -> None:
    counts = choice_counts(Reboot(r, sd=sd), REAL, draws=DRAWS, seed=seed)
    assert p_value_of_same_counts(counts, literal_counts(REAL, seed, r=r, sd=sd)) > 1e-6
    wrong = literal_counts(REAL, seed, r=0.5 * r, sd=sd)
    assert p_value_of_same_counts(counts, wrong) < 1e-6


def test_an_arm_with_equal_rewards_has_the_largest_deviation(seed: int) -> None:
    counts = choice_counts(Reboot(1.0), [[0, 0], [0.5, 0.5, 0.5]], draws=DRAWS, seed=seed)
    spread = math.hypot(*(math.sqrt(2 * 0.25 / (s + 2)) for s in (2, 3)))
    first_wins = stats.norm.sf(0.5 / spread)
    assert_follows(np.repeat([0, 1], counts), [first_wins, 1 - first_wins])


def test_untried_arms_go_first(seed: int) -> None:
    counts = choice_counts(Reboot(), [[1], [], [1, 1], []], draws=20_000, seed=seed)
    assert_follows(np.repeat(np.arange(4), counts), [0, 0.5, 0, 0.5])


def test_parameters_are_positive() -> None:
    with pytest.raises(BadParameter, match="reboot needs a finite r > 0, got r=0"):
        Reboot(0.0)
    with pytest.raises(BadParameter, match="reboot needs a finite sd > 0"):
        Reboot(sd=-1.0)
