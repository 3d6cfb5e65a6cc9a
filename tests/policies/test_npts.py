"""Non-parametric Thompson sampling: Dirichlet weights over the rewards and the value 1."""

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from policies.choosing import choice_counts, informed, some_arms

from giro.compiling import plain
from giro.policies.npts import Npts
from giro.seeds import stream

BINARY = [[1, 0, 0, 1], [0, 1], [0, 0, 0], [0, 1, 1]]
REAL = [[0.5, 0.25, 0.9], [0.25, 0.75], [1.0, 0.1]]
DRAWS = 50_000


def literal_counts(histories: list[list[float]], seed: int, *, first: float = 1.0) -> np.ndarray:
    """Return how often each arm wins in Riou and Honda (2020), Algorithm 2."""
    rng = stream(seed, 9)
    values = [
        rng.dirichlet(np.ones(len(history) + 1), DRAWS) @ np.array([first, *history])
        for history in histories
    ]
    return np.bincount(np.argmax(values, axis=0), minlength=len(histories))


@pytest.mark.parametrize("histories", [BINARY, REAL], ids=["binary", "real"])
def test_values_are_means_under_dirichlet_weights(histories: list[list[float]], seed: int) -> None:
    counts = choice_counts(Npts(), histories, draws=DRAWS, seed=seed)
    assert p_value_of_same_counts(counts, literal_counts(histories, seed)) > 1e-6
    assert p_value_of_same_counts(counts, literal_counts(histories, seed, first=0.8)) < 1e-6


def test_arms_with_rewards_of_1_alone_and_untried_ones_share_equally(seed: int) -> None:
    histories = [[1, 1], [1, 0], [], [1]]
    counts = choice_counts(Npts(), histories, draws=20_000, seed=seed)
    assert_follows(np.repeat(np.arange(4), counts), [1 / 3, 0, 1 / 3, 1 / 3])
    state = informed(Npts(), histories, stream(seed))
    law = plain(Npts.propensities)(state, some_arms(4))
    assert law.tolist() == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])
