"""Bandits that explore by resampling their own history."""

from giro import policies, problems
from giro.bandit import Bandit, Decision
from giro.errors import (
    BadFile,
    BadParameter,
    GiroError,
    MissingExtra,
    ModelWarning,
    StoreError,
    UnknownName,
)
from giro.evaluation.evaluate import evaluate
from giro.evaluation.readers import read_log
from giro.policy import Policy
from giro.problem import Problem
from giro.simulation.simulate import simulate
from giro.simulation.trace import Trace
from giro.version import __version__

__all__ = [
    "BadFile",
    "BadParameter",
    "Bandit",
    "Decision",
    "GiroError",
    "MissingExtra",
    "ModelWarning",
    "Policy",
    "Problem",
    "StoreError",
    "Trace",
    "UnknownName",
    "__version__",
    "evaluate",
    "policies",
    "problems",
    "read_log",
    "simulate",
]
