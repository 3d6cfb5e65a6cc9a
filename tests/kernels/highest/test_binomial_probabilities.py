"""Probabilities of the highest of binomial values, against all their points and against draws."""

import numpy as np
import pytest
from kernels.highest.binomial_laws import (
    giro,
    law_of_all_points,
    law_of_bells,
    phe,
    set_all,
)
from laws import assert_follows

from giro.kernels.highest.binomial_argmax import (
    BinomialValues,
    binomial_argmax,
    empty_values,
    set_bootstrap,
    set_share,
    set_variant,
)
from giro.kernels.highest.binomial_probabilities import (
    Laws,
    are_continuous,
    binomial_argmax_probabilities,
    law_of,
    put_tops,
)
from giro.seeds import stream

RANDOM_TIES = np.empty(0)


def on_lattices(values: BinomialValues, arms: np.ndarray, ranking: np.ndarray) -> np.ndarray:
    """Return the law without any continuous value."""
    return law_if(values, arms, ranking, np.zeros(arms.size, np.bool_))


def law_if(
    values: BinomialValues, arms: np.ndarray, ranking: np.ndarray, continuous: np.ndarray
) -> np.ndarray:
    laws, top = Laws(values.variants, values.bounds), np.empty(arms.size)
    floor = put_tops(laws, arms, top)
    return np.asarray(law_of(laws, arms, ranking, top, floor, continuous))


def chosen(values: BinomialValues, n_arms: int) -> tuple[np.ndarray, float]:
    """Return which values are continuous, and how many points of lattices there are."""
    laws, top, arms = Laws(values.variants, values.bounds), np.empty(n_arms), np.arange(n_arms)
    floor = put_tops(laws, arms, top)
    points = values.variants["m"][:, 0] * np.maximum(top - floor, 0.0)
    return np.asarray(are_continuous(laws, arms, top, floor)), float(points.sum())


CASES = {
    "one pull": ([1, 1, 1], [0, 1, 1]),
    "few": ([3, 7, 5, 5], [1, 5, 3, 3]),
    "alike": ([100, 103, 95, 100], [40, 45, 37, 40]),
    "equal": ([1000] * 5, [400] * 5),
    "thousands": ([10_000, 10_001, 9_900], [4_000, 4_050, 3_950]),
    "a million": ([333_333, 333_334, 333_000], [133_000, 133_400, 133_100]),
    "ten million": ([3_000_000, 3_000_017, 3_100_000], [1_200_000, 1_200_900, 1_239_000]),
    "one best": ([900_000, 300, 90, 20, 1], [540_000, 130, 31, 5, 0]),
    "a close rival": ([10_000_000, 5_000, 40], [6_000_000, 2_980, 22]),
    "rare ones": ([100_000, 90_000, 5], [3, 2, 0]),
    "all ones": ([50, 40, 3], [50, 40, 3]),
}


@pytest.mark.parametrize("ranking", [RANDOM_TIES, np.arange(5)[::-1].astype(float)])
@pytest.mark.parametrize("kind", ["0", "1", "1/3", "0.7", "phe"])
@pytest.mark.parametrize("case", CASES)
def test_the_law_is_the_sum_over_all_points(case: str, kind: str, ranking: np.ndarray) -> None:
    a = 1 / 3 if kind == "1/3" else float(kind) if kind != "phe" else 0.0
    laws = phe(*CASES[case]) if kind == "phe" else giro(*CASES[case], a)
    law = on_lattices(set_all(laws), np.arange(len(laws)), ranking)
    assert law == pytest.approx(law_of_all_points(laws, ranking[: len(laws)]), abs=1e-12)
    assert law.sum() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("n_arms", [2, 17, 64, 100])
def test_many_arms_of_all_sizes_have_the_law_of_all_points(n_arms: int, seed: int) -> None:
    rng = stream(seed, n_arms)
    pulls = np.exp(np.log(3000) * rng.random(n_arms)).astype(int)
    ones = rng.binomial(pulls, 0.4)
    laws, ranking = giro(pulls.tolist(), ones.tolist(), 1.0), rng.permutation(n_arms).astype(float)
    law = on_lattices(set_all(laws), np.arange(n_arms), ranking)
    assert law == pytest.approx(law_of_all_points(laws, ranking), abs=1e-12)


def test_an_arm_far_above_all_others_is_certain() -> None:
    values = empty_values(2)
    set_bootstrap(values, 0, 10**6, 400_000.0)
    set_bootstrap(values, 1, 10**6, 600_000.0)
    assert binomial_argmax_probabilities(values, np.arange(2), RANDOM_TIES).tolist() == [0, 1]


@pytest.mark.parametrize(
    "ranking", [RANDOM_TIES, np.array([2.0, 0.0, 1.0])], ids=["random", "fixed"]
)
def test_draws_follow_the_probabilities(ranking: np.ndarray, seed: int) -> None:
    values, rng, arms = empty_values(3), stream(seed), np.arange(3)
    assert binomial_argmax_probabilities(values, arms, ranking).tolist() == (
        [1 / 3] * 3 if ranking.size == 0 else [1, 0, 0]
    )
    for arm, (offset, n, m) in enumerate([(1.0, 4, 6), (0.0, 7, 7), (2.5, 3, 8)]):
        set_variant(values, arm, 0, offset, n, 0.5, m)
        set_variant(values, arm, 1, offset, n + 2, 0.4, m + 1)
        set_share(values, arm, 0.3 * arm)
    law = binomial_argmax_probabilities(values, arms, ranking)
    assert law.sum() == pytest.approx(1.0, abs=1e-13)
    assert_follows([binomial_argmax(values, arms, ranking, rng) for _ in range(4_000)], law)
    law = binomial_argmax_probabilities(values, arms[1:], ranking)  # of some arms
    assert law.sum() == pytest.approx(1.0, abs=1e-13)
    drawn = np.array([binomial_argmax(values, arms[1:], ranking, rng) for _ in range(4_000)])
    assert_follows(drawn - 1, law)


BELLS = {  # pulls and ones, and which arms have bells
    "alike": ([1000, 1003, 995], [400, 405, 397], [1, 1, 1]),
    "one": ([2000, 90, 40], [980, 43, 20], [1, 0, 0]),
    "some": ([10_000, 700, 150, 100, 100, 13], [5000, 340, 75, 48, 48, 5], [1, 1, 0, 0, 0, 0]),
    "a million": ([333_333, 333_334, 300], [133_000, 133_400, 110], [1, 1, 0]),
    "ten million": (
        [3_000_000, 3_000_017, 900, 160],
        [1_200_000, 1_200_900, 350, 60],
        [1, 1, 1, 0],
    ),
    "the least": ([200, 180, 175, 170, 150], [100, 90, 90, 80, 77], [1, 1, 1, 1, 0]),
    "a far rival": ([100_000, 1, 2], [52_000, 1, 0], [1, 0, 0]),
}


@pytest.mark.parametrize("ranking", [RANDOM_TIES, np.arange(6)[::-1].astype(float)])
@pytest.mark.parametrize("a", [1.0, 0.7])
@pytest.mark.parametrize("case", BELLS)
def test_the_law_of_bells_and_lattices_is_their_integral(
    case: str, a: float, ranking: np.ndarray
) -> None:
    pulls, ones, bells = BELLS[case]
    laws, continuous = giro(pulls, ones, a), [bool(each) for each in bells]
    arms = np.arange(len(laws))
    law = law_if(set_all(laws), arms, ranking, np.array(continuous))
    assert law == pytest.approx(law_of_bells(laws, continuous, ranking[: arms.size]), abs=1e-12)
    assert law.sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(("pulls", "mean"), [(10**7, 1e-4), (10**6, 1 - 1e-3)])
def test_the_law_of_rare_ones_is_the_integral(pulls: int, mean: float) -> None:
    ones = [int(pulls * mean), int(0.9 * pulls * mean) + 40, 30]
    laws = giro([pulls, int(0.9 * pulls), 10_000], ones, 0.0)
    law = law_if(set_all(laws), np.arange(3), RANDOM_TIES, np.array([True, True, False]))
    assert law == pytest.approx(law_of_bells(laws, [True, True, False], RANDOM_TIES), abs=1e-12)


def test_the_law_changes_little_where_values_become_continuous(seed: int) -> None:
    rng, changes = stream(seed), []
    for size in (150, 600, 2400, 9600):
        pulls = rng.multinomial(10 * size, [0.1] * 10)
        laws = giro(pulls.tolist(), rng.binomial(pulls, 0.4).tolist(), 1.0)
        law = on_lattices(set_all(laws), np.arange(10), RANDOM_TIES)
        change = law_if(set_all(laws), np.arange(10), RANDOM_TIES, np.ones(10, np.bool_)) - law
        changes.append(np.abs(change).max())
        assert 0.0 < changes[-1] < 0.14 / np.sqrt(0.23 * 3 * size)  # of the least deviation
    assert changes[-1] < 1e-3


@pytest.mark.parametrize("ones", range(80, 96, 3))
def test_beside_a_needle_the_law_changes_by_half_a_point_at_most(ones: int) -> None:
    laws = giro([175, 10**7], [ones, 5 * 10**6], 1.0)  # the least deviation that a bell can have
    law = on_lattices(set_all(laws), np.arange(2), RANDOM_TIES)
    change = law_if(set_all(laws), np.arange(2), RANDOM_TIES, np.ones(2, np.bool_)) - law
    assert abs(change).max() < 0.2 / np.sqrt(128) < 0.02


def test_a_density_is_no_stand_in_for_lattices_to_many_digits() -> None:
    laws = giro([333_333, 333_334], [133_000, 133_200], 1.0)
    change = law_of_bells(laws, [True, True], RANDOM_TIES) - law_of_all_points(laws, RANDOM_TIES)
    assert 1e-6 < abs(change).max() < 1e-3


@pytest.mark.parametrize("shares", [[1] * 10, [900, 40, 20, 10, 10, 5, 5, 4, 3, 3]])
def test_points_are_walked_only_where_they_are_few(shares: list[int], seed: int) -> None:
    rng, walked = stream(seed), []
    for rewards in np.logspace(2, 7, 26):
        pulls = np.maximum(1, (rewards * np.array(shares) / sum(shares)).astype(int))
        laws = giro(pulls.tolist(), rng.binomial(pulls, 0.5).tolist(), 1.0)
        continuous, points = chosen(set_all(laws), 10)
        walked.append(0.0 if continuous.any() else points)
    assert 1000 < max(walked) < 8000
    assert walked[-1] == 0.0
