"""Tree bootstrap: decision trees on bootstrap samples (Elmachtoub et al., 2017, Algorithm 1)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.kernel import kernel
from giro.kernels.bootstrap_counts import REAL
from giro.kernels.contexts import with_bias
from giro.kernels.rows import Rows, append_row, empty_rows, positions_of
from giro.kernels.ties import Ties, argmax, tie_ranking
from giro.model import Sample
from giro.models.tree import State as Trees
from giro.models.tree import Tree, check_limits, leaf, refit
from giro.policies.prior import check_prior
from giro.policy import Context, Policy


class _State(NamedTuple):
    rows: Rows
    trees: Trees  # a slot an arm
    counts: np.ndarray  # [i, kind] room for the bootstrap sample of one arm
    one: np.ndarray  # [1] the context where the problem has none
    zeros: int  # prior rewards
    ones: int
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    values = np.empty(state.rows.of_arm.length.size)
    for arm in range(values.size):
        values[arm] = _resampled_value(state, with_bias(context, state.one), arm, rng)
    return argmax(values, state.ranking, rng)


@kernel
def _resampled_value(state: _State, context: Context, arm: int, rng: np.random.Generator) -> float:
    """Return the mean in the leaf of the context, of a tree fitted to a bootstrap sample."""
    positions = positions_of(state.rows, arm)
    counts = state.counts[: positions.size]
    zeros, ones = _draw(counts, state.zeros, state.ones, rng)
    weight, total = 0.0, 0.0
    if positions.size > 0:
        refit(state.trees, arm, Sample(state.rows, positions, counts), rng)
        weight, total = leaf(state.trees, arm, context)
    n = weight + zeros + ones
    return (total + ones) / n if n > 0.0 else np.inf


@kernel
def _draw(
    counts: np.ndarray, zeros: int, ones: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Resample rows and prior rewards together; return how many prior zeros and ones were drawn."""
    s = counts.shape[0]
    counts[:] = 0
    drawn_zeros, drawn_ones = 0.0, 0.0
    for _ in range(s + zeros + ones):
        place = int(rng.random() * (s + zeros + ones))
        if place < s:
            counts[place, REAL] += 1
        elif place < s + zeros:
            drawn_zeros += 1.0
        else:
            drawn_ones += 1.0
    return drawn_zeros, drawn_ones


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    append_row(state.rows, with_bias(context, state.one), arm, reward)


@dataclass(frozen=True)
class TreeBootstrap(Policy, name="tree-bootstrap"):
    """Pulls the arm whose decision tree, fitted to a bootstrap sample of its history, expects most.

    A round costs as much as going through the arms' histories a few times: only the path of the
    present context through each tree is grown (see `giro.kernels.tree_grow`). `depth` and `leaf`
    are those of the model `tree`. Without prior rewards an arm never pulled has the value infinity.

    Differs from the paper: prior rewards, `zeros` failures and `ones` successes an arm, are
    resampled with the history, but have no context. Those drawn count in whichever leaf is asked,
    so no leaf is certain of its arm after a few equal rewards.
    """

    source = "Elmachtoub et al. 2017, Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    zeros: int = 1
    ones: int = 1
    depth: int | None = field(default=None, kw_only=True)
    leaf: int = field(default=1, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_prior("tree-bootstrap", zeros=self.zeros, ones=self.ones)
        check_limits("tree-bootstrap", depth=self.depth, leaf=self.leaf)

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return empty histories."""
        features = max(n_features, 1)
        return _State(
            empty_rows(n_arms, features, rounds),
            Tree(self.depth, self.leaf).start(n_arms, features, rounds, rng),
            np.empty((rounds, 3), np.int32),
            np.ones(1),
            self.zeros,
            self.ones,
            tie_ranking(self.ties, n_arms, rng),
        )
