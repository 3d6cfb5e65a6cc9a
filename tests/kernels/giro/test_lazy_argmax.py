"""The lazy argmax picks each arm on offer as often as resampling every entry does."""

import numpy as np
import pytest
from engine import Setup, counts_by_literal_resampling, ranking_of
from kernels.histories import partial_samples, some_rewards
from laws import ALPHA, p_value_of_same_counts

from giro.compiling import kernel
from giro.kernels.giro.lazy_argmax import lazy_argmax
from giro.kernels.giro.partial_sample import PartialSamples, begin
from giro.kernels.highest.ties import Ties
from giro.seeds import stream

ALL, SOME, TWO = (0, 1, 2, 3), (0, 2, 3), (1, 2)
HISTORIES = {  # kinds and numbers of rewards
    "few": [("any", 3), ("any", 5), ("three values", 4), ("binary", 6)],
    "unlike": [("binary", 400), ("any", 30), ("three values", 12), ("any", 300)],
    "equal": [("equal", 9), ("equal", 9), ("equal", 20), ("any", 5)],
    "binary": [("binary", 50), ("binary", 20), ("binary", 90), ("binary", 20)],
}


@kernel
def _winners(
    samples: PartialSamples, arms: np.ndarray, a: float, ranking: np.ndarray, draws: int, rng
) -> np.ndarray:
    counts = np.zeros(samples.counts.shape[0], np.int64)
    for _ in range(draws):
        begin(samples, arms, a, rng)
        counts[lazy_argmax(samples, arms, ranking, rng)] += 1
    return counts


def setup_of(name: str, a: float, ties: Ties, arms: tuple[int, ...], seed: int) -> Setup:
    histories = [
        some_rewards(kind, size, seed + arm) for arm, (kind, size) in enumerate(HISTORIES[name])
    ]
    return Setup(histories, a, ties, arms)


def both_counts(setup: Setup, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how often the lazy argmax picks each arm, and with every entry drawn."""
    rng = stream(seed, 51)
    ranking, arms = ranking_of(setup, rng), setup.offer.arms
    ours = _winners(partial_samples(setup.rewards), arms, setup.a, ranking, 16_000, rng)
    return ours, counts_by_literal_resampling(setup, ranking, 8_000, rng)


@pytest.mark.parametrize("ties", ["random", "fixed"])
@pytest.mark.parametrize("arms", [ALL, SOME, TWO], ids=str)
@pytest.mark.parametrize("a", [0.0, 1 / 3, 1.0])
@pytest.mark.parametrize("name", HISTORIES)
def test_arms_on_offer_win_as_often_as_by_literal_resampling(
    name: str, a: float, arms: tuple[int, ...], ties: Ties, seed: int
) -> None:
    ours, literal = both_counts(setup_of(name, a, ties, arms, seed), seed)
    assert set(np.flatnonzero(ours)) <= set(arms)
    assert p_value_of_same_counts(ours, literal) > ALPHA


def test_one_reward_that_is_another_is_noticed(seed: int) -> None:
    setup = setup_of("few", 1.0, "random", SOME, 0)
    other = np.append(1.0 - setup.rewards[3][:1], setup.rewards[3][1:])
    ours, _ = both_counts(setup, seed)
    _, literal = both_counts(setup._replace(rewards=[*setup.rewards[:3], other]), seed)
    assert p_value_of_same_counts(ours, literal) < ALPHA


def test_untried_arms_on_offer_go_first_and_share(seed: int) -> None:
    samples, rng = (
        partial_samples([np.array([0.5]), np.empty(0), np.empty(0), np.array([0.9])]),
        stream(seed),
    )
    counts = _winners(samples, np.arange(4), 1.0, np.empty(0), 4_000, rng)
    assert p_value_of_same_counts(counts, np.array([0, 2_000, 2_000, 0])) > ALPHA
    some = _winners(samples, np.array([0, 2, 3]), 1.0, np.empty(0), 100, rng)
    assert some.tolist() == [0, 0, 100, 0]
    tried = _winners(samples, np.array([0, 3]), 1.0, np.empty(0), 4_000, rng)
    assert tried[[1, 2]].tolist() == [0, 0] and tried.min() == 0 and tried.sum() == 4_000
