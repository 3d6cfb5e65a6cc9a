"""Contextual Giro: fit a model to a bootstrap sample (Kveton et al., 2019, Algorithm 3)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel, plain
from giro.kernels.bootstrap_counts import draw_counts
from giro.kernels.contexts import with_bias
from giro.kernels.rows import Rows, append_row, empty_rows, positions_of
from giro.kernels.ties import Ties, argmax, tie_ranking
from giro.model import Model, Sample, refit, state_in_python, value
from giro.model import start as start_model
from giro.models.estimator import as_model
from giro.models.linear import Linear
from giro.policy import Context, Policy


class _State(NamedTuple):
    rows: Rows
    model: Any  # fitted coefficients, a slot an arm
    counts: np.ndarray  # [i, kind] room for the bootstrap sample of one arm
    one: np.ndarray  # [1] the context where the problem has none
    a: float  # pseudo rewards of each kind per pull
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    values = np.empty(state.rows.of_arm.length.size)
    some_untried = state.rows.of_arm.length.min() == 0
    for arm in range(values.size):
        positions = positions_of(state.rows, arm)
        if some_untried:  # infinity beats every fit, so none is needed
            values[arm] = np.inf if positions.size == 0 else 0.0
            continue
        counts = state.counts[: positions.size]
        draw_counts(counts, state.a, rng)
        refit(state.model, arm, Sample(state.rows, positions, counts), rng)
        values[arm] = value(state.model, arm, with_bias(context, state.one))
    return argmax(values, state.ranking, rng)


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    append_row(state.rows, with_bias(context, state.one), arm, reward)


@dataclass(frozen=True)
class ContextualGiro(Policy, name="contextual-giro"):
    """Pulls the arm whose model, fitted to a bootstrap sample of its history, expects most.

    In each round and for each arm the history, with `a` pseudo rewards 0 and 1 at each observed
    context, is resampled and the model fitted to it, so a round costs as much as going through all
    of the past. `model` is linear, logistic, network, another of `giro.models`, or from Python any
    scikit-learn estimator. An untried arm has the value infinity. Differs from the paper: real `a`
    is allowed as in Section 6.1, and models have a penalty, without which few rows have no fit.
    """

    source = "Kveton et al. 2019, Algorithm 3"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    a: float = 1.0
    model: Model = Linear()  # noqa: RUF009  # frozen
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters; wrap an estimator."""
        if not 0.0 <= self.a < np.inf:
            raise BadParameter(f"contextual-giro needs a finite a >= 0, got a={self.a}")
        object.__setattr__(self, "model", as_model(self.model))

    @property
    def choosing_leaves_traces(self) -> bool:  # type: ignore[override]  # known with the model
        """Whether a choice starts from the fits of the last one."""
        return not self.model.forgets

    def functions(self, n_features: int) -> tuple[Callable[..., int], Callable[..., None]]:
        """Return kernels, or their Python bodies for a model that does not compile."""
        if self.model.compiles:
            return _choose, _learn
        return plain(_choose), plain(_learn)

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> Any:
        """Return empty histories and models that are not fitted."""
        features = max(n_features, 1)
        state = _State if self.model.compiles else state_in_python(_State)
        return state(
            empty_rows(n_arms, features, rounds),
            start_model(self.model, n_arms, features, rounds, rng),
            np.empty((rounds, 3), np.int32),
            np.ones(1),
            float(self.a),
            tie_ranking(self.ties, n_arms, rng),
        )
