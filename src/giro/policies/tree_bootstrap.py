"""Tree bootstrap: decision trees on bootstrap samples (Elmachtoub et al., 2017, Algorithm 1)."""

from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np

from giro.checks import Count, optional, whole
from giro.compiling import kernel
from giro.kernels.giro.pseudo_rewards import REAL
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.kernels.memory import Everything
from giro.kernels.regression.design import Design, case_row, design_of, round_row
from giro.kernels.regression.rows import Rows, append_row, empty_rows, positions_of
from giro.model import Sample
from giro.models.tree import State as Trees
from giro.models.tree import Tree, leaf, refit
from giro.policy import Case, Context, Offer, Policy, Shape


class _State(NamedTuple):
    rows: Rows
    trees: Trees  # a slot for each arm
    counts: np.ndarray  # [i, kind] workspace for the bootstrap sample of one arm
    design: Design
    zeros: int  # prior rewards
    ones: int
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    values, x = np.empty(offer.arms.size), round_row(state.design, offer.context)
    for i in range(values.size):
        values[i] = _resampled_value(state, x, offer.arms[i], rng)
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _resampled_value(state: _State, context: Context, arm: int, rng: np.random.Generator) -> float:
    """Return the mean in the context's leaf of a tree fitted to a bootstrap sample."""
    positions = positions_of(state.rows, arm)
    counts = state.counts[: positions.size]
    zeros, ones = _draw(counts, state.zeros, state.ones, rng)
    weight, total = 0.0, 0.0
    if positions.size > 0:
        sample = Sample(state.rows, positions, counts, 0, Everything(1.0))
        refit(state.trees, arm, sample, rng)
        weight, total = leaf(state.trees, arm, context)
    n = weight + zeros + ones
    return (total + ones) / n if n > 0.0 else np.inf


@kernel
def _draw(
    counts: np.ndarray, zeros: int, ones: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Resample rows and prior rewards together, and return the numbers of prior zeros and ones."""
    s = counts.shape[0]
    counts[:] = 0
    drawn_zeros, drawn_ones = 0.0, 0.0
    for _ in range(s + zeros + ones):
        position = int(rng.random() * (s + zeros + ones))
        if position < s:
            counts[position, REAL] += 1
        elif position < s + zeros:
            drawn_zeros += 1.0
        else:
            drawn_ones += 1.0
    return drawn_zeros, drawn_ones


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    append_row(state.rows, case_row(state.design, case), arm, reward)


@dataclass(frozen=True)
class TreeBootstrap(Policy, name="tree-bootstrap"):
    """Pulls the arm whose decision tree, fitted to a bootstrap sample of its history, expects most.

    A round costs as much as a few passes through the arms' histories: only the path of the present
    context through each tree is grown (see `giro.kernels.tree.grow`). `depth` and `leaf` are those
    of the model `tree`. Without prior rewards an arm never pulled has the value infinity.

    Differs from the paper: prior rewards, `zeros` failures and `ones` successes for each arm, are
    resampled with the history, but have no context. Those drawn count in every leaf, so no leaf is
    certain of its arm after a few equal rewards.
    """

    source = "Elmachtoub et al. 2017, Algorithm 1"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    zeros: Annotated[int, whole(0)] = 1
    ones: Annotated[int, whole(0)] = 1
    depth: Annotated[int | None, optional(whole(1))] = field(default=None, kw_only=True)
    leaf: Count = field(default=1, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return empty histories."""
        n_arms, capacity = shape.n_arms, shape.capacity
        return _State(
            empty_rows(n_arms, shape.width, capacity),
            Tree(self.depth, self.leaf).start(n_arms, shape.width, capacity, rng),
            np.empty((capacity, 3), np.int32),
            design_of(shape),
            self.zeros,
            self.ones,
            tie_ranking(self.ties, n_arms, rng),
        )
