"""LinPHE: perturbed-history exploration with linear models (Kveton et al., UAI 2019)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import POSITIVE, check
from giro.compiling import kernel
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.kernels.regression.cholesky import solve
from giro.kernels.regression.design import Design, case_row, design_of, mark_untried, round_row
from giro.kernels.regression.inverse import add_row, set_penalty
from giro.kernels.regression.perturb import perturbed_sum, pseudo_rewards_by_pull, rounded
from giro.kernels.regression.rows import Rows, append_row, empty_rows, positions_of, scores
from giro.kernels.regression.vectors import add_multiple, dot
from giro.policy import Case, Offer, Policy, Shape


class _State(NamedTuple):
    rows: Rows
    pseudo: np.ndarray  # [i] pseudo rewards at the context of an arm's i-th pull
    factor: np.ndarray  # [arm, feature, feature] U with U'U = G
    moment: np.ndarray  # [arm, feature] Σ Y x
    workspace: np.ndarray  # [feature]
    score: np.ndarray  # [i] room for x'G⁻¹x of an arm's rows
    design: Design
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    values, x = np.zeros(offer.arms.size), round_row(state.design, offer.context)
    if not mark_untried(state.rows.of_arm.length, state.design, offer.arms, values):
        for i in range(values.size):  # x'G⁻¹ Σ X (Y + Z) as Σ Y u'X + Σ Z u'X, u = G⁻¹x: O(d) a row
            arm, u = offer.arms[i], state.workspace
            u[:] = x
            solve(state.factor[arm], u)
            positions = positions_of(state.rows, arm)
            score = state.score[: positions.size]
            scores(state.rows, positions, u, score)
            perturbed = perturbed_sum(score, state.pseudo[: score.size], rng)
            values[i] = rounded(dot(state.moment[arm], u) + perturbed, 1e12)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    x = case_row(state.design, case)
    pseudo = state.pseudo[state.rows.of_arm.length[arm]]
    append_row(state.rows, x, arm, reward)
    add_row(state.factor[arm], x, 1.0 + pseudo, state.workspace)
    add_multiple(state.moment[arm], reward, x)


@dataclass(frozen=True)
class LinPhe(Policy, name="lin-phe"):
    """Pulls the arm with the best linear fit to its rewards and `a` fresh coins at each context.

    In each round and for each arm, Z ~ Binomial(a, 1/2) is added to every observed reward Y, and
    θ = G⁻¹ Σ X (Y + Z) with G = (a + 1) (Σ X X' + penalty I). For real `a` an arm's s-th pull has
    ceil(a s) - ceil(a (s - 1)) coins, so that s pulls have ceil(a s), as in `phe`. A round costs as
    much as going through all of the past. Differs from the paper: parameters are not shared between
    arms, and since contexts cannot be picked to span the space at first, each arm is pulled once.
    Values that agree to 12 decimals count as tied.
    """

    source = "Kveton et al. 2019 (UAI), Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    a: float = 2.0
    penalty: float = field(default=1.0, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check(self.name, POSITIVE, a=self.a, penalty=self.penalty)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return empty histories."""
        n_arms, d, capacity = shape.n_arms, shape.width, shape.capacity
        factor = np.empty((n_arms, d, d))
        for arm in range(n_arms):
            set_penalty(factor[arm], (self.a + 1.0) * self.penalty)
        return _State(
            empty_rows(n_arms, d, capacity),
            pseudo_rewards_by_pull(float(self.a), capacity),
            factor,
            np.zeros((n_arms, d)),
            np.empty(d),
            np.empty(capacity),
            design_of(shape),
            tie_ranking(self.ties, n_arms, rng),
        )
