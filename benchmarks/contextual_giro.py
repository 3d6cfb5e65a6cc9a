"""Exact contextual Giro on Covertype: against scikit-learn's Ridge, along t, and twice at once."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import plain_contextual_giro
from figures import Curve, keep_curves
from ratio import Cost, Play, Ratio, in_turn, say
from rows_in_order import rows_in_order
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from giro import Policy, Problem
from giro.kernels.giro.pseudo_rewards import draw_counts
from giro.kernels.regression.rows import positions_of
from giro.model import Sample, refit, value
from giro.offer import NO_CONTEXT, Case
from giro.policies.contextual_giro import ContextualGiro
from giro.policy import learn
from giro.policy import start as start_policy
from giro.problem import start as start_problem
from giro.seeds import stream
from giro.simulation.play import Record, Streams, play, shape_of

POLICY = "contextual-giro:a=1,model=linear"
PROBLEM = "classification:data=covertype"
FASTER = 10.0
LINEAR_GROWTH = 2.2  # of the cost of a round when t doubles; 2 and noise
SAME_WORK = 1.15  # processor time of two runs at once; 1 and noise
GROWTH_REPEATS = 2  # the least counts
BOTH_CORES = 1.6  # of two
TOLERANCE = 1e-8
PLAIN_SEED = 1


def everything(folder: Path, *, quick: bool) -> Iterator[Ratio]:
    """Check that both are the same algorithm, then measure."""
    say("  same coefficients as Ridge from the same counts")
    check_same_fits(rounds=200 if quick else 2_000)
    yield against_ridge(rounds=200 if quick else 5_000)
    yield growth(folder, most=1_000 if quick else 20_000)
    yield from in_parallel(quick=quick)


def check_same_fits(*, rounds: int) -> None:
    """Raise if the engine and Ridge expect different rewards after the same draws."""
    problem, rng = Problem.parse(PROBLEM), stream(PLAIN_SEED)
    rows, labels = _rows_with_constant(problem, rounds)
    n_arms = problem.n_arms
    state = start_policy(Policy.parse(POLICY), shape_of(problem, rounds), rng)
    for t in range(rounds):
        case = Case(rows[t, :-1], NO_CONTEXT)
        learn(state, case, t % n_arms, float(labels[t] == t % n_arms), rng)
    for arm in range(n_arms):
        positions = positions_of(state.rows, arm)
        counts = state.counts[: positions.size]
        draw_counts(counts, 1.0, rng)
        refit(state.model, arm, Sample(state.rows, positions, counts), rng)
        rewards = state.rows.rewards[positions]
        ridge = plain_contextual_giro.fitted(rows[positions], rewards, counts)
        ours = [value(state.model, arm, row) for row in rows[:100]]
        if np.abs(ours - ridge.predict(rows[:100])).max() > TOLERANCE:
            raise AssertionError(f"the fits of arm {arm} differ: {POLICY} and Ridge")


def _rows_with_constant(problem: Problem, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows [round, column] that end with the constant 1 of our policies, and labels."""
    contexts, rewards = rows_in_order(problem, rounds=rounds, seed=0, run=0)
    labels = rewards.argmax(axis=1)
    return np.column_stack([contexts, np.ones(rounds)]), labels


def against_ridge(*, rounds: int) -> Ratio:
    """One run each, on the same rows, with one thread for BLAS."""
    problem = Problem.parse(PROBLEM)
    rows, labels = _rows_with_constant(problem, rounds)
    rewards: dict[str, float] = {}
    ours = Play(POLICY, PROBLEM, rounds).compiled()

    def play_ours() -> None:
        rewards["ours"] = float(ours().reward[0, -1]) / rounds

    def play_plain() -> None:
        rng = stream(PLAIN_SEED)
        rewards["plain"] = plain_contextual_giro.play(rows, labels, problem.n_arms, rng)

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


def growth(folder: Path, *, most: int) -> Ratio:
    """Time per round at 2t against t, the worst over t; keeps the times against t."""
    marks = most // 2 ** np.arange(5, -1, -1)
    say(f"  {most:,} rounds")
    us = np.min([block_us(marks) for _ in range(GROWTH_REPEATS)], axis=0)
    middle = np.sqrt(marks[1:] * marks[:-1])
    keep_curves(
        folder / "contextual_giro_time_per_round",
        [Curve("exact contextual Giro, linear model, a = 1", middle, 1e3 * us)],
        x="round t",
    )
    worst = int(np.argmax(us[1:] / us[:-1]))
    return Ratio.at_most(
        f"growth: {POLICY}, covertype, a round at 2t against t, the worst t up to {most // 2:,}",
        ours=float(us[worst + 1]),
        theirs=float(us[worst]),
        bar=LINEAR_GROWTH,
        unit="µs per round",
        note=f"t = {middle[worst]:,.0f}",
    )


def block_us(marks: np.ndarray) -> np.ndarray:
    """Return processor time per round between each mark and the next, in one run, [block]."""
    streams = Streams(*(stream(0, 0, side) for side in range(3)))
    problem = Problem.parse(PROBLEM)
    instance = start_problem(problem, streams.problem)
    shape = shape_of(problem, int(marks[-1]))
    state = start_policy(Policy.parse(POLICY), shape, streams.policy)
    times = []
    for block in np.diff(marks, prepend=0):
        began = time.process_time()
        play(state, instance, streams, _record(int(block), problem.n_arms))
        times.append(1e6 * (time.process_time() - began) / block)
    return np.array(times[1:])  # the first block waits for the compiler


def _record(rounds: int, n_arms: int) -> Record:
    none = np.zeros(0, np.int64)
    pulls = np.zeros(n_arms, np.int64)
    return Record(np.array([rounds]), np.zeros(1), np.zeros(1), np.zeros(1, np.int64), pulls, none)


def in_parallel(*, quick: bool) -> Iterator[Ratio]:
    """Two runs at once against one after the other; threads of BLAS would get in each other's way.

    Ours run in threads and do not use BLAS. A model from scikit-learn does, in a process for each
    run, whose processor time this process does not see; the first round starts the processes.
    """
    estimator = ContextualGiro(model=Ridge(alpha=1.0, fit_intercept=False))  # type: ignore[arg-type]  # wrapped
    ours = Play(POLICY, PROBLEM, 200 if quick else 5_000, runs=2, jobs=2).compiled()
    theirs = Play(estimator, PROBLEM, 20 if quick else 500, runs=2, jobs=2)  # type: ignore[arg-type]
    theirs._replace(rounds=1)()
    at_once, in_order = _at_once_and_in_turn(ours, repeats=1 if quick else 3)
    yield Ratio.at_most(
        f"{POLICY}, covertype, {ours.rounds:,} rounds: two runs at once against in turn",
        ours=at_once.cpu,
        theirs=in_order.cpu,
        bar=SAME_WORK,
        unit="s of all cores",
    )
    yield _speedup(POLICY, ours.rounds, at_once, in_order)
    costs = _at_once_and_in_turn(theirs, repeats=1 if quick else 2)
    yield _speedup("contextual-giro with scikit-learn's Ridge", theirs.rounds, *costs)


def _at_once_and_in_turn(play: Play, *, repeats: int) -> tuple[Cost, Cost]:
    costs = in_turn({"at once": play, "in turn": play._replace(jobs=1)}, repeats=repeats)
    return costs["at once"], costs["in turn"]


def _speedup(name: str, rounds: int, at_once: Cost, in_order: Cost) -> Ratio:
    return Ratio.faster(
        f"{name}, covertype, {rounds:,} rounds: two runs at once against in turn",
        ours=at_once.wall,
        theirs=in_order.wall,
        bar=BOTH_CORES,
        unit="s of wall time",
        note="means little while others use the machine",
    )
