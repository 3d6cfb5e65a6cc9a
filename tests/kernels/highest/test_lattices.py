"""Probabilities of the highest of binomial values, against all their points and against draws."""

import numpy as np
import pytest
from laws import assert_follows
from scipy import special
from scipy.stats import binom

from giro.kernels.giro.pseudo_rewards import pseudo_count_distribution
from giro.kernels.highest.binomial_argmax import (
    BinomialValues,
    binomial_argmax,
    empty_values,
    set_bootstrap,
    set_share,
    set_variant,
)
from giro.kernels.highest.lattices import (
    binomial_argmax_probabilities,
    binomial_probability,
    binomial_range,
)
from giro.seeds import stream

RANDOM_TIES = np.empty(0)
RARE = 32.0


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.5), (7, 0.1), (1000, 0.3), (10**6, 0.999), (40, 1 / 41), (10**7, 0.5)]
)
def test_binomial_probabilities_are_exact_where_they_count(n: int, p: float) -> None:
    low, high = binomial_range(n, p, RARE)
    ones, law = law_in_long_numbers(n, p)
    tenth = slice(None, None, max(1, ones.size // 100))
    probability = [binomial_probability(int(k), n, p) for k in ones[tenth]]
    assert probability == pytest.approx(law[tenth].astype(float), rel=1e-11, abs=1e-18)
    assert binom.cdf(low - 1, n, p) + binom.sf(high, n, p) < 2 * np.exp(-RARE)
    assert high - low < 16 * np.sqrt(n * p * (1 - p)) + 30


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_coins_have_one_outcome(p: float) -> None:
    assert binomial_range(9, p, RARE) == (9 * p, 9 * p)
    assert [binomial_probability(k, 9, p) for k in (0, 4, 9)] == [1 - p, 0, p]


def law_in_long_numbers(n: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of ones within 13 standard deviations, and their probabilities."""
    reach = 13 * np.sqrt(n * p * (1 - p)) + 60
    ones = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach)) + 1)
    odds = np.longdouble(p) / (1 - np.longdouble(p)) if p < 1 else np.longdouble(np.inf)
    if odds in {0, np.inf}:
        return np.array([n * p], np.int64), np.ones(1, np.longdouble)
    with np.errstate(divide="ignore"):
        steps = np.log((n - ones[:-1]) * odds / ones[1:])
    middle = int(np.argmin(abs(ones - n * p)))
    logs = np.concatenate([[0], np.cumsum(steps)])
    masses = np.exp(logs - logs[middle])
    return ones, masses / masses.sum()


Law = list[tuple[float, float, int, float, int]]  # weight, offset, n, p, m of each variant


def law_of_all_points(laws: list[Law], ranking: np.ndarray) -> np.ndarray:
    """Return the probability of each arm, summed over all points of each of them.

    Of tied arms the one with the largest number wins: its rank, or one drawn from [0, 1].
    """
    points = []
    for law in laws:
        parts = [
            (w, (o + s) / m, b) for w, o, n, p, m in law for s, b in [law_in_long_numbers(n, p)]
        ]
        values = np.concatenate([x for _, x, _ in parts])
        masses = np.concatenate([w * b for w, _, b in parts])
        values, place = np.unique(values, return_inverse=True)
        sums = np.zeros(values.size, np.longdouble)
        np.add.at(sums, place, masses)
        points.append((values, sums, np.concatenate([[0], np.cumsum(sums)])))
    nodes, weights = np.polynomial.legendre.leggauss(8)  # exact for up to 16 arms
    chances = np.zeros(len(laws), np.longdouble)
    for j, (values, masses, _) in enumerate(points):
        wins = np.ones((8, values.size), np.longdouble)
        for i, (others, theirs, below) in enumerate(points):
            if i != j:
                place = np.searchsorted(others, values)
                tied = others[np.minimum(place, others.size - 1)] == values
                here = np.where(tied, theirs[np.minimum(place, others.size - 1)], 0)
                share = ranking[i] < ranking[j] if ranking.size else (nodes[:, None] + 1) / 2
                wins *= below[place] + share * here
        chances[j] = (masses * (weights[:, None] / 2 * wins).sum(axis=0)).sum()
    return chances.astype(float)


def set_all(laws: list[Law]) -> BinomialValues:
    values = empty_values(len(laws))
    for arm, law in enumerate(laws):
        for variant, (_, offset, n, p, m) in enumerate(law):
            set_variant(values, arm, variant, offset, n, p, m)
        set_share(values, arm, law[1][0] if len(law) > 1 else 0.0)
    return values


def giro(pulls: list[int], ones: list[int], a: float) -> list[Law]:
    laws = []
    for s, total in zip(pulls, ones, strict=True):
        floor, share = pseudo_count_distribution(a, s)
        sizes = [(1.0 - share, floor)] + ([(share, floor + 1)] if share > 0.0 else [])
        laws.append([(w, 0.0, s + 2 * k, (total + k) / (s + 2 * k), s + 2 * k) for w, k in sizes])
    return laws


def phe(pulls: list[int], ones: list[int]) -> list[Law]:
    return [
        [(1.0, float(total), int(1.1 * s) + 1, 0.5, s + int(1.1 * s) + 1)]
        for s, total in zip(pulls, ones, strict=True)
    ]


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
    law = binomial_argmax_probabilities(set_all(laws), np.arange(len(laws)), ranking)
    assert law == pytest.approx(law_of_all_points(laws, ranking[: len(laws)]), abs=1e-12)
    assert law.sum() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("n_arms", [2, 17, 64, 100])
def test_many_arms_of_all_sizes_have_the_law_of_all_points(n_arms: int, seed: int) -> None:
    rng = stream(seed, n_arms)
    pulls = np.exp(np.log(3000) * rng.random(n_arms)).astype(int)
    ones = rng.binomial(pulls, 0.4)
    laws, ranking = giro(pulls.tolist(), ones.tolist(), 1.0), rng.permutation(n_arms).astype(float)
    law = binomial_argmax_probabilities(set_all(laws), np.arange(n_arms), ranking)
    assert law == pytest.approx(law_of_all_points(laws, ranking), abs=1e-12)


def test_a_density_is_no_stand_in_for_lattices() -> None:
    pulls, ones = [333_333, 333_334], [133_000, 133_200]
    laws = giro(pulls, ones, 1.0)
    means, sizes = np.array([law[0][3] for law in laws]), np.array([law[0][2] for law in laws])
    grid = np.linspace(0.46, 0.475, 20_001)
    ends = sizes[:, None] * grid - 0.5  # P(S <= k) for real k, in the middle between two points
    below = special.betaincc(ends + 1, sizes[:, None] - ends, means[:, None])
    smooth = (np.diff(below[0]) * (below[1][1:] + below[1][:-1]) / 2).sum()
    law = binomial_argmax_probabilities(set_all(laws), np.arange(2), RANDOM_TIES)
    assert law == pytest.approx([smooth, 1 - smooth], abs=1e-3)
    assert abs(law[0] - smooth) > 1e-6  # the rule of trapezia is right to 1e-8


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
