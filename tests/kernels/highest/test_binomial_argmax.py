"""Arms are chosen as if every shifted binomial were drawn."""

from collections.abc import Sequence

import numpy as np
import pytest
from laws import ALPHA, p_value_of_same_counts

from giro.compiling import kernel
from giro.kernels.highest.binomial_argmax import (
    binomial_argmax,
    empty_values,
    prior_values,
    set_bootstrap,
    set_key,
    set_share,
    set_untried,
    set_variant,
    without_keys,
)
from giro.seeds import stream

DRAWS = 60_000
RANDOM_TIES = np.empty(0)
Law = tuple[float, int, float, int]  # offset, n, p, m of an arm
LAWS: dict[str, list[Law]] = {
    "long histories": [(0, 900, 0.6, 900), (0, 300, 0.55, 300), (0, 90, 0.5, 90)],
    "one far ahead": [(0, 9000, 0.6, 9000), (0, 200, 0.5, 200), (0, 150, 0.5, 150)],
    "certain values": [(0, 50, 0.0, 50), (0, 50, 1.0, 50), (3, 0, 0.5, 5), (0, 9, 0.8, 9)],
    "all zero": [(0, 5, 0.0, 5), (0, 70, 0.0, 70), (0, 40, 0.01, 40)],
    "near and far by turns": [
        (0, 200, 0.6, 200),
        *[(0, 4000, 0.5, 4000)] * 3,
        *[(0, 60, 0.5, 60)] * 2,
        (0, 4000, 0.5, 4000),
    ],
    "shifted": [(180.5, 330, 0.5, 630), (20.25, 44, 0.5, 84), (45, 99, 0.5, 189)],
}


@kernel
def _winners_among(
    values, arms: np.ndarray, ranking: np.ndarray, draws: int, rng: np.random.Generator
) -> np.ndarray:
    counts = np.zeros(values.bounds.size, np.int64)
    for _ in range(draws):
        counts[binomial_argmax(values, arms, ranking, rng)] += 1
    return counts


def _winners(values, ranking: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    return _winners_among(values, np.arange(values.bounds.size), ranking, draws, rng)


def plain_winners(laws: Sequence[Law], rng: np.random.Generator) -> np.ndarray:
    values = np.array([(o + rng.binomial(n, p, DRAWS)) / m for o, n, p, m in laws])
    tied = values == values.max(axis=0)
    drawn = np.where(tied, rng.random(values.shape), -1.0).argmax(axis=0)
    return np.bincount(drawn, minlength=len(laws))


@pytest.mark.parametrize("name", LAWS)
def test_winners_have_the_law_of_plain_draws(name: str, seed: int) -> None:
    values, rng = empty_values(len(LAWS[name])), stream(seed)
    for arm, (offset, n, p, m) in enumerate(LAWS[name]):
        set_variant(values, arm, 0, float(offset), n, p, m)
        set_share(values, arm, 0.0)
    counts = _winners(values, RANDOM_TIES, DRAWS, rng)
    assert p_value_of_same_counts(counts, plain_winners(LAWS[name], rng)) > ALPHA


@pytest.mark.parametrize("untried", [False, True], ids=["all tried", "one untried"])
@pytest.mark.parametrize("name", LAWS)
def test_arms_that_are_not_on_offer_are_as_if_they_were_not_there(
    name: str, untried: bool, seed: int
) -> None:
    laws, rng = LAWS[name], stream(seed)
    values = empty_values(len(laws) + untried)  # the last arm may have no law, and is not on offer
    for arm, (offset, n, p, m) in enumerate(laws):
        set_variant(values, arm, 0, float(offset), n, p, m)
        set_share(values, arm, 0.0)
    counts = _winners_among(values, np.arange(1, len(laws)), RANDOM_TIES, DRAWS, rng)
    assert counts[0] == 0
    assert p_value_of_same_counts(counts[1 : len(laws)], plain_winners(laws[1:], rng)) > ALPHA


@pytest.mark.parametrize("again", [0, 1, 2])
def test_an_arm_that_is_untried_again_goes_first_and_then_has_its_new_law(
    again: int, seed: int
) -> None:
    laws, rng = LAWS["long histories"], stream(seed)
    values = empty_values(4)  # the last arm stays untried, and is not on offer
    for _ in range(2):
        for arm, (_, n, p, _) in enumerate(laws):
            set_bootstrap(values, arm, n, p * n)
        for arm in (again, (again + 1) % 3):
            set_untried(values, arm)
        counts = _winners_among(values, np.arange(3), RANDOM_TIES, 1_000, rng)
        assert counts[(again + 2) % 3] == 0
        assert counts[again] > 400 < counts[(again + 1) % 3]
        assert values.leader[0].tried == 1
        assert values.leader[0].first == values.leader[0].last == (again + 2) % 3
    for arm, (_, n, p, _) in enumerate(laws):
        set_bootstrap(values, arm, n, p * n)
    counts = _winners_among(values, np.arange(3), RANDOM_TIES, DRAWS, rng)
    assert p_value_of_same_counts(counts[:3], plain_winners(laws, rng)) > ALPHA


def test_one_more_one_is_noticed(seed: int) -> None:
    rng = stream(seed)
    values = prior_values(3, 1, 1)
    for arm, (m, ones) in enumerate([(900, 540.0), (300, 165.0), (90, 46.0)]):
        set_bootstrap(values, arm, m, ones)
    plain = plain_winners(LAWS["long histories"], rng)
    assert p_value_of_same_counts(_winners(values, RANDOM_TIES, DRAWS, rng), plain) < ALPHA


@pytest.mark.parametrize("more", [0, 1])
def test_arms_far_behind_win_as_often_as_plain_draws_say(more: int, seed: int) -> None:
    rng = stream(seed)
    laws = [(0, 4000, 0.6, 4000), *[(0, 67 + i // 8, 0.45, 67 + i // 8) for i in range(150)]]
    values = empty_values(len(laws))
    for arm, (_, n, p, m) in enumerate(laws):
        set_bootstrap(values, arm, m, n * p + (0.2 * more if arm > 0 else 0.0))
    counts = [_winners(values, RANDOM_TIES, DRAWS, rng), plain_winners(laws, rng)]
    p_value = p_value_of_same_counts(*(np.array([c[0], c[1:].sum()]) for c in counts))
    assert p_value < ALPHA if more else p_value > ALPHA  # a fifth of a one in each is noticed


@pytest.mark.parametrize(("zeros", "ones"), [(1, 1), (2, 1), (0, 3)])
def test_arms_with_prior_rewards_only_win_by_their_binomial_law(
    zeros: int, ones: int, seed: int
) -> None:
    rng, m = stream(seed), zeros + ones
    values = prior_values(3, zeros, ones)
    set_bootstrap(values, 1, m + 1, ones + 1.0)
    laws = [(0, m, ones / m, m), (0, m + 1, (ones + 1) / (m + 1), m + 1), (0, m, ones / m, m)]
    counts = _winners(values, RANDOM_TIES, DRAWS, rng)
    assert p_value_of_same_counts(counts, plain_winners(laws, rng)) > ALPHA


def test_without_prior_rewards_untried_arms_go_first(seed: int) -> None:
    values = prior_values(3, 0, 0)
    set_bootstrap(values, 1, 4, 4.0)
    counts = _winners(values, RANDOM_TIES, 1_000, stream(seed))
    assert counts[1] == 0 and counts.min() == 0 and (counts > 0).sum() == 2


def test_the_order_holds_after_every_change_of_a_key(seed: int) -> None:
    rng = stream(seed)
    for n_arms in (1, 2, 3, 10, 33):
        order, keys = without_keys(n_arms), np.full(n_arms, -np.inf)
        for _ in range(200):
            arm, key = int(rng.integers(n_arms)), float(rng.integers(20))
            set_key(order, arm, key)
            keys[arm] = key
            assert np.array_equal(order.keys, np.sort(keys)[::-1])
            assert np.array_equal(order.keys, keys[order.arms])
            assert np.array_equal(order.arms[order.positions], np.arange(n_arms))
            equal = order.keys[1:] == order.keys[:-1]
            assert np.all(np.diff(order.arms)[equal] > 0)
