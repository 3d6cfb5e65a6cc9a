"""LinPHE: perturbed-history exploration with linear models (Kveton et al., UAI 2019)."""

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
from giro.kernels.regression.linear_algebra import add_multiple, add_row, dot, set_penalty, solve
from giro.kernels.regression.perturb import pseudo_rewards_by_pull, rounded, throw
from giro.kernels.regression.rows import Rows, append_row, empty_rows, positions_of, weighted_sum
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    rows: Rows
    pseudo: np.ndarray  # [i] pseudo rewards at the context of a model's i-th reward
    factor: np.ndarray  # [model, feature, feature] U with U'U = G
    moment: np.ndarray  # [model, feature] Σ Y x
    theta: np.ndarray  # [feature] workspace for a fit
    ones: np.ndarray  # [i] workspace for how many pseudo rewards are 1
    design: Design
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    values, x = np.zeros(offer.arms.size), round_row(state.design, offer.context)
    if not mark_untried(state.rows.of_arm.length, state.design, offer.arms, values):
        for i in range(values.size):
            model = put_arm(state.design, offer, i)
            if i == 0 or not state.design.shared:
                _perturb(state, model, rng)
            values[i] = rounded(dot(x, state.theta), 1e12)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _perturb(state: _State, model: int, rng: np.random.Generator) -> None:
    """Set θ to G⁻¹ Σ X (Y + Z) for fresh pseudo rewards Z."""
    positions = positions_of(state.rows, model)
    ones = state.ones[: positions.size]
    throw(state.pseudo[: ones.size], ones, rng)
    weighted_sum(state.rows, positions, ones, state.theta)
    add_multiple(state.theta, 1.0, state.moment[model])
    solve(state.factor[model], state.theta)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    x, model = case_row(state.design, case), model_of(state.design, arm)
    pseudo = state.pseudo[state.rows.of_arm.length[model]]
    append_row(state.rows, x, model, reward)
    add_row(state.factor[model], x, 1.0 + pseudo, state.theta)
    add_multiple(state.moment[model], reward, x)


@dataclass(frozen=True)
class LinPhe(Policy, name="lin-phe"):
    """Pulls the arm with the best linear fit to its rewards and `a` fresh coins at each context.

    In each round and for each arm, Z ~ Binomial(a, 1/2) is added to every observed reward Y, and
    θ = G⁻¹ Σ X (Y + Z) with G = (a + 1) (Σ X X' + penalty I). For real `a` an arm's s-th pull has
    ceil(a s) - ceil(a (s - 1)) coins, so that s pulls have ceil(a s), as in `phe`. A round costs as
    much as a pass through all of the past. If arms have features, they share one history and θ, and
    s counts the pulls of all. Differs from the paper: parameters are shared only in that case.
    Contexts cannot be picked to span the space at first, so an arm whose θ has no reward goes
    first. With one θ for all, features that were never seen are worth 0, and may stay untried
    forever. Values that agree to 12 decimals count as tied.
    """

    source = "Kveton et al. 2019 (UAI), Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    uses_arm_features = True

    a: Positive = 2.0
    penalty: Positive = field(default=1.0, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return empty histories."""
        n_models, d, capacity = shape.n_models, shape.width, shape.capacity
        factor = np.empty((n_models, d, d))
        for model in range(n_models):
            set_penalty(factor[model], (self.a + 1.0) * self.penalty)
        return _State(
            empty_rows(n_models, d, capacity),
            pseudo_rewards_by_pull(float(self.a), capacity),
            factor,
            np.zeros((n_models, d)),
            np.empty(d),
            np.empty(capacity),
            design_of(shape),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
