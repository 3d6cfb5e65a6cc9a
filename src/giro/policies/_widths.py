"""Parameters that the policies with a confidence width share."""

import math
from dataclasses import dataclass, field

from giro.errors import BadParameter
from giro.kernels.highest.ties import Ties
from giro.policy import Policy

NOISE = 0.5  # rewards in [0, 1] are sub-Gaussian with this R or sigma (Hoeffding, 1963)


@dataclass(frozen=True)
class OptimisticPolicy(Policy):
    """Parameters of policies that add a width to what an arm is expected to pay."""

    uses_arm_features = True

    scale: float | None = None
    penalty: float = field(default=1.0, kw_only=True)
    delta: float = field(default=0.05, kw_only=True)
    norm: float = field(default=1.0, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_scale(self.name, self.scale)
        check_penalty(self.name, self.penalty)
        check_delta(self.name, self.delta)
        if not 0.0 <= self.norm < math.inf:  # no length of an arm's parameters
            raise BadParameter(f"{self.name} needs a finite norm >= 0, got norm={self.norm}")


def check_penalty(policy: str, penalty: float) -> None:
    """Refuse a penalty without which few contexts would have no fit."""
    if not 0.0 < penalty < math.inf:
        raise BadParameter(f"{policy} needs a finite penalty > 0, got penalty={penalty}")


def check_delta(policy: str, delta: float) -> None:
    """Refuse what is not the probability of a rare failure."""
    if not 0.0 < delta < 1.0:
        raise BadParameter(f"{policy} needs 0 < delta < 1, got delta={delta}")


def check_scale(policy: str, scale: float | None) -> None:
    """Refuse a width that is neither a number nor left to theory."""
    if scale is not None and not 0.0 <= scale < math.inf:
        raise BadParameter(f"{policy} needs a finite scale >= 0 or none, got scale={scale}")


def logistic_slope(score: float) -> float:
    """Return the derivative of 1 / (1 + exp(-score)), which falls on both sides of 0.

    >>> logistic_slope(0.0)
    0.25
    """
    e = math.exp(-abs(score))
    return e / (1.0 + e) ** 2
