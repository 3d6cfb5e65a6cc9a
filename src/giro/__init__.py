"""Bandits that explore by resampling their own history."""

from giro import policies, problems
from giro.errors import BadFile, BadParameter, GiroError, UnknownName
from giro.policy import Policy
from giro.problem import Problem
from giro.simulation.simulate import simulate
from giro.simulation.trace import Trace
from giro.version import __version__

__all__ = [
    "BadFile",
    "BadParameter",
    "GiroError",
    "Policy",
    "Problem",
    "Trace",
    "UnknownName",
    "__version__",
    "policies",
    "problems",
    "simulate",
]
