"""Exact contextual Giro on Covertype: against scikit-learn's Ridge, and as rounds become more."""

from collections.abc import Iterator

import numpy as np
import plain_contextual_giro
from ratio import Play, Ratio, in_turn, ns_per_round
from rows_in_order import rows_in_order
from threadpoolctl import threadpool_limits

from giro import Problem
from giro.seeds import stream

POLICY = "contextual-giro:a=1,model=linear"
PROBLEM = "classification:data=covertype"
FASTER = 10.0
LINEAR_GROWTH = 2.2  # of the cost of a round when all rounds double; 2 and noise


def everything(*, quick: bool) -> Iterator[Ratio]:
    """Yield both bars."""
    yield against_ridge(rounds=200 if quick else 5_000)
    yield growth(most=1_000 if quick else 20_000)


def against_ridge(*, rounds: int) -> Ratio:
    """Return one run each, on the same rows, with one thread for BLAS."""
    problem = Problem.parse(PROBLEM)
    contexts, paid = rows_in_order(problem, rounds=rounds, seed=0, run=0)
    rows, labels = np.column_stack([contexts, np.ones(rounds)]), paid.argmax(axis=1)
    rewards: dict[str, float] = {}
    ours = Play(POLICY, PROBLEM, rounds).compiled()

    def play_ours() -> None:
        rewards["ours"] = float(ours().reward[0, -1]) / rounds

    def play_plain() -> None:
        rewards["plain"] = plain_contextual_giro.play(rows, labels, problem.n_arms, stream(1))

    with threadpool_limits(1):
        costs = in_turn({POLICY: play_ours, "Ridge": play_plain}, repeats=1)
    return Ratio.faster(
        f"{POLICY}, covertype, {rounds:,} rounds: giro against scikit-learn's Ridge",
        ours=1e6 * costs[POLICY].cpu / rounds,
        theirs=1e6 * costs["Ridge"].cpu / rounds,
        bar=FASTER,
        unit="µs per round",
        note=f"mean reward {rewards['ours']:.3f}, theirs {rewards['plain']:.3f}",
    )


def growth(*, most: int) -> Ratio:
    """Return the time of a round of runs twice as long, which goes through twice as much."""
    plays = {f"{n:,}": Play(POLICY, PROBLEM, n) for n in (most // 2, most)}
    first, last = ns_per_round(plays, repeats=2).values()
    name = f"growth: {POLICY}, covertype, {most:,} rounds against {most // 2:,}"
    return Ratio.at_most(name, ours=last, theirs=first, bar=LINEAR_GROWTH, unit="ns per round")
