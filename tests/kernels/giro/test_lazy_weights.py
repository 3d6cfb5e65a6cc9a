"""The lazy argmax under exponential weights picks each arm as often as one weight per reward."""

import numpy as np
import pytest
from kernels.histories import some_rewards
from laws import ALPHA, assert_follows, p_value_of_same_counts

from giro.compiling import kernel
from giro.kernels.giro.lazy_weights import WeightedArms, add_reward, empty_arms, exponential_choice
from giro.seeds import stream

ALL, SOME = (0, 1, 2, 3), (0, 2, 3)
HISTORIES = {  # kinds and numbers of rewards; those of more than 128 are drawn in parts
    "few": [("any", 3), ("any", 5), ("three values", 4), ("binary", 6)],
    "many": [("any", 300), ("any", 700), ("any", 400), ("any", 2_000)],
    "unlike": [("binary", 400), ("any", 30), ("three values", 900), ("binary", 12)],
    "three values": [("three values", 200), ("three values", 900), ("three values", 9)] * 2,
}
DRAWS = 8_000


def arms_with(histories: list[np.ndarray]) -> WeightedArms:
    state = empty_arms(len(histories), sum(map(len, histories)))
    for i in range(max(map(len, histories))):
        for arm, rewards in enumerate(histories):
            if i < len(rewards):
                add_reward(state, arm, float(rewards[i]))
    return state


@kernel
def _winners(
    state: WeightedArms,
    arms: np.ndarray,
    prior: tuple[int, int],
    ranking: np.ndarray,
    draws: int,
    rng,
) -> np.ndarray:
    counts = np.zeros(state.weights.shape[0], np.int64)
    for _ in range(draws):
        counts[exponential_choice(state, arms, prior[0], prior[1], ranking, rng)] += 1
    return counts


def winners(
    histories: list[np.ndarray], arms: tuple[int, ...], prior: tuple[int, int], seed: int
) -> np.ndarray:
    ranking = np.empty(0, np.int64)
    return _winners(arms_with(histories), np.array(arms), prior, ranking, DRAWS, stream(seed, 51))


def literal_winners(
    histories: list[np.ndarray], arms: tuple[int, ...], prior: tuple[int, int], seed: int
) -> np.ndarray:
    """Return how often each arm wins with an exponential weight for each entry."""
    rng, values = stream(seed, 52), np.empty((len(arms), DRAWS))
    for i, arm in enumerate(arms):
        entries = np.concatenate([histories[arm], np.zeros(prior[0]), np.ones(prior[1])])
        for draw in range(DRAWS):
            weights = rng.exponential(size=entries.size)
            values[i, draw] = weights @ entries / weights.sum()
    return np.bincount(np.array(arms)[values.argmax(axis=0)], minlength=len(histories))


def rewards_of(name: str, seed: int) -> list[np.ndarray]:
    return [
        some_rewards(kind, size, seed + arm) for arm, (kind, size) in enumerate(HISTORIES[name])
    ]


@pytest.mark.parametrize("prior", [(0, 1), (2, 1)], ids=str)
@pytest.mark.parametrize("arms", [ALL, SOME], ids=str)
@pytest.mark.parametrize("name", HISTORIES)
def test_arms_win_as_often_as_with_a_weight_for_each_reward(
    name: str, arms: tuple[int, ...], prior: tuple[int, int], seed: int
) -> None:
    histories = rewards_of(name, seed)
    ours = winners(histories, arms, prior, seed)
    assert set(np.flatnonzero(ours)) <= set(arms)
    assert p_value_of_same_counts(ours, literal_winners(histories, arms, prior, seed)) > ALPHA


def test_one_prior_reward_too_many_is_noticed(seed: int) -> None:
    close = [np.full(400, 0.5), *rewards_of("few", seed)[:2], np.tile([0.45, 0.55], 200)]
    literal = literal_winners(close, ALL, (0, 3), seed)
    assert p_value_of_same_counts(winners(close, ALL, (0, 1), seed), literal) < ALPHA
    assert p_value_of_same_counts(winners(close, ALL, (0, 3), seed), literal) > ALPHA


def test_untried_arms_and_those_of_equal_rewards_share_equally(seed: int) -> None:
    histories = [np.ones(3), np.array([0.5]), np.ones(200), np.empty(0)]
    counts = winners(histories, ALL, (0, 1), seed)
    assert_follows(np.repeat(np.arange(4), counts), [1 / 3, 0, 1 / 3, 1 / 3])
    assert winners(histories, ALL, (0, 0), seed).tolist() == [0, 0, 0, DRAWS]


def test_arms_that_never_differ_from_each_other_come_to_an_end(seed: int) -> None:
    equal = [np.full(300, 0.3), np.full(2_000, 0.3)]
    counts = winners(equal, (0, 1), (0, 0), seed)
    assert counts.sum() == DRAWS
