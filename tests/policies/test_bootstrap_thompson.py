"""Bootstrap Thompson sampling."""

import itertools

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from policies.choosing import choice_counts, winner_law

from giro.errors import BadParameter
from giro.policies.bootstrap_thompson import BootstrapThompson
from giro.policies.thompson import Thompson

BINARY = [[1, 0, 0, 1, 1], [0, 1], [0, 0, 1, 0, 1, 1, 1, 0]]


def bootstrap_law(entries: list[float]) -> tuple[np.ndarray, np.ndarray]:
    samples = itertools.product(entries, repeat=len(entries))
    means, counts = np.unique([sum(s) / len(s) for s in samples], return_counts=True)
    return means, counts / counts.sum()


@pytest.mark.parametrize("histories", [[[1, 0], [0, 1, 0]], [[0.5, 0.25], [0.25, 0, 0.75]]])
def test_multinomial_weights_are_a_bootstrap_of_rewards_and_prior(
    histories: list[list[float]], seed: int
) -> None:
    policy = BootstrapThompson(zeros=2, ones=1)
    arms = np.repeat(np.arange(2), choice_counts(policy, histories, draws=100_000, seed=seed))
    laws = [bootstrap_law([*history, 0, 0, 1]) for history in histories]
    assert_follows(arms, winner_law(*zip(*laws, strict=True)))
    wrong = [bootstrap_law([*histories[0], 0, 0]), laws[1]]
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(arms, winner_law(*zip(*wrong, strict=True)))


def test_exponential_weights_on_zeros_and_ones_are_thompson_sampling(seed: int) -> None:
    ours = BootstrapThompson("exponential", zeros=1, ones=1)
    counts = choice_counts(ours, BINARY, draws=100_000, seed=seed)
    same = choice_counts(Thompson(), BINARY, draws=100_000, seed=seed + 1_000)
    longer = [*BINARY[:2], [*BINARY[2], 0]]
    other = choice_counts(Thompson(), longer, draws=100_000, seed=seed + 1_000)
    assert p_value_of_same_counts(counts, same) > 1e-6
    assert p_value_of_same_counts(counts, other) < 1e-6


def test_an_untried_arm_is_valued_by_its_prior(seed: int) -> None:
    counts = choice_counts(BootstrapThompson(), [[], [1, 1, 1]], draws=100_000, seed=seed)
    laws = [bootstrap_law([0, 1]), bootstrap_law([1, 1, 1, 0, 1])]
    assert_follows(np.repeat([0, 1], counts), winner_law(*zip(*laws, strict=True)))


def test_without_prior_rewards_an_untried_arm_goes_first(seed: int) -> None:
    for weights in ("multinomial", "exponential"):
        policy = BootstrapThompson(weights, zeros=0, ones=0)
        assert choice_counts(policy, [[1], []], draws=20, seed=seed).tolist() == [0, 20]


@pytest.mark.parametrize("value", [-1, 0.5, float("nan")])
def test_prior_rewards_are_whole_numbers(value: int) -> None:
    with pytest.raises(BadParameter, match="bootstrap-thompson needs a whole number zeros >= 0"):
        BootstrapThompson(zeros=value)
    with pytest.raises(BadParameter, match="bootstrap-thompson needs a whole number ones >= 0"):
        BootstrapThompson(ones=value)


def test_unknown_weights_are_refused() -> None:
    with pytest.raises(BadParameter, match="multinomial, exponential, got weights='poisson'"):
        BootstrapThompson("poisson")  # type: ignore[arg-type]  # it is refused
