"""Rows of a regression: the round, the arm, products of both, and a constant 1.

Only this file adds a constant: contexts and features of arms come from a problem or a user. Without
either, a row is just the constant. Without features of arms each arm has its own model. With
features all arms share one model and differ by their rows.
"""

from typing import Any, NamedTuple

import numpy as np

from giro.compiling import inline_kernel, kernel
from giro.offer import Case, Context, Offer, Shape, features_at, put_features


class Design(NamedTuple):
    """The layout of rows, and a buffer for one."""

    row: np.ndarray  # [column] the last row
    arm: np.ndarray  # [feature] those of the last arm
    of_round: np.ndarray  # [column] the feature of the round in it, -1 for none
    of_arm: np.ndarray  # [column] the feature of the arm that it is multiplied by, likewise
    shared: bool  # whether all arms share one model


def design_of(shape: Shape) -> Design:
    """Return the design of rows for states of this shape."""
    of_round, of_arm = (np.ascontiguousarray(part) for part in shape.columns)
    row, arm = np.ones(of_round.size), np.zeros(shape.n_arm_features)
    return Design(row, arm, of_round, of_arm, shape.n_arm_features > 0)


@inline_kernel
def round_row(design: Design, context: Context) -> np.ndarray:
    """Return the row of a round, which `put_arm` completes for one arm after the other."""
    for k in range(design.row.size):
        if design.of_round[k] >= 0:
            design.row[k] = context[design.of_round[k]]
    return design.row


@inline_kernel
def put_arm(design: Design, offer: Offer, position: int) -> int:
    """Write the features of the arm at `position` in the offer to the row, and return its model."""
    if not design.shared:
        return int(offer.arms[position])
    _put(design, offer.context, features_at(offer.features, position))
    return 0


@inline_kernel
def _put(design: Design, context: Context, features: Any) -> None:
    """Write the features of an arm, and their products with the context, into the row."""
    put_features(features, design.arm)
    for k in range(design.row.size):
        i, j = design.of_round[k], design.of_arm[k]
        if j >= 0:
            design.row[k] = design.arm[j] if i < 0 else context[i] * design.arm[j]


@inline_kernel
def case_row(design: Design, case: Case) -> np.ndarray:
    """Return the row of a chosen arm."""
    round_row(design, case.context)
    if design.shared:
        _put(design, case.context, case.features)
    return design.row


@inline_kernel
def model_of(design: Design, arm: int) -> int:
    """Return the number of the model that learns from an arm."""
    return 0 if design.shared else arm


@kernel
def mark_untried(pulls: np.ndarray, design: Design, arms: np.ndarray, values: np.ndarray) -> bool:
    """Set values[i] to infinity for arms whose model has no reward, and return if any."""
    has_untried = False
    for i in range(arms.size):
        if pulls[model_of(design, arms[i])] == 0:
            values[i] = np.inf
            has_untried = True
    return has_untried
