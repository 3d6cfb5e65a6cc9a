"""Bandits that explore by resampling their own history."""

import importlib
from typing import TYPE_CHECKING, Any

from giro.errors import (
    BadFile,
    BadParameter,
    Contradiction,
    GiroError,
    MissingExtra,
    ModelWarning,
    ServiceError,
    StoreError,
    UnknownDecision,
    UnknownName,
)
from giro.version import __version__

if TYPE_CHECKING:
    from giro import policies, problems
    from giro.bandit import Alarm, Ask, Bandit, Decision, Record, Records, Slot
    from giro.client import AsyncClient, Client
    from giro.evaluation.evaluate import evaluate
    from giro.evaluation.readers import read_log
    from giro.policy import Policy
    from giro.problem import Problem
    from giro.simulation.simulate import simulate
    from giro.simulation.trace import Trace

__all__ = [
    "Alarm",
    "Ask",
    "AsyncClient",
    "BadFile",
    "BadParameter",
    "Bandit",
    "Client",
    "Contradiction",
    "Decision",
    "GiroError",
    "MissingExtra",
    "ModelWarning",
    "Policy",
    "Problem",
    "Record",
    "Records",
    "ServiceError",
    "Slot",
    "StoreError",
    "Trace",
    "UnknownDecision",
    "UnknownName",
    "__version__",
    "evaluate",
    "policies",
    "problems",
    "read_log",
    "simulate",
]

_HOMES = {  # what is imported when it is first asked for, as numba takes long to import
    "Alarm": "giro.bandit",
    "Ask": "giro.bandit",
    "AsyncClient": "giro.client",
    "Bandit": "giro.bandit",
    "Client": "giro.client",
    "Decision": "giro.bandit",
    "Policy": "giro.policy",
    "Problem": "giro.problem",
    "Record": "giro.bandit",
    "Records": "giro.bandit",
    "Slot": "giro.bandit",
    "Trace": "giro.simulation.trace",
    "evaluate": "giro.evaluation.evaluate",
    "read_log": "giro.evaluation.readers",
    "simulate": "giro.simulation.simulate",
}


def __getattr__(name: str) -> Any:
    """Import a public name, or the package of that name, when it is first used."""
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    elif name in ("models", "policies", "problems"):
        value = importlib.import_module(f"giro.{name}")
    else:
        raise AttributeError(f"module 'giro' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return all names, imported or not."""
    return sorted({*globals(), *__all__})
