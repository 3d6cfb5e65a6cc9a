"""Maillard sampling: draws by rejection follow the closed form."""

import numpy as np
import pytest
from laws import assert_follows
from policies.choosing import choice_counts, informed, some_arms
from scipy.special import kl_div

from giro.compiling import plain
from giro.policies.maillard import Maillard
from giro.seeds import stream

HISTORIES: list[list[float]] = [[1, 0, 0, 1, 1], [0.5, 0.25], [0, 0, 1], [1, 1, 1, 0, 1, 0], [0.7]]


def closed_form(histories: list[list[float]], *, factor: float = 1.0) -> np.ndarray:
    """Return the law of Qin, Jun and Zhang (2023), Algorithm 1, all arms tried."""
    mean = np.array([np.mean(history) for history in histories])
    s = np.array([len(history) for history in histories])
    weights = np.exp(-factor * s * (kl_div(mean, mean.max()) + kl_div(1 - mean, 1 - mean.max())))
    return weights / weights.sum()


@pytest.mark.parametrize("arms", [[0, 1, 2, 3, 4], [0, 1, 2]])
def test_arms_are_drawn_with_the_probabilities_of_the_closed_form(
    arms: list[int], seed: int
) -> None:
    on_offer = [HISTORIES[arm] for arm in arms]
    counts = choice_counts(Maillard(), HISTORIES, draws=100_000, seed=seed, arms=arms)[arms]
    drawn = np.repeat(np.arange(len(arms)), counts)
    assert_follows(drawn, closed_form(on_offer))
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(drawn, closed_form(on_offer, factor=0.9))
    state = informed(Maillard(), HISTORIES, stream(seed))
    law = plain(Maillard.propensities)(state, some_arms(arms))
    assert law == pytest.approx(closed_form(on_offer), rel=1e-12)


def test_untried_arms_go_first_in_random_order(seed: int) -> None:
    counts = choice_counts(Maillard(), [[1], [], [1, 1], []], draws=20_000, seed=seed)
    assert_follows(np.repeat(np.arange(4), counts), [0, 0.5, 0, 0.5])


def test_an_arm_that_only_lost_is_drawn_no_more_when_another_always_won(seed: int) -> None:
    counts = choice_counts(Maillard(), [[0], [1]], draws=100, seed=seed)
    assert counts.tolist() == [0, 100]
