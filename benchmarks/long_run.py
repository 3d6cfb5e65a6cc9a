"""A million rounds of Giro on beta arms: memory, and time per round as the history grows."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import plain_giro  # noqa: F401  # registers the plain policies
from figures import Curve, keep_curves
from ratio import Ratio, say

from giro import Policy, Problem
from giro.policy import start as start_policy
from giro.problem import start as start_problem
from giro.seeds import stream
from giro.simulation.play import Record, Streams, play, shape_of

PROBLEM = "beta:v=4"
N_ARMS = 10
FIRST = 300  # the round from which on blocks are timed
BYTES = 8  # of a reward
MEMORY_BAR = 5.0  # "a few times the rewards themselves"


def memory(*, quick: bool) -> Iterator[Ratio]:
    """Memory that a run needs at its peak against the size of its rewards."""
    rounds = 100_000 if quick else 1_000_000
    say(f"  {rounds:,} rounds in a process of its own")
    script = Path(__file__).with_name("peak_memory.py")
    command = [sys.executable, str(script), "giro:a=1", PROBLEM, str(rounds)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    yield Ratio.at_most(
        f"memory of giro:a=1 on beta v=4, {rounds:,} rounds, against its rewards",
        ours=float(answer.stdout),
        theirs=BYTES * rounds / 1e6,
        bar=MEMORY_BAR,
        unit="MB",
    )


def time_per_round(folder: Path, *, quick: bool) -> None:
    """Keep the curves of time per round against t, ten beta arms, means of three runs."""
    most = 100_000 if quick else 1_000_000
    plan = {  # the plain ones end when they get slow
        "giro:a=1": ("giro, a = 1", most),
        "giro:a=1/10": ("giro, a = 1/10", most),
        "split-giro:a=1": ("every observed entry drawn, a = 1", most // 32),
        "literal-giro:a=1": ("every entry drawn, a = 1", most // 100),
    }
    curves = []
    for policy, (label, rounds) in plan.items():
        say(f"  {policy}: {rounds:,} rounds")
        blocks = 4 * round(np.log10(rounds / FIRST))
        marks = np.geomspace(FIRST, rounds, blocks + 1).round()
        ns = np.mean([block_ns(policy, marks, run=run) for run in range(3)], axis=0)
        curves.append(Curve(label, np.sqrt(marks[1:] * marks[:-1]), ns))
    keep_curves(folder / "time_per_round", curves, x="round t")


def block_ns(policy: str, marks: np.ndarray, *, run: int) -> np.ndarray:
    """Return the time per round between each mark and the next, in one run, [block].

    The state goes on from block to block, which is what one long run does.
    """
    streams = Streams(*(stream(0, run, side) for side in range(3)))
    problem = Problem.parse(PROBLEM)
    instance = start_problem(problem, streams.problem)
    shape = shape_of(problem, int(marks[-1]))
    state = start_policy(Policy.parse(policy), shape, streams.policy)
    times = []
    for rounds in np.diff(marks, prepend=0.0).astype(np.int64):
        began = time.process_time()
        play(state, instance, streams, _record(rounds))
        times.append(1e9 * (time.process_time() - began) / rounds)
    return np.array(times[1:])  # the first block waits for the compiler


def _record(rounds: int) -> Record:
    one, none = np.zeros(1), np.zeros(0, np.int64)
    best, pulls = np.zeros(1, np.int64), np.zeros(N_ARMS, np.int64)
    return Record(np.array([rounds]), one, one.copy(), best, pulls, none)
