"""Widths: the parameters and formulas of policies with a confidence width."""

import math
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from giro.checks import NOT_NEGATIVE, Level, NotNegative, Positive, optional
from giro.compiling import kernel
from giro.kernels.highest.ties import Ties
from giro.kernels.regression.design import Design, model_of, put_arm, round_row
from giro.kernels.regression.linear_algebra import dot, squared_width
from giro.kernels.regression.ridge import refresh
from giro.policy import Offer, Policy

NOISE = 0.5  # rewards in [0, 1] are sub-Gaussian with this R or sigma (Hoeffding, 1963)


@dataclass(frozen=True)
class OptimisticPolicy(Policy):
    """Parameters of policies that add a width to the expected reward of an arm."""

    uses_arm_features = True

    scale: Annotated[float | None, optional(NOT_NEGATIVE)] = None
    penalty: Positive = field(default=1.0, kw_only=True)
    delta: Level = field(default=0.05, kw_only=True)
    norm: NotNegative = field(default=1.0, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)


@kernel
def scores_and_widths(
    design: Design, offer: Offer, theta: np.ndarray, factor: np.ndarray, workspace: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return x'θ and (x'V⁻¹x)^(1/2) for each arm on offer, with V = U'U and U = factor[model]."""
    scores, widths = np.empty(offer.arms.size), np.empty(offer.arms.size)
    x = round_row(design, offer.context)
    for i in range(scores.size):
        model = put_arm(design, offer, i)
        scores[i] = dot(x, theta[model])
        widths[i] = math.sqrt(squared_width(factor[model], x, workspace))
    return scores, widths


@kernel
def ridge_scores_and_widths(
    design: Design, offer: Offer, ridge: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same for a `Ridge`, or one that forgets."""
    for i in range(1 if design.shared else offer.arms.size):
        refresh(ridge, model_of(design, offer.arms[i]))
    return scores_and_widths(design, offer, ridge.theta, ridge.factor, ridge.workspace)
