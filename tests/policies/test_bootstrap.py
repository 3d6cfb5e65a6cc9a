"""The plain bootstrap of the paper's Section 3.1."""

import itertools

import numpy as np
import pytest
from laws import assert_follows
from policies.choosing import choice_counts, first_arms, winner_law
from scipy import stats

from giro.errors import BadParameter
from giro.policies.bootstrap import Bootstrap

RANDOM_TIES = Bootstrap(ties="random")


def bootstrap_law(history: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return all bootstrap means of a history and their probabilities, by listing all samples."""
    samples = itertools.product(history, repeat=len(history))
    means, counts = np.unique([sum(s) / len(s) for s in samples], return_counts=True)
    return means, counts / counts.sum()


@pytest.mark.parametrize(
    "histories",
    [[[1, 0, 0], [1, 0], [0, 1, 1, 0]], [[0.5, 0.25, 0], [0.75], [0.25, 1, 0, 0.5]]],
    ids=["binary", "real"],
)
def test_arms_are_pulled_as_the_law_of_the_bootstrap_says(
    histories: list[list[float]], seed: int
) -> None:
    arms = np.repeat(np.arange(3), choice_counts(RANDOM_TIES, histories, draws=100_000, seed=seed))
    laws = [bootstrap_law(history) for history in histories]
    assert_follows(arms, winner_law(*zip(*laws, strict=True)))
    wrong = [*laws[:2], bootstrap_law([*histories[2], 0])]
    with pytest.raises(AssertionError, match="p ="):  # one zero too many
        assert_follows(arms, winner_law(*zip(*wrong, strict=True)))


@pytest.mark.parametrize("pulls", [1, 3])
def test_each_arm_is_first_pulled_so_many_times_the_first_arm_first(pulls: int, seed: int) -> None:
    arms = first_arms(Bootstrap(pulls), [0.5] * (3 * pulls), 3, seed=seed)
    assert arms == [0] * pulls + [1] * pulls + [2] * pulls


def test_an_arm_whose_only_reward_was_zero_is_pulled_again_only_if_the_tie_rule_says_so() -> None:
    fixed = [
        choice_counts(Bootstrap(), [[0], [0, 1]], draws=4_000, seed=seed)[0] for seed in range(20)
    ]
    assert {count > 0 for count in fixed} == {True, False}  # the rule is drawn once
    for count in fixed:
        if count:  # arm 1's two draws are both 0 with probability 1/4
            assert stats.binomtest(int(count), 4_000, 0.25).pvalue > 1e-6


def test_the_tie_rule_is_fixed_unless_asked_otherwise() -> None:
    assert Bootstrap().ties == "fixed"
    assert Bootstrap().text == "bootstrap:pulls=1"


@pytest.mark.parametrize("pulls", [0, -1, 1.5, float("nan")])
def test_pulls_is_a_whole_number_of_at_least_one(pulls: int) -> None:
    with pytest.raises(BadParameter, match="bootstrap needs a whole number pulls >= 1"):
        Bootstrap(pulls)
