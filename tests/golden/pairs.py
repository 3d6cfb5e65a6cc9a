"""Every pair of a policy and a problem, and a hash of all that happens when they meet."""

import hashlib
import json
import platform
from pathlib import Path

import numba
import numpy as np
from known import DELAYED, NEWS, SWITCHING, policies, policies_with_models

from giro import Policy, Problem
from giro.model import Model
from giro.simulation.play import play_run

FILE = Path(__file__).with_name("hashes.json")
SEED, RUNS, CHECKPOINTS = 11, 2, np.arange(20, 301, 20)

# where the default is larger than it need be
SMALLER = {
    "delayed": DELAYED,
    "linear": "linear:n_arms=3,dimension=4",
    "logistic": "logistic:n_arms=3,dimension=4",
    "movielens": "movielens:ids=false",
    "news": NEWS,
    "sleeping": "sleeping:problem=[bernoulli:n_arms=3]",
    "switching": SWITCHING,
}
WITH_ARM_FEATURES = "linear:n_arms=3,dimension=4,shared=true"


def pairs() -> dict[str, tuple[Policy, Problem]]:
    """Return all pairs by name: every policy on every problem, every model on one with contexts."""
    problems = [Problem.parse(SMALLER.get(name, name)) for name in Problem.known()]
    problems.append(Problem.parse(WITH_ARM_FEATURES))
    found = [
        (policy, problem)
        for policy in policies()
        for problem in problems
        if policy.uses_arm_features or problem.n_arm_features == 0
        if "ties=" not in str(policy) or problem.name == "bernoulli"  # where ties show
    ]
    models = (*policies_with_models(), *_each_model())
    with_models = {str(policy): policy for policy in models}
    found += [(policy, Problem.parse(SMALLER["linear"])) for policy in with_models.values()]
    return {f"{policy} on {problem}": (policy, problem) for policy, problem in found}


def hashes_of(policy: Policy, problem: Problem) -> dict[str, str]:
    """Return hashes of the arms of all rounds, and of the curves of regret and reward."""
    records = [
        play_run(policy, problem, CHECKPOINTS, seed=SEED, run=run, keep_arms=True)
        for run in range(RUNS)
    ]
    return {
        "arms": _hash([record.arms for record in records]),
        "regret": _hash([record.regret for record in records]),
        "reward": _hash([record.reward for record in records]),
    }


def written() -> dict[str, dict[str, str]]:
    """Return the hashes in the file, by the names of the pairs."""
    return dict(json.loads(FILE.read_text())["pairs"]) if FILE.exists() else {}


def made_with() -> str:
    """Return what the last bit of a number may depend on besides the code."""
    return f"NumPy {np.__version__}, numba {numba.__version__}, {platform.machine()}"


def _each_model() -> list[Policy]:
    """Return Giro with every model that compiles."""
    models = (name for name, cls in Model.known().items() if cls.compiles)
    return [Policy.parse(f"contextual-giro:model={model}") for model in models]


def _hash(arrays: list[np.ndarray]) -> str:
    """Return the beginning of a SHA-256 of the arrays' bytes."""
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]
