"""Giro's engine chooses arms with exactly the law of resampling every entry."""

import csv
from pathlib import Path

import numpy as np
import pytest
from laws import ALPHA, p_value_of_same_counts
from literal import Setup, counts_by_giro, counts_by_literal_resampling, ranking_of
from scipy import stats

import giro.kernels.contest
import giro.kernels.gate
from giro.seeds import stream

SIZES = ((1, 1), (1, 5, 5), (5, 50, 50), (50, 50, 300), (30, 300, 300, 2000), (2000, 2000))
A = (0.0, 0.1, 1 / 3, 1.0, 2.0)
KINDS = ("continuous", "narrow", "three-valued", "constant", "extreme", "mixed", "bernoulli")


def make_rewards(kind: str, size: int, arm: int, rng: np.random.Generator) -> np.ndarray:
    """Return rewards whose means differ so little between arms that each wins now and then."""
    mean = 0.5 + 0.15 * (1 if arm % 2 else -1) / np.sqrt(size)
    match kind:
        case "continuous":
            return rng.beta(2 * mean, 2 * (1 - mean), size)
        case "narrow":
            return rng.beta(40 * mean, 40 * (1 - mean), size)
        case "three-valued":
            return rng.choice([0.0, 0.5, 1.0], size, p=[0.7 - mean / 1.25, 0.3, mean / 1.25])
        case "constant":
            return np.full(size, [0.3, 0.3, 0.31, 0.7][arm])
        case "extreme":
            return np.full(size, float(arm % 2)) if arm < 2 else rng.choice([0.0, 1.0, 0.5], size)
        case "mixed":
            values = rng.beta(2, 2, size)
            return values if arm % 2 else (rng.random(size) < values).astype(float)
        case _:
            return (rng.random(size) < mean).astype(float)


def all_setups(seed: int) -> list[Setup]:
    setups = []
    for i, kind in enumerate(KINDS):
        for j, sizes in enumerate(SIZES):
            for a in A:
                ties = "fixed" if (i + j) % 2 else "random"
                rng = stream(seed, i, j)
                rewards = [make_rewards(kind, s, arm, rng) for arm, s in enumerate(sizes)]
                setups.append(Setup(rewards, a, ties))
    return setups


def p_value_of(setup: Setup, number: int, seed: int, budget: float) -> float:
    """Return the p-value that engine and literal resampling agree in one setup.

    `budget` is the number of entries that literal resampling may draw.
    """
    rng = stream(seed, 7, number)
    entries = sum(s.size * (1 + 2 * setup.a) for s in setup.rewards)
    draws = int(np.clip(budget / entries, 300, 40_000))
    ranking = ranking_of(setup, rng)
    fast = counts_by_giro(setup, ranking, 2 * draws, rng)
    literal = counts_by_literal_resampling(setup, ranking, draws, rng)
    return p_value_of_same_counts(fast, literal)


def test_engine_and_literal_resampling_agree_in_every_setup(
    seed: int, request: pytest.FixtureRequest
) -> None:
    budget = 6e7 if request.config.getoption("--thorough") else 1.5e6
    setups = all_setups(seed)
    p_values = np.array([p_value_of(s, i, seed, budget) for i, s in enumerate(setups)])
    if request.config.getoption("--thorough"):
        write_results(setups, p_values, seed)
    assert p_values.min() > ALPHA, f"worst: {setups[p_values.argmin()]}, p = {p_values.min():.2g}"
    decisive = p_values[p_values < 1.0]  # a setup with a certain winner has nothing to test
    assert decisive.size > 100
    assert stats.kstest(decisive, "uniform").pvalue > 1e-4


def write_results(setups: list[Setup], p_values: np.ndarray, seed: int) -> None:
    path = Path(__file__).parents[2] / "results" / "exactness.csv"
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["seed", "a", "ties", "sizes", "first_rewards", "p_value"])
        for setup, p_value in zip(setups, p_values, strict=True):
            sizes = " ".join(str(rewards.size) for rewards in setup.rewards)
            first = " ".join(f"{rewards[0]:.3f}" for rewards in setup.rewards)
            rows.writerow([seed, f"{setup.a:.4g}", setup.ties, sizes, first, f"{p_value:.4f}"])
