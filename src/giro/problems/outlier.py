"""Outlier: a word that one kind of reader likes very much, and all others do not like."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from giro.checks import Count, whole
from giro.compiling import kernel
from giro.kernels.draws.uniform import integer_below
from giro.offer import Offer
from giro.problem import Means, Problem
from giro.problems.bernoulli import toss

_ORDINARY = 0.02, 0.04  # means of other words are between
_LIKED, _DISLIKED = 0.3, 0.005  # means of the outlier


class _Instance(NamedTuple):
    table: np.ndarray  # [kind, word] means
    arms: np.ndarray  # [arm] all of them
    means: np.ndarray  # [arm] in the present round
    context: np.ndarray  # [kind] of the present reader
    features: np.ndarray  # [arm, word]


@kernel
def _reveal(instance: _Instance, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    kinds, words = instance.table.shape
    reader, odd = integer_below(kinds, rng), integer_below(instance.arms.size, rng)
    instance.context[:] = 0.0
    instance.context[reader] = 1.0
    instance.features[:] = 0.0
    highest = 0.0
    for arm in instance.arms:
        word = words - 1 if arm == odd else integer_below(words - 1, rng)
        instance.features[arm, word] = 1.0
        instance.means[arm] = instance.table[reader, word]
        highest = max(highest, instance.means[arm])
    return Offer(instance.arms, instance.context, instance.features), instance.means, highest


@dataclass(frozen=True)
class Outlier(Problem, name="outlier"):
    """Arms with a word each, one of which pays a few readers much and all others little.

    In each round the reader is of one of `kinds` kinds. One of the arms, drawn anew, has the last
    of the `words`, the outlier: rewards 0 and 1 with mean 0.3 for readers of the first kind, and
    0.005 for all others. Each other arm has one of the other words, drawn anew. Their means are
    drawn from [0.02, 0.04] before the first round, for each kind and word. Rewards are rare, and
    whoever tries the outlier with a few readers finds that it is bad. It has to be tried again.
    Kind and word are shown, as columns of their own.
    """

    source = "giro's own: what is good for few is not found without exploring"
    reveal = staticmethod(_reveal)
    reward = staticmethod(toss)

    n_arms: Count = 10
    words: Annotated[int, whole(2)] = 30
    kinds: Annotated[int, whole(2)] = 5

    @property
    def n_features(self) -> int:  # type: ignore[override]  # known with the parameters
        """Numbers in a context."""
        return self.kinds

    @property
    def n_arm_features(self) -> int:  # type: ignore[override]  # likewise
        """Features of each arm."""
        return self.words

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the means of one run."""
        table = np.empty((self.kinds, self.words))
        low, high = _ORDINARY
        for index in np.ndindex(table.shape):
            table[index] = low + (high - low) * rng.random()
        table[:, -1] = _DISLIKED
        table[0, -1] = _LIKED
        return _Instance(
            table,
            np.arange(self.n_arms),
            np.zeros(self.n_arms),
            np.zeros(self.kinds),
            np.zeros((self.n_arms, self.words)),
        )
