"""NPTS: non-parametric Thompson sampling (Riou and Honda, 2020)."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from giro.kernels.highest.ties import Ties
from giro.policies.bootstrap_thompson import BootstrapThompson
from giro.policy import Policy, Shape


@dataclass(frozen=True)
class Npts(Policy, name="npts"):
    """Pulls the arm whose rewards, and one reward 1, have the highest mean under random weights.

    The weights are uniform among those that add up to 1. This is `bootstrap-thompson` with
    exponential weights, a prior reward 1 and none of 0. Rewards 0 and 1 take one beta draw for each
    arm that could win. Of others, weights of parts of an arm's rewards are drawn, as fine as it
    takes (see `lazy_weights`), so that a round costs little more as rewards grow in number. For any
    rewards in [0, 1] the regret reaches the limit of Burnetas and Katehakis.
    """

    source = "Riou and Honda 2020, Algorithm 2"
    uses_contexts = False
    choose = staticmethod(BootstrapThompson.choose)
    learn = staticmethod(BootstrapThompson.learn)
    propensities = BootstrapThompson.propensities

    ties: Ties = field(default="random", kw_only=True)

    def has_propensities(self, *, binary: bool, shared: bool) -> bool:
        """Return whether the probabilities are known: only while all rewards are 0 or 1."""
        return binary

    def start(self, shape: Shape, rng: np.random.Generator) -> Any:
        """Return empty histories and the prior reward."""
        return BootstrapThompson("exponential", zeros=0, ones=1, ties=self.ties).start(shape, rng)
