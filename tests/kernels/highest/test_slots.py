"""The slots of a ranking have the probabilities of the arms that are left, worked out anew."""

import numpy as np
import pytest

from giro.kernels.highest import slots
from giro.kernels.highest.densities import beta_argmax_probabilities
from giro.kernels.highest.slots import beta_race, chances_left
from giro.seeds import stream

CASES = {  # arms, and their rewards at most
    "untried": (300, 0),
    "few rewards": (300, 5),
    "many rewards": (100, 5_000),
    "few arms": (4, 100),
}


def drawn_arms(case: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return alpha and beta of arms with some rewards."""
    n_arms, most = CASES[case]
    rng = stream(seed)
    pulls = rng.integers(0, most + 1, n_arms)
    ones = rng.binomial(pulls, rng.random(n_arms))
    return 1.0 + ones, 1.0 + pulls - ones


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("goes", ["drawn", "best", "worst"])
def test_a_slot_has_the_probabilities_of_the_arms_left(case: str, goes: str, seed: int) -> None:
    alpha, beta = drawn_arms(case, seed)
    n_slots, rng = min(12, alpha.size), stream(seed, 1)
    race, left = beta_race(alpha, beta, n_slots), np.arange(alpha.size)
    for _ in range(n_slots - 1):
        chances = chances_left(race, left)
        wanted = beta_argmax_probabilities(alpha[left], beta[left])
        np.testing.assert_allclose(chances, wanted, rtol=0, atol=1e-12)
        gone = int(rng.choice(left.size, p=wanted))
        if goes != "drawn":
            gone = int(wanted.argmax() if goes == "best" else wanted.argmin())
        left = np.delete(left, gone)


def test_a_slot_beside_arms_far_above_all_others_is_right() -> None:
    alpha, beta = np.full(20, 10.0), np.full(20, 90.0)
    alpha[:5], beta[:5] = 9e5, 1e5  # all others are as good as certainly lower than each of these
    race = beta_race(alpha, beta, 6)
    left = np.arange(5, 20)
    np.testing.assert_allclose(chances_left(race, left), np.full(15, 1 / 15), rtol=1e-12)


def test_a_race_that_ends_too_early_is_noticed() -> None:
    alpha, beta = np.array([9e5, 10.0, 10.0]), np.array([1e5, 90.0, 90.0])
    assert chances_left(beta_race(alpha, beta, 1), np.array([1, 2])).size == 0
    assert chances_left(beta_race(alpha, beta, 2), np.array([1, 2])).tolist() == [0.5, 0.5]


def test_the_lowest_values_are_found() -> None:
    rng = stream(3)
    for n in range(6):
        values = rng.integers(0, 4, 5).astype(float)
        places = slots._lowest(values, n)
        assert sorted(values[places]) == sorted(values)[:n]
        assert len(set(places.tolist())) == min(n, 5)
