"""Algorithm 1 with a sampling distribution of the user's."""

import math

import numpy as np
import pytest
from laws import assert_follows
from policies.choosing import choice_counts

from giro.errors import BadParameter
from giro.policies.randomized import Randomized
from giro.policy import Policy


def uniform_up_to_the_mean(history: np.ndarray, rng: np.random.Generator) -> float:
    return rng.uniform(0, history.mean())


def test_the_arm_with_the_highest_drawn_value_is_pulled(seed: int) -> None:
    policy = Randomized(uniform_up_to_the_mean)
    counts = choice_counts(policy, [[0.2, 0.4], [0.5, 0.7]], draws=10_000, seed=seed)
    assert_follows(np.repeat([0, 1], counts), [0.25, 0.75])  # 0.3 against 0.6


def test_an_arm_never_pulled_goes_first_without_a_draw(seed: int) -> None:
    def draw(history: np.ndarray, rng: np.random.Generator) -> float:
        assert history.size > 0
        return 1.0

    counts = choice_counts(Randomized(draw), [[1], [], []], draws=2_000, seed=seed)
    assert_follows(np.repeat(np.arange(3), counts), [0, 0.5, 0.5])


def test_its_text_names_the_function_but_cannot_be_read_back() -> None:
    text = Randomized(uniform_up_to_the_mean).text
    assert text == "randomized:draw=uniform_up_to_the_mean"
    with pytest.raises(BadParameter, match="use it from Python"):
        Policy.parse(text)
    with pytest.raises(BadParameter, match="randomized needs draw"):
        Policy.parse("randomized")


def test_what_is_not_a_function_is_refused() -> None:
    with pytest.raises(BadParameter, match="needs a function draw"):
        Randomized(0.5)  # type: ignore[arg-type]  # it is refused


def test_a_draw_that_is_not_a_number_is_refused(seed: int) -> None:
    with pytest.raises(BadParameter, match="needs numbers from draw, got nan"):
        choice_counts(Randomized(lambda history, rng: math.nan), [[1.0]], draws=1, seed=seed)
