"""What a round of Giro costs with many Bernoulli arms."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import plain_giro  # noqa: F401  # registers the plain policies
from figures import Curve, keep_curves
from ratio import Play, Ratio, ns_per_round

ARMS = (10, 30, 100, 300, 1000)
ROUNDS, PLAIN_ROUNDS = 1_000_000, 50_000  # plain drawing costs the same in every later round
QUICK_ROUNDS, QUICK_PLAIN_ROUNDS = 50_000, 5_000
RUNS = 10  # instances: how close the best of few arms are decides what a round costs
BAR = 20.0


def cost_against_arms(folder: Path, *, quick: bool) -> Iterator[Ratio]:
    """Time per round with 1,000 arms against ten; keeps those of all numbers of arms."""
    rounds, plain_rounds = (QUICK_ROUNDS, QUICK_PLAIN_ROUNDS) if quick else (ROUNDS, PLAIN_ROUNDS)
    ours = cost_of_each("giro:a=1", rounds, quick=quick)
    plain = cost_of_each("binomial-giro:a=1", plain_rounds, quick=quick)
    keep_curves(
        folder / "cost_against_arms",
        [
            Curve(f"giro, {rounds:,} rounds", np.array(ARMS), ours),
            Curve(f"a binomial for each arm, {plain_rounds:,} rounds", np.array(ARMS), plain),
        ],
        x="arms K",
    )
    yield Ratio.at_most(
        f"giro:a=1, bernoulli, {rounds:,} rounds: {ARMS[-1]:,} arms against {ARMS[0]}",
        ours=float(ours[-1]),
        theirs=float(ours[0]),
        bar=BAR,
        unit="ns per round",
        note=f"plain drawing {plain[-1] / plain[0]:.0f}x, {plain[-1]:,.0f} ns with {ARMS[-1]:,}",
    )


def cost_of_each(policy: str, rounds: int, *, quick: bool) -> np.ndarray:
    """Return nanoseconds per round for each number of arms."""
    plays = {
        f"{policy}, {arms} arms": Play(
            policy, f"bernoulli:n_arms={arms}", rounds, 2 if quick else RUNS
        )
        for arms in ARMS
    }
    return np.array(list(ns_per_round(plays, repeats=1 if quick else 2).values()))
