"""The estimators of the Open Bandit Pipeline (obp), loaded without what they do not need.

`make test-obp` fetches the package, which also holds a sample of the Open Bandit data, into a
temporary folder and names it in OBP_FOLDER. Nothing of it is kept.
"""

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from giro import evaluate
from giro.evaluation import fitted_rewards, read_log

N_ITEMS = {"all": 80, "men": 34, "women": 46}  # of each campaign
FOLDER = os.environ.get("OBP_FOLDER", "")


class Pair(NamedTuple):
    """One estimate by both."""

    ours: float
    theirs: float


def estimators() -> dict[str, Any]:
    """Return obp's estimators by our names; PyTorch, which it only names, need not be there."""
    for name, path in {"obp": FOLDER, "obp.ope": f"{FOLDER}/ope"}.items():
        package = sys.modules.setdefault(name, ModuleType(name))
        package.__path__ = [path]
    torch: Any = sys.modules.setdefault("torch", ModuleType("torch"))
    torch.Tensor = getattr(torch, "Tensor", type("Tensor", (), {}))
    theirs = importlib.import_module("obp.ope.estimators")
    return {
        "ips": theirs.InverseProbabilityWeighting(),
        "snips": theirs.SelfNormalizedInverseProbabilityWeighting(),
        "dr": theirs.DoublyRobust(),
    }


def sample(behaviour: str, campaign: str) -> Path:
    """Return the folder of a sample of the data."""
    return Path(FOLDER) / "dataset" / "obd" / behaviour / campaign


def estimates(folder: Path, by_position: np.ndarray) -> dict[str, Pair]:
    """Return the estimates of a policy that is a law over items at each position, by both.

    Their columns are read here once more, by themselves: a log misread is a difference.
    """
    frame = pl.read_csv(folder / f"{folder.name}.csv")
    action, position = frame["item_id"].to_numpy(), frame["position"].to_numpy() - 1
    log = read_log(folder)
    law = by_position[position]  # [event, item]
    q_hat = fitted_rewards(log, 3)
    ours = evaluate(log, law, predicted=q_hat)
    given = {
        "reward": frame["click"].to_numpy(),
        "action": action,
        "pscore": frame["propensity_score"].to_numpy(),
        "position": position,
        "action_dist": np.tile(by_position.T, (action.size, 1, 1)),  # [event, item, position]
        "estimated_rewards_by_reg_model": np.repeat(q_hat[:, :, None], 3, axis=2),
    }
    return {
        name: Pair(ours[name].value, float(estimator.estimate_policy_value(**given)))
        for name, estimator in estimators().items()
    }


def laws(n_items: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return [position, item] the probabilities of two fixed policies."""
    return {
        "uniform": np.full((3, n_items), 1 / n_items),
        "uneven": rng.dirichlet(np.full(n_items, 0.5), size=3),
    }
