"""The loop: one policy, one problem, one run."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from giro.compiling import borrowed, kernel, plain
from giro.errors import GiroError
from giro.offer import Shape, case_of, position_of
from giro.policy import Policy, choose, functions_for, learn
from giro.policy import start as start_policy
from giro.problem import Problem, reveal, reward
from giro.problem import start as start_problem
from giro.seeds import stream
from giro.simulation.trace import Setting, Trace

_LATER = 3  # place of the stream by which rewards come later; those of `Streams` are before


class Work(NamedTuple):
    """A policy and a problem to play, without the numbers of the runs.

    They are objects, not texts, because a text does not describe a user's function completely.
    """

    policy: Policy
    problem: Problem
    setting: Setting


class Streams(NamedTuple):
    """The sources of randomness of one run, so that contexts do not depend on the policy."""

    problem: np.random.Generator  # the instance and its contexts
    policy: np.random.Generator
    reward: np.random.Generator


class Record(NamedTuple):
    """The results of one run. Curves are sums over the rounds up to each checkpoint."""

    checkpoints: np.ndarray  # [point] numbers of rounds, ascending, the last is all of them
    regret: np.ndarray  # [point] sum of highest mean minus mean of the pulled arm
    reward: np.ndarray  # [point] sum of rewards
    best: np.ndarray  # [point] pulls of an arm with the highest mean
    pulls: np.ndarray  # [arm]
    arms: np.ndarray  # [round] pulled arm, for as many rounds as fit


@kernel
def play(state: Any, instance: Any, streams: Any, record: Record) -> tuple[int, int, float]:
    """Play a run into `record` and return the rounds played and the last arm and reward.

    An illegal arm or reward ends the run and is returned as the last one.
    """
    state, instance, streams = borrowed(state), borrowed(instance), borrowed(streams)
    rounds, point = record.checkpoints[-1], 0
    regret, total, best = 0.0, 0.0, 0
    arm, value = 0, 0.0
    for t in range(rounds):
        offer, means, highest = reveal(instance, t, streams[0])
        arm = choose(state, offer, streams[1])
        position = position_of(offer, arm)
        if position < 0:
            return t, arm, 0.0
        value = reward(instance, means, arm, streams[2])
        if not 0.0 <= value <= 1.0:
            return t, arm, value
        learn(state, case_of(offer, position), arm, value, streams[1])
        regret += highest - means[arm]
        total += value
        best += means[arm] == highest
        record.pulls[arm] += 1
        if t < record.arms.size:
            record.arms[t] = arm
        if t + 1 == record.checkpoints[point]:
            record.regret[point], record.reward[point] = regret, total
            record.best[point] = best
            point += 1
    return rounds, arm, value


def play_run(
    policy: Policy,
    problem: Problem,
    checkpoints: np.ndarray,
    *,
    seed: int,
    run: int,
    rounds: int | None = None,
    keep_arms: bool = False,
) -> Record:
    """Play the run with number `run` of the simulation with this seed, and return its record.

    It ends with the last checkpoint. `rounds` is the number of rounds that the policy is started
    for, if there are more. Problem, policy and rewards each have a stream of their own, so that
    every policy meets the same instance in run 7. The loop is compiled unless the policy or the
    problem is plain Python.
    """
    last = int(checkpoints[-1])
    streams = Streams(*(stream(seed, run, side) for side in range(3)))
    instance = start_problem(problem, streams.problem)
    shape, compiled = shape_of(problem, rounds or last), is_compiled(policy, problem)
    state = start_policy(policy, shape, streams.policy)
    later, whole = stream(seed, run, _LATER), policy.learns_from_offers
    state = problem.withhold(state, shape, later, compiled=compiled, whole=whole)
    points = checkpoints.size
    record = Record(
        checkpoints,
        np.zeros(points),
        np.zeros(points),
        np.zeros(points, np.int64),
        np.zeros(problem.n_arms, np.int64),
        np.zeros(last if keep_arms else 0, np.int64),
    )
    loop = play if compiled else plain(play)
    played, arm, value = loop(state, instance, streams, record)
    if played < last:
        where = f"run {run}, round {played + 1}"
        if 0.0 <= value <= 1.0:
            raise GiroError(f"{where}: {policy} chose arm {int(arm)}, which is not on offer")
        raise GiroError(f"{where}: {problem} gave reward {float(value)}, but rewards lie in [0, 1]")
    return record


Player: TypeAlias = Callable[..., Record]  # `play_run`, or one that is called like it


def timed_run(work: Work, run: int) -> Trace:
    """Play one run and return its trace, with its computing time."""
    began = time.perf_counter()
    setting = work.setting
    record = play_run(work.policy, work.problem, setting.checkpoints, seed=setting.seed, run=run)
    seconds = time.perf_counter() - began
    return Trace(
        setting,
        np.array([run]),
        record.regret[None],
        record.reward[None],
        record.best[None],
        record.pulls[None],
        np.array([seconds]),
    )


def is_compiled(policy: Policy, problem: Problem) -> bool:
    """Return whether policy and problem are kernels, so that the whole loop compiles."""
    return functions_for(policy, shape_of(problem, 1)).compiled and problem.compiled


def shape_of(problem: Problem, rounds: int) -> Shape:
    """Return the shape of states for this many rounds of a problem."""
    return Shape(problem.n_arms, problem.n_features, problem.n_arm_features, rounds, rounds)
