"""ε-greedy: how often it explores, and what it pulls then."""

import math

import numpy as np
import pytest
from laws import assert_follows
from policies.choosing import choice_counts, shape_for

from giro.errors import BadParameter
from giro.policies.epsilon_greedy import EpsilonGreedy, b_for_share, means_of
from giro.policy import Policy
from giro.seeds import stream

HISTORIES = [[0, 1], [1], [0, 0, 1]]  # arm 1 has the highest mean; round 7 is next


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.3, 0.9, 0.9999, 1.0])
@pytest.mark.parametrize("rounds", [1, 2, 10, 10_000])
def test_the_expected_share_of_exploring_rounds_is_exact(share: float, rounds: int) -> None:
    b = b_for_share(share, rounds)
    epsilons = [min(1.0, b / t) for t in range(1, rounds + 1)]
    assert math.fsum(epsilons) == pytest.approx(share * rounds, rel=1e-12)


@pytest.mark.parametrize(
    ("policy", "epsilon"),
    [
        (EpsilonGreedy(epsilon=0.3), 0.3),
        (EpsilonGreedy(b=1.4), 0.2),
        (EpsilonGreedy(b=100.0), 1.0),
        (EpsilonGreedy(share=0.5), b_for_share(0.5, 7) / 7),
    ],
)
def test_it_explores_any_arm_with_probability_epsilon(
    policy: EpsilonGreedy, epsilon: float, seed: int
) -> None:
    arms = np.repeat(np.arange(3), choice_counts(policy, HISTORIES, draws=100_000, seed=seed))
    law = np.full(3, epsilon / 3) + np.array([0, 1 - epsilon, 0])
    assert_follows(arms, law)
    with pytest.raises(AssertionError, match="p ="):  # exploring only the other arms
        assert_follows(arms, [epsilon / 2, 1 - epsilon, epsilon / 2])


def test_without_parameters_one_percent_of_the_rounds_explore() -> None:
    assert EpsilonGreedy() == EpsilonGreedy(share=0.01) == Policy.parse("epsilon-greedy")
    state = EpsilonGreedy().start(shape_for(3, 1_000), stream(0))
    assert sum(min(1, state.b / t) for t in range(1, 1_001)) == pytest.approx(10)


@pytest.mark.parametrize("text", ["epsilon=0.1", "b=5", "share=0.01", "epsilon=0.1,ties=fixed"])
def test_the_text_shows_just_what_is_in_force(text: str) -> None:
    assert Policy.parse(f"epsilon-greedy:{text}").text == f"epsilon-greedy:{text}"


def test_only_one_schedule_may_be_given() -> None:
    for text in ["epsilon=0.1,b=5", "epsilon=0,share=0", "b=0,share=0.1", "epsilon=0,b=0,share=0"]:
        with pytest.raises(BadParameter, match="one of epsilon, b and share"):
            Policy.parse(f"epsilon-greedy:{text}")


@pytest.mark.parametrize("value", [-0.1, 1.1, math.inf, math.nan])
def test_epsilon_and_share_are_probabilities(value: float) -> None:
    with pytest.raises(BadParameter, match=r"epsilon in \[0, 1\]"):
        EpsilonGreedy(epsilon=value)
    with pytest.raises(BadParameter, match=r"share in \[0, 1\]"):
        EpsilonGreedy(share=value)


@pytest.mark.parametrize("value", [-0.1, math.inf, math.nan])
def test_b_is_finite_and_not_negative(value: float) -> None:
    with pytest.raises(BadParameter, match="finite b >= 0"):
        EpsilonGreedy(b=value)


def test_an_arm_never_pulled_has_an_infinite_mean() -> None:
    means = means_of(np.array([2, 0, 4]), np.array([1.0, 0.0, 0.5]), np.arange(3))
    assert means.tolist() == [0.5, np.inf, 0.125]


def test_only_the_arms_asked_for_are_told() -> None:
    pulls, total = np.array([2, 0, 4]), np.array([1.0, 0.0, 0.5])
    assert means_of(pulls, total, np.array([1, 2])).tolist() == [np.inf, 0.125]
