"""Giro's ensemble against VW's, on the same rows of Covertype."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from classifying_peers import VW, played
from python_libraries import Trouble
from ratio import Ratio, cost_of, say
from rows_in_order import rows_in_order, write_rows

from giro import Policy, Problem, simulate
from giro.simulation.play import play_run

POLICY = "giro-ensemble:model=linear,replicas=20"
PROBLEM = "classification:data=covertype"
TIME_BAR, REWARD_BAR = 3.0, 1.0
LIMIT = 600.0


def against_bag(*, quick: bool) -> Iterator[Ratio]:
    """Seconds and mean reward; in each order both take a turn, the least time counts."""
    rounds, orders = (500, 1) if quick else (50_000, 3)
    name = f"{POLICY}, covertype, {rounds:,} rounds: giro against VW --cbify 7 --bag 5"
    try:
        ours, theirs = _played_in_turn(rounds, orders)
    except Trouble as trouble:
        yield Ratio.missing(name, unit="s", bar=TIME_BAR, note=str(trouble))
        return
    yield Ratio.at_most(
        name,
        ours=float(ours[:, 0].min()),
        theirs=float(theirs[:, 0].min()),
        bar=TIME_BAR,
        unit="s",
        note="VW reads its own cache, 5 replicas; ours 20",
    )
    yield Ratio.more(
        name,
        ours=float(ours[:, 1].mean()),
        theirs=float(theirs[:, 1].mean()),
        bar=REWARD_BAR,
        unit="mean reward",
        note=f"{orders} orders of the rows, the same for both",
    )


def _played_in_turn(rounds: int, orders: int) -> tuple[np.ndarray, np.ndarray]:
    """Return [order, (seconds, mean reward)] of ours and of theirs."""
    problem = Problem.parse(PROBLEM)
    simulate(POLICY, problem, rounds=1, runs=1)  # compiles
    ours, theirs = [], []
    for order in range(orders):
        say(f"  {order + 1}/{orders} {POLICY} and VW")
        ours.append(_our_turn(problem, rounds, order))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_rows(folder, *rows_in_order(problem, rounds=rounds, seed=0, run=order))
            bag = played(VW, "bag", folder, n_arms=problem.n_arms, seed=order, limit=LIMIT)
        theirs.append((bag.seconds, bag.mean_reward))
    return np.array(ours), np.array(theirs)


def _our_turn(problem: Problem, rounds: int, order: int) -> tuple[float, float]:
    total: list[float] = []

    def work() -> None:
        policy = Policy.parse(POLICY)
        record = play_run(policy, problem, np.array([rounds]), seed=0, run=order)
        total.append(float(record.reward[-1]))

    seconds = cost_of(work).cpu
    return seconds, total[0] / rounds
