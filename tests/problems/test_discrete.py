"""Arms with a few possible rewards."""

from typing import Any

import numpy as np
import pytest
from laws import assert_follows

from giro import BadParameter, Problem
from giro.problem import reveal, reward, start
from giro.problems.discrete import Discrete
from giro.seeds import stream

DRAWS = 20_000


def counts(problem: Problem, arm: int, values: list[float], seed: int) -> np.ndarray:
    """Return which of `values` was drawn, as indices."""
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    _, means, _ = reveal(instance, 0, rng)
    drawn = [reward(instance, means, arm, rng) for _ in range(DRAWS)]
    return np.array([values.index(value) for value in drawn])


@pytest.mark.parametrize("arm", [0, 1, 2])
def test_rewards_follow_the_probabilities_of_the_arm(arm: int, seed: int) -> None:
    laws = ((0.2, 0.3, 0.5), (0.0, 1.0, 0.0), (0.9, 0.0, 0.1))
    problem = Discrete((0.0, 0.5, 1.0), laws)
    assert_follows(counts(problem, arm, [0.0, 0.5, 1.0], seed), laws[arm])


def test_the_law_test_notices_a_slightly_wrong_probability(seed: int) -> None:
    problem = Discrete((0.0, 0.5, 1.0), ((0.2, 0.33, 0.47),))
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(counts(problem, 0, [0.0, 0.5, 1.0], seed), [0.2, 0.3, 0.5])


def test_arms_may_have_values_of_their_own_of_any_number(seed: int) -> None:
    problem = Discrete(((0.1, 0.9), (0.0, 0.25, 1.0)), ((0.5, 0.5), (0.25, 0.5, 0.25)))
    assert_follows(counts(problem, 0, [0.1, 0.9], seed), [0.5, 0.5])
    assert_follows(counts(problem, 1, [0.0, 0.25, 1.0], seed), [0.25, 0.5, 0.25])


def test_means_are_worked_out_by_hand() -> None:
    instance = start(Discrete(), stream(0))
    assert instance.means.tolist() == [0.65, 0.4]  # 0.15 + 0.5 and 0.2 + 0.2
    assert instance.best == 0.65


def test_arms_equal_on_paper_have_equal_means() -> None:
    laws = ((0.1, 0.2, 0.7), (0.4, 0.5, 0.1))
    values = ((0.1, 0.2, 0.3), (0.3, 0.2, 0.4))  # both 0.26
    assert len(set(start(Discrete(values, laws), stream(0)).means.tolist())) == 1


def test_lists_and_arrays_are_welcome() -> None:
    made = Discrete([0, 1], np.array([[0.5, 0.5]]))  # type: ignore[arg-type]
    assert made == Problem.parse("discrete:values=[0,1],probabilities=[[0.5,0.5]]")
    assert hash(made) == hash(Problem.parse(made.text))
    assert made.n_arms == 1


@pytest.mark.parametrize(
    ("values", "probabilities", "complaint"),
    [
        ([0, 1], [[0.5, 0.6]], "add up to 1, got 1.1 for arm 0"),
        ([0, 1], [[0.5, 0.5], [0.5, 0.4999999]], "add up to 1, got 0.99999"),
        ([0, 1], [[0.2, 0.3, 0.5]], "as many probabilities as values, got 3 and 2 for arm 0"),
        ([0, 1.5], [[0.5, 0.5]], "values in [0, 1], got 1.5 for arm 0"),
        ([0, float("nan")], [[0.5, 0.5]], "values in [0, 1], got nan"),
        ([0, 1], [[-0.5, 1.5]], "probabilities in [0, 1], got -0.5"),
        ([0, 1], [[float("nan"), 1]], "probabilities in [0, 1], got nan"),
        ([[0, 1]], [[0.5, 0.5], [0.5, 0.5]], "one row of values, or one for each of the 2 arms"),
        ([[0, 1], 1], [[0.5, 0.5], [0.5, 0.5]], "one row of values, or one for each"),
        (0.5, [[0.5, 0.5]], "one row of values"),
        ([0, 1], [], "a row of probabilities for each arm"),
        ([0, 1], [0.5, 0.5], "a row of probabilities for each arm"),
        ([0, 1], None, "numbers as probabilities, got None"),
        ([0, "one"], [[0.5, 0.5]], "numbers as values, got 'one'"),
    ],
)
def test_what_is_no_law_is_refused(values: Any, probabilities: Any, complaint: str) -> None:
    with pytest.raises(BadParameter) as refusal:
        Discrete(values, probabilities)
    assert complaint in str(refusal.value)
