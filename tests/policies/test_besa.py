"""BESA: duels on equally many rewards, in a tournament."""

from itertools import combinations

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from policies.choosing import choice_counts, informed
from scipy import stats

from giro.compiling import kernel, plain
from giro.offer import offer_of
from giro.policies.besa import Besa, _choose, subsampled_sum
from giro.seeds import stream

REWARDS = np.array([0.1, 0.2, 0.4, 0.8, 1.6])  # sums of different subsets differ


def literal_winner(histories: list[list[float]], arms: list[int], rng: np.random.Generator) -> int:
    """Return the winner as in Baransi et al. (2014), Algorithms 1 and 2; `arms` are shuffled."""
    if len(arms) == 1:
        return arms[0]
    a = literal_winner(histories, arms[: len(arms) // 2], rng)
    b = literal_winner(histories, arms[len(arms) // 2 :], rng)
    n = min(len(histories[a]), len(histories[b]))
    means = [rng.choice(histories[arm], n, replace=False).mean() for arm in (a, b)]
    if abs(means[0] - means[1]) > 1e-12:
        return a if means[0] > means[1] else b
    if len(histories[a]) != len(histories[b]):
        return min(a, b, key=lambda arm: len(histories[arm]))
    return (a, b)[rng.integers(2)]


def literal_counts(histories: list[list[float]], draws: int, seed: int) -> np.ndarray:
    rng, n_arms = stream(seed, 7), len(histories)
    won = [literal_winner(histories, rng.permutation(n_arms).tolist(), rng) for _ in range(draws)]
    return np.bincount(won, minlength=n_arms)


def test_a_duel_of_zeros_and_ones_follows_the_hypergeometric_law(seed: int) -> None:
    histories = [[1, 0, 0], [1] * 5 + [0] * 7]
    arms = np.repeat([0, 1], choice_counts(Besa(), histories, draws=100_000, seed=seed))
    longer_wins = stats.hypergeom(12, 5, 3).sf(1)  # with 1 of 3 it ties, and the shorter wins
    assert_follows(arms, [1 - longer_wins, longer_wins])
    replaced = stats.binom(3, 5 / 12).sf(1)
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(arms, [1 - replaced, replaced])


def test_a_duel_of_real_rewards_compares_with_every_subset_equally_often(seed: int) -> None:
    few, many = [0.5, 0.25], [0.125, 0.75, 0.5, 0.25, 0.875]
    wins = [sum(subset) > sum(few) for subset in combinations(many, 2)]
    counts = choice_counts(Besa(), [few, many], draws=50_000, seed=seed)
    assert_follows(np.repeat([0, 1], counts), [1 - float(np.mean(wins)), float(np.mean(wins))])


@pytest.mark.parametrize(
    "histories",
    [
        [[1, 0], [1, 0, 0, 1], [0], [1, 0, 0], [0, 1, 1, 0, 0, 1]],
        [[0.5, 0.25], [0.75, 0, 0.5], [0.25], [0.25, 1, 0], [0.5, 0.5, 0.25, 1], [0, 1]],
    ],
    ids=["binary", "real"],
)
def test_the_tournament_is_the_papers(histories: list[list[float]], seed: int) -> None:
    counts = choice_counts(Besa(), histories, draws=100_000, seed=seed)
    assert p_value_of_same_counts(counts, literal_counts(histories, 10_000, seed)) > 1e-6
    wrong = [*histories[:-1], [*histories[-1], 0]]
    assert p_value_of_same_counts(counts, literal_counts(wrong, 10_000, seed)) < 1e-6


@pytest.mark.parametrize("n_arms", [1, 2, 3, 10])
def test_every_duel_leaves_one_of_two_arms_standing(
    n_arms: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, standing = plain(_choose), set(range(n_arms))
    duel = body.__globals__["_winner"]

    def watched(state, a: int, b: int, rng: np.random.Generator) -> int:
        assert {a, b} <= standing
        won = duel(state, a, b, rng)
        standing.remove(a if won == b else b)
        return int(won)

    monkeypatch.setitem(body.__globals__, "_winner", watched)
    state = informed(Besa(), [[float(arm % 2)] for arm in range(n_arms)], stream(seed))
    assert {body(state, offer_of(n_arms), stream(seed, 1))} == standing


def test_arms_that_are_not_on_offer_do_not_play(seed: int) -> None:
    histories: list[list[float]] = [[1, 0], [1, 0, 0, 1], [0], [1, 0, 0], [0, 1, 1, 0, 0, 1]]
    arms = [0, 1, 3]
    counts = choice_counts(Besa(), histories, draws=100_000, seed=seed, arms=arms)
    literal = literal_counts([histories[arm] for arm in arms], 10_000, seed)
    assert counts.sum() == counts[arms].sum()
    assert p_value_of_same_counts(counts[arms], literal) > 1e-6


def test_an_arm_never_pulled_beats_all_others_and_they_share_equally(seed: int) -> None:
    counts = choice_counts(Besa(), [[1], [], [1, 1], []], draws=20_000, seed=seed)
    assert_follows(np.repeat(np.arange(4), counts), [0, 0.5, 0, 0.5])


def test_equal_arms_share_equally_or_by_the_fixed_rule(seed: int) -> None:
    equal = [[0.3, 0.3]] * 3
    counts = choice_counts(Besa(), equal, draws=20_000, seed=seed)
    assert_follows(np.repeat(np.arange(3), counts), [1 / 3] * 3)
    fixed = choice_counts(Besa(ties="fixed"), equal, draws=50, seed=seed)
    assert sorted(fixed.tolist()) == [0, 0, 50]


def test_the_same_rewards_in_another_order_tie(seed: int) -> None:
    rewards = [0.1, 0.2, 0.3, 0.6, 0.7]
    assert np.cumsum(rewards)[-1] != np.cumsum(rewards[::-1])[-1]
    counts = choice_counts(Besa(), [rewards, rewards[::-1]], draws=20_000, seed=seed)
    assert_follows(np.repeat([0, 1], counts), [0.5, 0.5])


def test_choosing_leaves_the_histories_alone(seed: int) -> None:
    state = informed(Besa(), [[0.1, 0.5, 0.9, 0.3], [0.2], [0.4, 0.8]], stream(seed))
    before = state.rewards.history.pool.copy()
    for i in range(20):
        plain(_choose)(state, offer_of(3), stream(seed, i))
    assert np.array_equal(state.rewards.history.pool, before)


@kernel
def _fill(out: np.ndarray, rewards: np.ndarray, n: int, rng: np.random.Generator) -> None:
    for i in range(out.size):
        out[i] = subsampled_sum(rewards, n, rng)


@pytest.mark.parametrize("n", [0, 1, 3, 5])
def test_every_subset_is_equally_likely(n: int, seed: int) -> None:
    sums = sorted(sum(subset) for subset in combinations(REWARDS, n))
    out = np.empty(50_000)
    _fill(out, REWARDS.copy(), n, stream(seed, n))
    which = np.abs(out[:, None] - np.array(sums)).argmin(axis=1)
    assert np.allclose(np.array(sums)[which], out)
    assert_follows(which, np.full(len(sums), 1 / len(sums)))


def test_a_draw_with_replacement_would_fail(seed: int) -> None:
    sums = sorted(sum(subset) for subset in combinations(REWARDS, 2))
    drawn = stream(seed).choice(REWARDS, (50_000, 2)).sum(axis=1)
    which = np.abs(drawn[:, None] - np.array(sums)).argmin(axis=1)
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(which, np.full(len(sums), 1 / len(sums)))


def test_the_rewards_stay_as_they_were(seed: int) -> None:
    rewards = stream(seed).random(100)
    before = rewards.copy()
    subsampled_sum(rewards, 40, stream(seed, 1))
    assert np.array_equal(rewards, before)
