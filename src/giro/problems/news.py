"""News: articles that come, grow old and go, and readers whose tastes drift."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from giro.checks import (
    FINITE,
    Count,
    NotNegative,
    Share,
    at_least,
    whole,
)
from giro.compiling import bind, dispatched, inline_kernel, kernel
from giro.errors import BadParameter
from giro.kernels.draws.continuous import standard_normal
from giro.kernels.draws.uniform import integer_below
from giro.kernels.network import clipped_sigmoid
from giro.offer import Offer, SparseRows
from giro.problem import Means, Problem
from giro.problems.bernoulli import toss

_EACH = 3  # features of an article that are not zero, if its number is one of them


class _Instance(NamedTuple):
    tastes: np.ndarray  # [kind, topic] of readers
    topic: np.ndarray  # [arm] of the article with this number
    quality: np.ndarray  # [arm]
    age: np.ndarray  # [arm] rounds since it appeared; -1 while the number is free
    arms: np.ndarray  # [i] articles on offer, ascending
    next: np.ndarray  # [1] the number after that of the newest article
    means: np.ndarray  # [arm] 0 for those that are not on offer
    context: np.ndarray  # [kind] of the present reader
    features: Any  # [i, feature], or `SparseRows`
    lifetime: float
    drift: float
    spread: float
    constant: float


@kernel
def _reveal(instance: _Instance, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    _renew(instance, rng)
    tastes, arms = instance.tastes, instance.arms
    kinds, topics = tastes.shape
    moved, drift = integer_below(kinds * topics, rng), instance.drift
    kind, topic = moved // topics, moved % topics
    kept = math.sqrt(1.0 - drift * drift) * tastes[kind, topic]
    tastes[kind, topic] = kept + drift * standard_normal(rng)
    reader = integer_below(kinds, rng)
    instance.context[:] = 0.0
    instance.context[reader] = 1.0
    highest = 0.0
    for i in range(arms.size):
        arm = arms[i]
        age = instance.age[arm] / instance.lifetime
        _describe(instance.features, i, instance.topic[arm], age, topics, arm)
        taste = tastes[reader, instance.topic[arm]]
        log_odds = instance.constant + taste + instance.quality[arm] - age
        instance.means[arm] = clipped_sigmoid(log_odds)
        highest = max(highest, instance.means[arm])
    return Offer(arms, instance.context, instance.features), instance.means, highest


@dispatched
def _describe(features: Any, i: int, topic: int, age: float, topics: int, arm: int) -> None:
    """Write the features of an article."""
    raise TypeError("replaced by dispatch")


@inline_kernel
def _describe_dense(
    features: np.ndarray, i: int, topic: int, age: float, topics: int, arm: int
) -> None:
    features[i, :] = 0.0
    features[i, topic] = 1.0
    features[i, topics] = age


@inline_kernel
def _describe_sparse(
    features: SparseRows, i: int, topic: int, age: float, topics: int, arm: int
) -> None:
    end = _EACH * i
    features.begin[i], features.begin[i + 1] = end, end + _EACH
    features.column[end], features.value[end] = topic, 1.0
    features.column[end + 1], features.value[end + 1] = topics, age
    features.column[end + 2], features.value[end + 2] = topics + 1 + arm, 1.0


bind(_describe, np.ndarray, _describe_dense)
bind(_describe, SparseRows, _describe_sparse)


@kernel
def _renew(instance: _Instance, rng: np.random.Generator) -> None:
    """Age all articles by a round, and replace some by new ones."""
    arms, gone = instance.arms, 0
    for i in range(arms.size):
        instance.age[arms[i]] += 1
        if rng.random() * instance.lifetime < 1.0:
            instance.age[arms[i]] = -1
            instance.means[arms[i]] = 0.0
            arms[i] = -1
            gone += 1
    if gone > 0:
        for i in range(arms.size):
            if arms[i] < 0:
                arms[i] = _publish(instance, rng)
        arms.sort()


@kernel
def _publish(instance: _Instance, rng: np.random.Generator) -> int:
    """Publish an article, and return its number: the next free one, from 0 again after the last."""
    arm, n_arms = instance.next[0], instance.age.size
    while instance.age[arm % n_arms] >= 0:
        arm += 1
    arm %= n_arms
    instance.next[0] = arm + 1
    instance.topic[arm] = integer_below(instance.tastes.shape[1], rng)
    instance.quality[arm] = instance.spread * standard_normal(rng)
    instance.age[arm] = 0
    return int(arm)


@dataclass(frozen=True)
class News(Problem, name="news"):
    """Articles that come, grow old and go, and readers who click on the one shown or do not.

    In each round `on_offer` articles can be shown. Each is replaced with probability 1 / `lifetime`
    before the round, by one of age 0 with a topic drawn from `topics` and a quality from
    N(0, spread²). The reader is of one of `kinds` kinds, drawn in each round. A click, reward 1,
    has the log odds constant + taste(kind, topic) + quality - age / lifetime, where the age is in
    rounds. Tastes are drawn from N(0, 1) before the first round. Then, in each round, a random one
    of them becomes √(1 - drift²) taste + drift z with z from N(0, 1), so that their distribution
    stays the same.

    The context is the kind, as a column of its own. The features of an article are its topic, as a
    column of its own, age / lifetime and, with `ids`, a column for its number. With `ids` features
    are sparse. Quality is not shown. Articles are numbered as they
    appear. After number n_arms - 1 comes 0 again, and numbers still on offer are skipped. So a
    number stands for different articles in a long run, about n_arms lifetime / on_offer rounds
    apart. Arms that are not on offer have mean 0.
    """

    source = "after Li et al. 2010, articles of a front page; the distribution is giro's own"
    reveal = staticmethod(_reveal)
    reward = staticmethod(toss)
    offers_all = False

    n_arms: Count = 1_000
    on_offer: Count = 20
    lifetime: Annotated[float, at_least(1.0)] = 1_000.0
    topics: Count = 8
    kinds: Annotated[int, whole(2)] = 4
    drift: Share = 0.1
    spread: NotNegative = 0.5
    constant: Annotated[float, FINITE] = -2.0
    ids: bool = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if self.on_offer > self.n_arms:
            raise BadParameter(
                f"news needs a number for each article on offer, got n_arms={self.n_arms} and "
                f"on_offer={self.on_offer}"
            )

    @property
    def n_features(self) -> int:  # type: ignore[override]  # known with the parameters
        """Numbers in a context."""
        return self.kinds

    @property
    def n_arm_features(self) -> int:  # type: ignore[override]  # likewise
        """Features of each article."""
        return self.topics + 1 + (self.n_arms if self.ids else 0)

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the tastes and the first articles of one run."""
        tastes = np.empty((self.kinds, self.topics))
        for index in np.ndindex(tastes.shape):
            tastes[index] = standard_normal(rng)
        features: np.ndarray | SparseRows = np.empty((self.on_offer, self.n_arm_features))
        if self.ids:
            entries = _EACH * self.on_offer
            begin, column = np.zeros(self.on_offer + 1, np.int64), np.empty(entries, np.int64)
            features = SparseRows(begin, column, np.empty(entries))
        instance = _Instance(
            tastes,
            np.zeros(self.n_arms, np.int64),
            np.zeros(self.n_arms),
            np.full(self.n_arms, -1),
            np.full(self.on_offer, -1),
            np.zeros(1, np.int64),
            np.zeros(self.n_arms),
            np.empty(self.n_features),
            features,
            float(self.lifetime),
            float(self.drift),
            float(self.spread),
            float(self.constant),
        )
        for i in range(self.on_offer):
            instance.arms[i] = _publish(instance, rng)
        return instance
