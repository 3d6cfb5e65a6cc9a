"""Contextual Giro: fit a model to a bootstrap sample (Kveton et al., 2019, Algorithm 3)."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.checks import NotNegative
from giro.compiling import kernel
from giro.kernels.giro.pseudo_rewards import draw_counts
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.kernels.memory import Everything
from giro.kernels.regression.design import (
    Design,
    case_row,
    design_of,
    mark_untried,
    model_of,
    put_arm,
    round_row,
)
from giro.kernels.regression.rows import Rows, append_row, empty_rows, positions_of
from giro.model import Model, Sample, refit, value
from giro.model import start as start_model
from giro.models.linear import Linear
from giro.policies._arm_models import ModelPolicy
from giro.policy import Case, Offer, Shape


class _State(NamedTuple):
    rows: Rows
    model: Any  # fitted coefficients, a slot for each model
    counts: np.ndarray  # [i, kind] workspace for the bootstrap sample of one arm
    design: Design
    a: float  # pseudo rewards of each kind per pull
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    values, x = np.zeros(offer.arms.size), round_row(state.design, offer.context)
    if mark_untried(state.rows.of_arm.length, state.design, offer.arms, values):
        return argmax(values, offer.arms, state.ranking, rng)
    for i in range(values.size):
        slot = put_arm(state.design, offer, i)
        if i == 0 or not state.design.shared:
            positions = positions_of(state.rows, slot)
            counts = state.counts[: positions.size]
            draw_counts(counts, state.a, rng)
            sample = Sample(state.rows, positions, counts, 0, Everything(1.0))
            refit(state.model, slot, sample, rng)
        values[i] = value(state.model, slot, x)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    append_row(state.rows, case_row(state.design, case), model_of(state.design, arm), reward)


@dataclass(frozen=True)
class ContextualGiro(ModelPolicy, name="contextual-giro"):
    """Pulls the arm whose model, fitted to a bootstrap sample of its history, expects most.

    The history of an arm has `a` pseudo rewards 0 and 1 at each observed context. In each round
    every arm's history is resampled and its model fitted to the sample, so a round costs as much as
    a pass through all of the past. If arms have features, they share one history and one model.
    `model` is linear, logistic, network, another of `giro.models`, or from Python any scikit-learn
    estimator. An untried arm has the value infinity. Differs from the paper: real `a` is allowed as
    in Section 6.1, and models have a penalty, without which few rows would have no fit.
    """

    source = "Kveton et al. 2019, Algorithm 3"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    uses_arm_features = True
    hashes_features = False  # it fits to rows

    a: NotNegative = 1.0
    model: Model = Linear()  # noqa: RUF009  # frozen
    ties: Ties = field(default="random", kw_only=True)

    @property
    def choose_mutates_state(self) -> bool:  # type: ignore[override]  # known with the model
        """Whether a choice starts from the fits of the last one."""
        return not self.model.refits_from_scratch

    def most_rewards(self, shape: Shape) -> int | None:
        """Return None, as every row may be in a bootstrap sample."""
        return None

    def start(self, shape: Shape, rng: np.random.Generator) -> Any:
        """Return empty histories and unfitted models."""
        ranking = tie_ranking(self.ties, shape.n_arms, rng)
        return _State(
            empty_rows(shape.n_models, shape.width, shape.capacity),
            start_model(self.model, shape.n_models, shape.width, shape.capacity, rng),
            np.empty((shape.capacity, 3), np.int32),
            design_of(shape),
            float(self.a),
            ranking,
        )
