"""Places are drawn with the given probabilities."""

import numpy as np
from laws import assert_follows

from giro.kernels.draws.discrete import place_by_chance
from giro.seeds import stream

CHANCES = np.array([0.05, 0.0, 0.6, 0.35])


def test_places_follow_the_probabilities(seed: int) -> None:
    rng = stream(seed)
    assert_follows([place_by_chance(CHANCES, rng) for _ in range(20_000)], CHANCES)


def test_a_single_place_is_drawn_even_if_its_probability_is_rounded(seed: int) -> None:
    assert place_by_chance(np.array([1.0 - 1e-16]), stream(seed)) == 0
