"""Rounds of a run for Vowpal Wabbit: its own lines, and an environment of its own to play them in.

VW meets the rounds that giro's simulator reveals in the same run, whatever the policy. What is
known of the round is in namespace U, of an arm in namespace F; an arm of which nothing is known has
its number as its only word.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from python_libraries import ENVIRONMENTS, ONE_THREAD, Library, Trouble, environment
from ratio import say

from giro import BadFile, Problem
from giro.datasets.movielens import VARIABLE, read_movielens
from giro.offer import Offer, SparseRows
from giro.problem import reveal, reward
from giro.problem import start as start_problem
from giro.seeds import stream

PEER = Path(__file__).parent / "peers" / "arms_vw.py"
RECBOLE = "recbole==1.2.1"
_PROBLEM_SIDE, _REWARD_SIDE = 0, 2  # of the streams of a run, see giro.simulation.play


VW = Library("VW-ADF", ("vowpalwabbit==9.11.9", "numpy==2.4.6"))


def find_movielens() -> None:
    """Fetch the package with the ratings if it is neither installed nor named, and name it."""
    folder = ENVIRONMENTS.parent / "recbole"
    try:
        read_movielens()
    except BadFile:
        if not (wheels := list(folder.glob("*.whl"))):
            say(f"  fetching {RECBOLE} for its example data")
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
            subprocess.run([*pip, str(folder), RECBOLE], check=True)
            wheels = list(folder.glob("*.whl"))
        os.environ[VARIABLE] = str(wheels[0])


def write_rounds(folder: Path, problem: Problem, *, rounds: int, seed: int, run: int) -> None:
    """Write what VW reads of each round, and the rewards of the arms on offer.

    lines.txt has a line for each round: that of the context and those of the arms, tabs between.
    """
    rng, of_rewards = (stream(seed, run, side) for side in (_PROBLEM_SIDE, _REWARD_SIDE))
    instance = start_problem(problem, rng)
    rewards = []
    with (folder / "lines.txt").open("w") as file:
        for t in range(rounds):
            offer, means, _ = reveal(instance, t, rng)
            file.write("\t".join(lines_of(offer)) + "\n")
            rewards.append([reward(instance, means, int(arm), of_rewards) for arm in offer.arms])
    np.save(folder / "rewards.npy", np.array(rewards))


def lines_of(offer: Offer) -> Iterator[str]:
    """Yield the line of the context, then one for each arm on offer.

    >>> offer = Offer(np.array([2, 5]), np.array([0.5, 0.0, 1.0]), np.empty((0, 0)))
    >>> list(lines_of(offer))
    ['shared |U u0:0.5 u2', '|F a2', '|F a5']
    """
    columns = np.flatnonzero(offer.context)
    yield f"shared |U {_words('u', columns, offer.context[columns])}"
    for i, arm in enumerate(offer.arms):
        if isinstance(offer.features, SparseRows):
            row = slice(offer.features.begin[i], offer.features.begin[i + 1])
            yield f"|F {_words('f', offer.features.column[row], offer.features.value[row])}"
        elif offer.features.size:
            columns = np.flatnonzero(offer.features[i])
            yield f"|F {_words('f', columns, offer.features[i, columns])}"
        else:
            yield f"|F a{arm}"


def _words(letter: str, columns: np.ndarray, values: np.ndarray) -> str:
    pairs = zip(columns.tolist(), values.tolist(), strict=True)
    return " ".join(
        f"{letter}{column}" if value == 1.0 else f"{letter}{column}:{value:.6g}"
        for column, value in pairs
    )


class Outcome(NamedTuple):
    """What VW made of the rounds with some arguments."""

    arguments: str
    mean_reward: float
    seconds: float  # of processor time: choosing and learning


def played_by_vw(
    folder: Path, arguments: Iterable[str], *, seed: int, how: str = "play"
) -> Iterator[Outcome]:
    """Yield an outcome for each text of arguments, as it comes.

    `play` calls VW line by line; `cache` lets it learn the same number of logged events, with
    actions drawn uniformly, from its own binary cache, which is written before.
    """
    command = [environment(VW), "-W", "ignore", PEER, how, folder.resolve(), seed, *arguments]
    with subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, text=True, env=os.environ | ONE_THREAD
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield Outcome(**json.loads(line))
    if process.returncode:
        raise Trouble(f"VW does not run: status {process.returncode}")
