"""Bells: the continuous binomial beside the binomial, and how many panels a race takes."""

import math

import numpy as np
import pytest
from kernels.highest.binomial_laws import bell

from giro.kernels.highest.bells import BELL, race
from giro.kernels.highest.lattices import LATTICE, queue_of
from giro.kernels.highest.probabilities import before_all


@pytest.mark.parametrize(("n", "p"), [(512, 0.5), (13_000, 0.01), (10**6, 0.9)])
def test_mass_mean_and_variance_are_those_of_the_binomial(n: int, p: float) -> None:
    deviation = math.sqrt(n * p * (1 - p))
    s = n * p + deviation * np.linspace(-11, 11, 5001)  # the rule of trapezia is exact for bumps
    mass = bell(s / n, n, p) / n * deviation * 22 / 5000
    assert mass.sum() == pytest.approx(1.0, abs=1e-13)
    assert (mass * (s - n * p)).sum() == pytest.approx(0.0, abs=1e-11 * deviation)
    assert (mass * (s - n * p) ** 2).sum() == pytest.approx(deviation**2, rel=1e-12)


def test_at_whole_numbers_it_is_the_binomial() -> None:
    for ones in (150, 256, 300):
        wanted = math.comb(512, ones) / 2**512
        assert bell(np.array(ones / 512), 512, 0.5) / 512 == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("n_arms", [2, 10, 100])
def test_a_race_takes_a_few_panels_after_any_number_of_rewards(n_arms: int) -> None:
    nobody = np.zeros(1, LATTICE)
    nobody["x"] = -np.inf
    for n in (10**3, 10**4, 10**5, 10**6, 10**7):
        bells = np.zeros(n_arms, BELL)
        bells["row"] = bells["owner"] = np.arange(n_arms)
        deviation = math.sqrt(0.24 / n)
        bells["weight"], bells["n"], bells["scale"] = 1.0, n, deviation
        bells["p"] = 0.4 + deviation * np.linspace(-1, 1, n_arms)
        bells["high"] = bells["p"] + 8.5 * deviation
        standing = before_all(n_arms, 1.0)
        floor = bells["p"].max() - 8.5 * deviation
        assert race(standing, bells, queue_of(nobody), np.empty(0), floor) <= 9
        assert standing.chances.sum() == pytest.approx(1.0, abs=1e-12)
