"""Online cover: a few policies, each of which is drawn to arms that those before it do not choose.

Agarwal et al. (2014) draw from the sparsest distribution over policies that explores enough. Its
online form has N policies, one vote each. With K arms on offer in round t, an arm is chosen with
the probability

    p_a = ε + (1 - K ε) v_a,   ε = min(1 / K, 1 / (K t)^(1/2)),

where v_a is the share of votes. When a reward comes, policy i learns the reward plus a bonus

    b_i = ψ ε / (ε + (1 - K ε) q),

where q is the share of the i - 1 policies before it that vote for the arm: the bonus is ψ if nobody
does. The first policy learns the reward alone.

All learn by regression of the chosen arm, where a row counts 1 / (K p_a). A reward plus a bonus in
[0, 1 + ψ] enters as weights of the reward, of a 1 and of a 0 at the same context, which is what
any model of `giro-ensemble` takes: r + b = (1 + ψ) (r + b 1 + (ψ - b) 0) / (1 + b + (ψ - b)).
"""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.checks import NOT_NEGATIVE, check, whole
from giro.compiling import kernel
from giro.errors import BadParameter
from giro.kernels.draws.discrete import place_by_chance
from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO
from giro.kernels.highest.probabilities import argmax_probabilities
from giro.kernels.highest.ties import Ties
from giro.model import Model
from giro.models.hashed import Hashed
from giro.offer import of_arms, position_of
from giro.policies._arm_models import ModelPolicy
from giro.policies._replicas import put_values, take_weighted
from giro.policies.giro_ensemble import GiroEnsemble
from giro.policy import Case, Functions, Offer, Scores, Shape


class _State(NamedTuple):
    models: Any  # a replica for each policy, see `giro.policies._replicas`
    learned: np.ndarray  # [1] rewards so far
    psi: float


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    return int(offer.arms[place_by_chance(_propensities(state, offer), rng)])


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    values = np.empty((offer.arms.size, state.models.drawn.shape[0]))
    put_values(state.models, offer, values)
    return _chances(state, offer.arms, values)


@kernel
def _write_values(state: _State, offer: Offer, out: np.ndarray) -> None:
    put_values(state.models, offer, out)


@kernel
def _chances(state: _State, arms: np.ndarray, values: np.ndarray) -> np.ndarray:
    votes, least = _votes(state, arms, values), least_chance(arms.size, state.learned[0] + 1)
    chances = np.empty(arms.size)
    for i in range(arms.size):
        chances[i] = least + (1.0 - arms.size * least) * votes[i].mean()
    return chances


@kernel
def _votes(state: _State, arms: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return votes[i, policy] for each arm. Policies divide theirs among arms that tie."""
    ranking, votes = of_arms(state.models.ranking, arms), np.empty(values.shape)
    for policy in range(values.shape[1]):
        votes[:, policy] = argmax_probabilities(np.ascontiguousarray(values[:, policy]), ranking)
    return votes


@kernel
def least_chance(n_arms: int, t: int) -> float:
    """Return the probability that every arm has in round t, at least."""
    return min(1.0 / n_arms, 1.0 / math.sqrt(n_arms * t))


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    arms = case.offer.arms
    values = np.empty((arms.size, state.models.drawn.shape[0]))
    put_values(state.models, case.offer, values)
    votes = _votes(state, arms, values)[position_of(case.offer, arm)]
    least = least_chance(arms.size, state.learned[0] + 1)
    put_weights(state.models.drawn, votes, least, arms.size, state.psi, case.chance)
    take_weighted(state.models, case, arm, reward, rng)
    state.learned[0] += 1


@kernel
def put_weights(
    weights: np.ndarray, votes: np.ndarray, least: float, n_arms: int, psi: float, chance: float
) -> None:
    """Write the weights of a reward, a 1 and a 0 for each policy, given its votes for the arm.

    A `chance` that is not known is that of the present votes.
    """
    rest, before = 1.0 - n_arms * least, 0.0
    if not chance > 0.0:
        chance = least + rest * votes.mean()
    weight = 1.0 / (n_arms * chance)
    weights[0, REAL], weights[0, ONE], weights[0, ZERO] = weight, 0.0, 0.0
    for policy in range(1, votes.size):
        before += votes[policy - 1]
        bonus = psi * least / (least + rest * before / policy)
        weights[policy, REAL] = weight / (1.0 + psi)
        weights[policy, ONE] = weight * bonus / (1.0 + psi)
        weights[policy, ZERO] = weight * (psi - bonus) / (1.0 + psi)


@dataclass(frozen=True)
class Cover(ModelPolicy, name="cover"):
    """Lets policies vote, each drawn by a bonus to arms that those before it do not choose.

    There are `policies`, and each arm has the probability ε + (1 - K ε) (its share of the votes)
    among K arms, where ε = min(1 / K, 1 / (K t)^(1/2)) in round t. A policy is a `model` of
    rewards, the first one, or of rewards plus a bonus of at most `psi` for arms that few of the
    policies before it choose. A row counts 1 / (K p), with the probability p of the chosen arm as
    it was when the arm was chosen, so late rewards and those of other policies' decisions count as
    they should. The model has to take such weights: linear, logistic, trees, hashed. It needs to
    know which arms were on offer when it learns. Probabilities are exact.

    Differs from the paper: this is its online form, and all policies learn by weighted regression
    of the chosen arm. Vowpal Wabbit gives those after the first one doubly robust costs of all
    arms, which may lie outside [0, 1]. All policies vote before any of them learns. In Vowpal
    Wabbit each learns before the next one votes, a bonus looks at the votes counted so far, and
    ψ is 1. An untried arm gets every policy's vote.
    """

    source = "Agarwal et al. 2014, online cover; Bietti, Agarwal and Langford 2021"
    uses_arm_features = True
    learns_from_offers = True
    choose_mutates_state = False

    psi: float = 0.1
    model: Model = Hashed()  # noqa: RUF009  # frozen
    policies: int = 4
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check(self.name, NOT_NEGATIVE, psi=self.psi)
        check(self.name, whole(1), policies=self.policies)
        super().__post_init__()
        if not self.model.takes_weights:
            raise BadParameter(
                f"cover needs a model of weighted rows, as linear, logistic, tree or hashed; "
                f"{self.model} uses rows a whole number of times"
            )

    @property
    def _replicas(self) -> GiroEnsemble:
        return GiroEnsemble(
            a=0.0,
            model=self.model,
            replicas=self.policies,
            weights="poisson",
            spread=1.0,
            ties=self.ties,
        )

    @property
    def learns_aside(self) -> bool:  # type: ignore[override]  # as that of replicas
        """Whether the model is one in Python."""
        return not self.compiles

    def most_rewards(self, shape: Shape) -> int | None:
        """Return 1 if models see only the last row. Others are fitted to all rows."""
        return self._replicas.most_rewards(shape)

    def functions(self) -> Functions:
        """Return the functions for any model."""
        scores = Scores(self.policies, _write_values, _chances)
        functions = Functions(_choose, _learn, _propensities, scores)
        return functions if self.compiles else functions.in_python

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return models before any reward."""
        models = self._replicas.start(shape, rng)
        return _State(models, np.zeros(1, np.int64), float(self.psi))
