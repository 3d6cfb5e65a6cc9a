"""Giro's regret curves are those of Algorithm 2 written out entry by entry."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine import LiteralGiro
from laws import ALPHA
from scipy import stats

from giro.simulation.metrics import estimate
from giro.simulation.simulate import simulate
from giro.tables import write_csv
from giro.version import stamp

PROBLEMS = ("bernoulli", "beta:v=4", "beta:v=16")


def p_values(first, second) -> np.ndarray:
    """Return, per checkpoint, the chance of a mean difference in regret as large as found."""
    differences = (first.regret - second.regret).T
    found = [estimate(values) for values in differences]
    return np.array([2 * stats.norm.sf(abs(one.mean) / one.se) for one in found])


@pytest.mark.parametrize("problem", PROBLEMS)
def test_curves_agree_with_literal_ones(
    problem: str, seed: int, request: pytest.FixtureRequest
) -> None:
    thorough = request.config.getoption("--thorough")
    work: dict[str, Any] = (
        {"rounds": 10_000, "runs": 40} if thorough else {"rounds": 500, "runs": 120}
    )
    fast = simulate("giro:a=1", problem, seed=seed, points=5, **work)
    literal = simulate(LiteralGiro(a=1.0), problem, seed=seed, points=5, **work)
    if thorough:
        write_results(problem, seed, fast, literal)
    assert p_values(fast, literal).min() > ALPHA


def test_curves_of_another_a_do_not_agree(seed: int) -> None:
    work: dict[str, Any] = {"rounds": 500, "runs": 120, "seed": seed, "points": 5}
    fast = simulate("giro:a=1/2", "beta:v=4", **work)
    literal = simulate(LiteralGiro(a=1.0), "beta:v=4", **work)
    assert p_values(fast, literal).min() < ALPHA


def write_results(problem: str, seed: int, fast, literal) -> None:
    """Replace the lines of this problem in the file."""
    path = Path(__file__).parents[2] / "results" / "exactness" / "regret.csv"
    records = []
    if path.exists():
        with path.open(newline="") as file:
            there = csv.DictReader(line for line in file if not line.startswith("#"))
            records = [row for row in there if row["problem"] != problem]
    for point, p in enumerate(p_values(fast, literal)):
        ours, theirs = estimate(fast.regret[:, point]), estimate(literal.regret[:, point])
        numbers = {"giro": ours.mean, "giro_se": ours.se, "literal": theirs.mean}
        numbers |= {"literal_se": theirs.se, "p_value": p}
        row = {"problem": problem, "seed": seed, "runs": fast.runs.size}
        row |= {"round": fast.checkpoints[point]}
        records.append(row | {name: f"{number:.4g}" for name, number in numbers.items()})
    write_csv(path, records, note=str(stamp("python -m pytest tests/law --thorough")))
