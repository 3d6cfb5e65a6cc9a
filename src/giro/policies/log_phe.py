"""LogPHE: perturbed-history exploration with logistic models (Kveton et al., UAI 2019)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Positive
from giro.compiling import kernel
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.kernels.regression.design import (
    Design,
    case_row,
    design_of,
    mark_untried,
    model_of,
    put_arm,
    round_row,
)
from giro.kernels.regression.linear_algebra import assign, dot
from giro.kernels.regression.logistic import Curvature, no_curvature
from giro.kernels.regression.perturb import pseudo_rewards_by_pull, rounded, throw
from giro.kernels.regression.rows import append_row, positions_of
from giro.policies._logistic_arms import LogisticArms, curvature_of, empty_logistic_arms, fit
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    arms: LogisticArms  # θ fits the mean of the perturbed histories; weights are 1 + pseudo
    pseudo: np.ndarray  # [i] pseudo rewards at the context of a model's i-th reward
    start: Curvature  # workspace for the curvature of the fit from which the others start
    ones: np.ndarray  # [i] workspace for how many pseudo rewards are 1
    design: Design
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    values, x = np.zeros(offer.arms.size), round_row(state.design, offer.context)
    if not mark_untried(state.arms.rows.of_arm.length, state.design, offer.arms, values):
        for i in range(values.size):
            model = put_arm(state.design, offer, i)
            if i == 0 or not state.design.shared:
                _perturb(state, model, rng)
            values[i] = rounded(dot(x, state.arms.workspace), 1e6)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _perturb(state: _State, model: int, rng: np.random.Generator) -> None:
    """Fit θ, the workspace, to rewards and fresh pseudo rewards, starting from the mean's fit."""
    arms, pulls = state.arms, state.arms.rows.of_arm.length[model]
    throw(state.pseudo[:pulls], state.ones[:pulls], rng)
    _set_totals(state, model, state.ones[:pulls], 1.0)
    theta = arms.workspace
    assign(theta, arms.theta[model])
    for j in range(theta.size):  # a copy: a choice leaves no trace
        assign(state.start.factor[j], arms.curvature[model, j])
    state.start.rows[0] = arms.curved[model]
    fit(arms, model, theta, state.start)


@kernel
def _set_totals(state: _State, model: int, pseudo: np.ndarray, each: float) -> None:
    """Set the sum of rewards at each of the model's contexts, with `each` for a pseudo reward."""
    positions = positions_of(state.arms.rows, model)
    for i in range(positions.size):
        state.arms.total[i] = state.arms.rows.rewards[positions[i]] + each * pseudo[i]


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    model = model_of(state.design, arm)
    append_row(state.arms.rows, case_row(state.design, case), model, reward)
    _set_totals(state, model, state.pseudo, 0.5)
    fit(state.arms, model, state.arms.theta[model], curvature_of(state.arms, model))


@dataclass(frozen=True)
class LogPhe(Policy, name="log-phe"):
    """Pulls the arm with the best logistic fit to its rewards and `a` fresh coins at each context.

    In each round and for each arm, a logistic regression is fitted to every observed reward and,
    at its context, `a` pseudo rewards that are 0 or 1 with equal probability. For real `a` an arm's
    s-th pull has ceil(a s) - ceil(a (s - 1)) of them, so that s pulls have ceil(a s), as in `phe`.
    A fit starts from the fit to the mean of all perturbed histories, so it takes few passes over
    the past. If arms have features, they share one history and model, and s counts the pulls of
    all. Differs from the paper: parameters are shared only in that case. Contexts cannot be picked
    to span the space at first, so an arm whose model has no reward goes first. Scores that agree to
    6 decimals count as tied.
    """

    source = "Kveton et al. 2019 (UAI), Section 4"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    uses_arm_features = True

    a: Positive = 2.0
    penalty: Positive = field(default=1.0, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return empty histories."""
        d, capacity = shape.width, shape.capacity
        arms = empty_logistic_arms(shape.n_models, d, capacity, self.penalty)
        pseudo = pseudo_rewards_by_pull(float(self.a), capacity)
        arms.weight[:] = 1.0 + pseudo
        return _State(
            arms,
            pseudo,
            no_curvature(d),
            np.empty(capacity),
            design_of(shape),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
