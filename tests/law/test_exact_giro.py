"""Giro's engine chooses arms with exactly the law of resampling every entry."""

from pathlib import Path

import numpy as np
import pytest
from engine import (
    Setup,
    counts_by_giro,
    counts_by_literal_resampling,
    fast_state,
    ranking_of,
)
from laws import ALPHA, p_value_of_same_counts
from scipy import stats

from giro.compiling import plain
from giro.kernels.giro import lazy_argmax, partial_sample
from giro.kernels.giro.lazy_argmax import tail_test
from giro.kernels.highest import binomial_argmax
from giro.kernels.highest.ties import Ties
from giro.policies.giro import Giro
from giro.seeds import stream
from giro.tables import write_csv
from giro.version import stamp

SIZES = ((1, 1), (1, 5, 5), (5, 50, 50), (50, 50, 300), (30, 300, 300, 2000), (2000, 2000))
A = (0.0, 0.1, 1 / 3, 1.0, 2.0)
KINDS = ("continuous", "narrow", "three-valued", "constant", "extreme", "mixed", "bernoulli")


def make_rewards(kind: str, size: int, arm: int, rng: np.random.Generator) -> np.ndarray:
    """Return rewards whose means differ so little between arms that each wins now and then."""
    mean = 0.5 + 0.15 * (1 if arm % 2 else -1) / np.sqrt(size)
    values: np.ndarray
    if kind == "continuous":
        values = rng.beta(2 * mean, 2 * (1 - mean), size)
    elif kind == "narrow":
        values = rng.beta(40 * mean, 40 * (1 - mean), size)
    elif kind == "three-valued":
        values = rng.choice([0.0, 0.5, 1.0], size, p=[0.7 - mean / 1.25, 0.3, mean / 1.25])
    elif kind == "constant":
        values = np.full(size, [0.3, 0.3, 0.31, 0.7][arm])
    elif kind == "extreme":
        values = np.full(size, float(arm)) if arm < 2 else rng.choice([0.0, 1.0, 0.5], size)
    elif kind == "mixed" and arm % 2:
        values = rng.beta(2, 2, size)
    else:
        values = (rng.random(size) < mean).astype(float)
    return values


def all_setups(seed: int) -> list[Setup]:
    setups = []
    for i, kind in enumerate(KINDS):
        for j, sizes in enumerate(SIZES):
            for a in A:
                ties: Ties = "fixed" if (i + j) % 2 else "random"
                rng = stream(seed, i, j)
                rewards = [make_rewards(kind, s, arm, rng) for arm, s in enumerate(sizes)]
                setups.append(Setup(rewards, a, ties, some_arms(len(sizes), i + j)))
    return setups


def some_arms(n_arms: int, number: int) -> tuple[int, ...]:
    """Return which arms are on offer: mostly all, sometimes all but one."""
    if n_arms < 3 or number % 3:
        return ()
    return tuple(arm for arm in range(n_arms) if arm != number % n_arms)


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
    budget = 6e7 if request.config.getoption("--thorough") else 1e6
    setups = all_setups(seed)
    p_values = np.array([p_value_of(s, i, seed, budget) for i, s in enumerate(setups)])
    if request.config.getoption("--thorough"):
        write_results(setups, p_values, seed)
    assert p_values.min() > ALPHA, f"worst: {setups[p_values.argmin()]}, p = {p_values.min():.2g}"
    decisive = p_values[p_values < 1.0]  # a setup with a certain winner has nothing to test
    assert decisive.size > 100
    assert stats.kstest(decisive, "uniform").pvalue > 1e-4


def write_results(setups: list[Setup], p_values: np.ndarray, seed: int) -> None:
    path = Path(__file__).parents[2] / "results" / "exactness" / "setups.csv"
    records = [
        {
            "seed": seed,
            "a": f"{setup.a:.4g}",
            "ties": setup.ties,
            "sizes": " ".join(str(rewards.size) for rewards in setup.rewards),
            "first_rewards": " ".join(f"{rewards[0]:.3f}" for rewards in setup.rewards),
            "p_value": f"{p_value:.4f}",
        }
        for setup, p_value in zip(setups, p_values, strict=True)
    ]
    write_csv(path, records, note=str(stamp("python -m pytest tests/law --thorough")))


def plain_draw_after_the_test(state, arm, x, rng) -> None:
    """Forget that the test must be followed by the distribution given that x is reached."""
    tail_test(state, arm, x, rng)
    if not state.rewards.arms[arm].out:
        partial_sample.restart(state, arm)
        partial_sample.finish(state, arm, 0.0, rng)


def a_test_that_none_passes(state, arm, x, rng) -> None:
    state.rewards.arms[arm].out = True


def value_without_second_test(values, arm, x, patience, rng) -> float:
    """Take the weighted draw as it is."""
    law = values.variants[arm, 0]
    return max(x, rng.binomial(law.n, (law.m * x - law.offset) / law.n) / law.m)


BROKEN = {
    "plain draw after the test": (lazy_argmax, "tail_test", plain_draw_after_the_test),
    "a test that none passes": (lazy_argmax, "tail_test", a_test_that_none_passes),
    "no second test of binomials": (
        binomial_argmax,
        "_value_if_reached",
        value_without_second_test,
    ),
}


@pytest.mark.parametrize("what", [None, *BROKEN])
def test_a_broken_tail_test_is_caught(what: str | None, seed: int, monkeypatch) -> None:
    is_binary = what is not None and "binomials" in what
    rng = stream(seed, 9)
    leader = (rng.random(400) < 0.6).astype(float) if is_binary else rng.beta(3, 2, 400)
    others = [np.append(np.zeros(22), np.ones(8)) if is_binary else rng.beta(2, 6, 30)] * 3
    setup = Setup([leader, *others], 1.0, "random")
    callers = {
        lazy_argmax: ["_lay_threshold", "lazy_argmax"],
        binomial_argmax: ["_value_above", "_argmax_of_sorted", "binomial_argmax"],
    }
    for module, names in callers.items():
        for name in names:
            monkeypatch.setattr(module, name, getattr(module, name).py_func)
    monkeypatch.setattr("giro.policies.giro.lazy_argmax", lazy_argmax.lazy_argmax)
    monkeypatch.setattr("giro.policies.giro.binomial_argmax", binomial_argmax.binomial_argmax)
    if what is not None:
        monkeypatch.setattr(*BROKEN[what])
    ranking = ranking_of(setup, rng)
    state = fast_state(setup, ranking, rng)
    counts = np.zeros(4, np.int64)
    for _ in range(6000):
        counts[plain(Giro.choose)(state, setup.offer, rng)] += 1
    literal = counts_by_literal_resampling(setup, ranking, 40_000, rng)
    p_value = p_value_of_same_counts(counts, literal)
    assert p_value > ALPHA if what is None else p_value < ALPHA
