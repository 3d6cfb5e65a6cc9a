"""Exact laws of the arm with the highest value, against slow twins."""

import numpy as np
import pytest
from laws import assert_follows
from policies.choosing import winner_law

from giro.compiling import plain
from giro.kernels.highest.probabilities import (
    Points,
    _buckets,
    argmax_probabilities,
    argmax_probabilities_of_points,
    replica_probabilities,
)
from giro.kernels.highest.ties import argmax
from giro.seeds import stream

RANDOM_TIES = np.empty(0)


def points_of(values: list[np.ndarray], laws: list[np.ndarray]) -> Points:
    owner = np.repeat(np.arange(len(values)), [value.size for value in values])
    return Points(np.concatenate(values), np.concatenate(laws), owner, 1.0)


def some_laws(seed: int, n_arms: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    rng = stream(seed, n_arms)
    values = [rng.integers(0, 6, 4) / 5 for _ in range(n_arms)]  # many ties, some within an arm
    laws = [rng.dirichlet(np.ones(4)) for _ in range(n_arms)]
    return values, laws


@pytest.mark.parametrize("n_arms", [1, 2, 3, 5])
def test_random_ties_are_shared_as_by_enumeration(n_arms: int, seed: int) -> None:
    values, laws = some_laws(seed, n_arms)
    found = argmax_probabilities_of_points(points_of(values, laws), n_arms, RANDOM_TIES)
    assert found == pytest.approx(winner_law(values, laws), abs=1e-14)


@pytest.mark.parametrize("n_arms", [2, 3, 5])
def test_ties_by_rank_go_to_one_arm_as_by_enumeration(n_arms: int, seed: int) -> None:
    values, laws = some_laws(seed, n_arms)
    ranking = stream(seed, 9).permutation(n_arms).astype(float)
    above = [value + 1e-9 * rank for value, rank in zip(values, ranking, strict=True)]
    found = argmax_probabilities_of_points(points_of(values, laws), n_arms, ranking)
    assert found == pytest.approx(winner_law(above, laws), abs=1e-14)


@pytest.mark.parametrize("ranking", [RANDOM_TIES, np.array([1.0, 3.0, 0.0, 2.0])])
def test_argmax_follows_its_law(ranking: np.ndarray, seed: int) -> None:
    values, rng = np.array([0.5, 0.7, 0.7, 0.7]), stream(seed)
    law = argmax_probabilities(values, ranking)
    assert law.tolist() == ([0.0, 1 / 3, 1 / 3, 1 / 3] if ranking.size == 0 else [0, 1, 0, 0])
    arms = np.array([1, 4, 5, 9])  # those on offer
    wide = np.zeros(10)
    wide[arms] = ranking if ranking.size else 0.0
    ranking = wide if ranking.size else ranking
    drawn = [argmax(values, arms, ranking, rng) for _ in range(2_000)]
    assert_follows(np.searchsorted(arms, drawn), law)


def test_known_values_go_to_the_highest_and_ties_as_the_ranking_says() -> None:
    values = np.array([0.1, 0.7, 0.7, -1.0])
    assert argmax_probabilities(values, RANDOM_TIES).tolist() == [0, 0.5, 0.5, 0]
    assert argmax_probabilities(values, np.array([3.0, 2.0, 1.0, 0.0])).tolist() == [0, 1, 0, 0]
    assert argmax_probabilities(np.array([np.inf, 1, np.inf]), RANDOM_TIES).tolist() == [
        0.5,
        0,
        0.5,
    ]


@pytest.mark.parametrize("ranked", [False, True])
def test_the_law_of_the_best_replica_counts_every_combination(ranked: bool, seed: int) -> None:
    rng = stream(seed)
    values = rng.integers(0, 3, size=(4, 3)).astype(float)  # many ties
    ranking = rng.permutation(4).astype(float) if ranked else RANDOM_TIES
    naive = np.zeros(4)
    for picks in np.ndindex(3, 3, 3, 3):
        drawn = values[np.arange(4), picks]
        best = np.flatnonzero(drawn == drawn.max())
        if ranked:
            naive[argmax(drawn, np.arange(4), ranking, rng)] += 1
        else:
            naive[best] += 1 / best.size
    np.testing.assert_allclose(replica_probabilities(values, ranking), naive / 3**4, atol=1e-12)


def sharing_law(values: np.ndarray, laws: np.ndarray) -> np.ndarray:
    """Return the law of the winner by adding up how many others are at the same value."""
    n_arms, law = values.shape[0], np.zeros(values.shape[0])
    for arm in range(n_arms):
        for value, mass in zip(values[arm], laws[arm], strict=True):
            numbers = np.ones(1)  # [n] that n others are here, and none above
            for other in range(n_arms):
                if other != arm:
                    here = laws[other][values[other] == value].sum()
                    below = laws[other][values[other] < value].sum()
                    numbers = np.convolve(numbers, [below, here])
            law[arm] += mass * (numbers / np.arange(1, n_arms + 1)).sum()
    return law


@pytest.mark.parametrize(("n_arms", "top"), [(7, 1.0), (40, 0.01), (40, 0.9), (150, 0.7)])
def test_many_tied_arms_share_as_they_are_counted(n_arms: int, top: float, seed: int) -> None:
    rng = stream(seed, n_arms)
    values = np.tile([3.0, 2.0, 1.0], (n_arms, 1))
    highest = top * rng.random(n_arms)
    laws = np.stack([highest, 0.3 * (1 - highest), 0.7 * (1 - highest)], axis=1)
    found = argmax_probabilities_of_points(points_of(list(values), list(laws)), n_arms, RANDOM_TIES)
    assert found == pytest.approx(sharing_law(values, laws), abs=1e-14)


@pytest.mark.parametrize("spread", [1.0, 1e-7])
def test_many_replicas_win_as_the_product_of_distributions_says(spread: float, seed: int) -> None:
    n_arms, replicas, rng = 120, 9, stream(seed)
    values = 0.3 * rng.normal(size=(n_arms, 1)) + spread * rng.normal(size=(n_arms, replicas))
    values[3, 2] = 1e6  # far away, so that all others are near each other
    below = (values[:, :, None, None] > values).mean(axis=3)  # [arm, replica, other]
    below[np.arange(n_arms), :, np.arange(n_arms)] = 1.0
    law = below.prod(axis=2).mean(axis=1)
    assert replica_probabilities(values, RANDOM_TIES) == pytest.approx(law, abs=1e-14)
    ranking = rng.permutation(n_arms).astype(float)
    assert replica_probabilities(values, ranking) == pytest.approx(law, abs=1e-14)


@pytest.mark.parametrize("where", [0, 1, 2, 3])
def test_a_value_that_is_no_number_is_in_the_last_bucket(where: int) -> None:
    values = np.array([0.1, 0.0, 0.3, 0.2])
    values[where] = np.nan
    begin, order = _buckets(values)
    assert begin[0] == 0 and begin[-1] == 4
    assert sorted(order.tolist()) == [0, 1, 2, 3]
    assert where in order[begin[-2] :]


def test_a_value_that_is_no_number_ends_all_the_same() -> None:
    values = np.array([[0.1, np.nan], [0.3, 0.2]])
    points = Points(values.ravel(), np.ones(4), np.array([0, 0, 1, 1]), 2.0)
    assert argmax_probabilities_of_points(points, 2, RANDOM_TIES).size == 2


@pytest.mark.parametrize("low", [-np.inf, 0.0, np.inf])
def test_infinite_values_are_no_reason_to_warn_in_plain_python(low: float) -> None:
    values = np.full(200, low)
    values[7] = np.inf
    begin, order = plain(_buckets)(values)
    assert begin.tolist() == [0, 200]
    assert sorted(order.tolist()) == list(range(200))
