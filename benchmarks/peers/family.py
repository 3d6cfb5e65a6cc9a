"""Public code of the family's authors and others: the regret of each run.

    python family.py FOLDER POLICY PROBLEM ROUNDS RUNS SEED

FOLDER holds checkouts, see benchmarks/family_peers.py. POLICY is a name of `POLICIES`, with
`-wrong` behind it for the same with one constant changed. PROBLEM is a text of giro's: means of
Bernoulli or beta arms, or a logistic model with features of arms. A line of JSON is printed, with
µs of processor time a round.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import family_in_context
import numpy as np
from family_in_context import Regret, checkout, numbers


def _arms(problem: str) -> tuple[list[str], list[Any]]:
    means = numbers(problem, "means")
    if problem.startswith("bernoulli"):
        return ["B"] * len(means), means
    (v,) = numbers(problem, "v")
    return ["beta"] * len(means), [[v * mean, v * (1 - mean)] for mean in means]


def _dueling(method: str, **options: Any) -> Regret:
    """Return a player of DBaudry/Sub-Sampling-Dueling-Algorithms-Neurips20."""
    checkout("Sub-Sampling-Dueling-Algorithms-Neurips20")
    bernoulli, generic = import_module("BernoulliMAB").BetaBernoulliMAB, import_module("MAB")

    class Halved(bernoulli):
        @staticmethod
        def kl(x: float, y: float) -> float:
            return 0.5 * bernoulli.kl(x, y)

    halved = options.pop("halved", False)

    def regret(problem: str, rounds: int) -> float:
        methods, parameters = _arms(problem)
        if methods[0] == "B":
            game = (Halved if halved else bernoulli)(parameters)
        else:
            game = generic.GenericMAB(methods, parameters)
        return float(getattr(game, method)(rounds, **options).regret()[-1])

    return regret


def _maillard(explore_weight: float) -> Regret:
    """Return a player of MjolnirT/Kullback-Leibler-Maillard-Sampling, without its pictures."""
    for name in ("matplotlib", "matplotlib.pyplot", "matplotlib.cm"):
        sys.modules[name] = SimpleNamespace(cm=None, pyplot=None, get_cmap=None)  # type: ignore[assignment]
    checkout("Kullback-Leibler-Maillard-Sampling")
    klms = import_module("src.BernoulliKLMS").KLMS

    def regret(problem: str, rounds: int) -> float:
        means = np.array(numbers(problem, "means"))
        policy = klms(means.size, rounds, explore_weight)
        total = 0.0
        for _ in range(rounds):
            arm = policy.select_arm()
            policy.update(arm, float(np.random.random() < means[arm]))  # noqa: NPY002
            total += means.max() - means[arm]
        return total

    return regret


def _forced(factor: float) -> Callable[[float], float]:
    return lambda r: factor * np.sqrt(np.log(r))


POLICIES: dict[str, Callable[[], Regret]] = {
    "RB_SDA": lambda: _dueling("RB_SDA"),
    "RB_SDA-wrong": lambda: _dueling("RB_SDA", explo_func=_forced(16.0)),
    "WR_SDA": lambda: _dueling("WR_SDA"),
    "WR_SDA-wrong": lambda: _dueling("WR_SDA", explo_func=_forced(16.0)),
    "LB_SDA": lambda: _dueling("LB_SDA", explo_func=_forced(1.0)),
    "LB_SDA-wrong": lambda: _dueling("LB_SDA", explo_func=_forced(16.0)),
    "SSMC": lambda: _dueling("SSMC", explo_func=_forced(1.0)),
    "SSMC-wrong": lambda: _dueling("SSMC", explo_func=_forced(16.0)),
    "non_parametric_TS": lambda: _dueling("non_parametric_TS", upper_bound=1),
    "non_parametric_TS-wrong": lambda: _dueling("non_parametric_TS", upper_bound=2),
    "ReBootG": lambda: _dueling("ReBootG", sigma=0.5),
    "ReBootG-wrong": lambda: _dueling("ReBootG", sigma=0.6),
    "IMED": lambda: _dueling("IMED"),
    "IMED-wrong": lambda: _dueling("IMED", halved=True),
    "KLMS": lambda: _maillard(1.0),
    "KLMS-wrong": lambda: _maillard(0.8),
    **family_in_context.POLICIES,
}

if __name__ == "__main__":
    play, texts = POLICIES[sys.argv[2]](), sys.argv[3:]
    rounds, runs, seed = map(int, texts[1:])
    np.random.seed(seed)  # noqa: NPY002  # theirs draw from it
    play(texts[0], rounds)  # compiles
    began = time.process_time()
    regrets = [play(texts[0], rounds) for _ in range(runs)]
    us = 1e6 * (time.process_time() - began) / (rounds * runs)
    print(json.dumps({"regrets": regrets, "us": us}))
