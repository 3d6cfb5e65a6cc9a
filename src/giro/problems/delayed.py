"""Delayed: another problem whose rewards reach the policy later."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from giro.checks import check, whole
from giro.compiling import bind, in_python, kernel, plain
from giro.kernels.draws.continuous import standard_exponential
from giro.offer import Case, Offer, Shape, case_of, position_of
from giro.policy import choose, learn, propensities
from giro.problem import Law, Means, Problem, Wrapping
from giro.problem import reveal as reveal_of
from giro.problem import reward as reward_of
from giro.problem import start as start_problem

Delay = Literal["fixed", "random", "batch"]


class _Instance(NamedTuple):
    inner: Any  # the instance of the other problem


@kernel
def _reveal(instance: _Instance, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    return reveal_of(instance.inner, t, rng)


@kernel
def _reward(instance: _Instance, means: Means, arm: int, rng: np.random.Generator) -> float:
    return reward_of(instance.inner, means, arm, rng)


class _Withheld(NamedTuple):
    """A policy's state, and the rewards that have not reached it."""

    policy: Any
    contexts: np.ndarray  # [round, feature]
    features: np.ndarray  # [round, feature] of the pulled arm
    arms: np.ndarray  # [round]
    rewards: np.ndarray  # [round]
    order: np.ndarray  # [i] rounds, as their rewards reach the policy
    due: np.ndarray  # [i] the rounds at the end of which they do
    counts: np.ndarray  # [2] rounds played, rewards that have reached the policy


@kernel
def _choose(state: _Withheld, offer: Offer, rng: np.random.Generator) -> int:
    return choose(state.policy, offer, rng)


@kernel
def _learn(state: _Withheld, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    """Keep the reward of this round, and hand over those that are due."""
    t, counts = state.counts[0], state.counts
    state.contexts[t], state.features[t] = case.context, case.features
    state.arms[t], state.rewards[t] = arm, reward
    counts[0] += 1
    while counts[1] < counts[0] and state.due[counts[1]] <= t:
        i = state.order[counts[1]]
        known = Case(state.contexts[i], state.features[i])
        learn(state.policy, known, state.arms[i], state.rewards[i], rng)
        counts[1] += 1


class _WithheldOffers(NamedTuple):
    """The same, with all that was on offer, for policies that learn from it."""

    withheld: _Withheld
    on_offer: np.ndarray  # [round, i] arms
    sizes: np.ndarray  # [round] number of arms on offer
    of_arms: np.ndarray  # [round, i, feature]; [round, 0, 0] where arms have none
    chances: np.ndarray  # [round] with which the arm was pulled


@kernel
def _choose_noting_chances(state: _WithheldOffers, offer: Offer, rng: np.random.Generator) -> int:
    chances, arm = (
        propensities(state.withheld.policy, offer),
        choose(state.withheld.policy, offer, rng),
    )
    position = position_of(offer, arm)
    if position >= 0:
        state.chances[state.withheld.counts[0]] = chances[position]
    return arm


@kernel
def _learn_of_offers(
    state: _WithheldOffers, case: Case, arm: int, reward: float, rng: np.random.Generator
) -> None:
    """Keep the offer and the reward of this round, and hand over those that are due."""
    held, offer = state.withheld, case.offer
    t, counts, n = held.counts[0], held.counts, offer.arms.size
    state.on_offer[t, :n], state.sizes[t] = offer.arms, n
    if state.of_arms.shape[1] > 0:
        state.of_arms[t, :n] = offer.features
    held.contexts[t], held.arms[t], held.rewards[t] = offer.context, arm, reward
    counts[0] += 1
    while counts[1] < counts[0] and held.due[counts[1]] <= t:
        i = held.order[counts[1]]
        n = state.sizes[i]
        then = Offer(state.on_offer[i, :n], held.contexts[i], state.of_arms[i, :n])
        known = case_of(then, position_of(then, held.arms[i]))
        known = Case(known.context, known.features, then, state.chances[i])
        learn(held.policy, known, held.arms[i], held.rewards[i], rng)
        counts[1] += 1


def _bound(state: Any, choosing: Any, learning: Any, *, compiled: bool) -> Any:
    """Return the state, which these functions are to play."""
    kind = type(state) if compiled else in_python(type(state))
    bind(choose, kind, choosing if compiled else plain(choosing))
    bind(learn, kind, learning if compiled else plain(learning))
    return kind(*state)


@dataclass(frozen=True)
class Delayed(Wrapping, name="delayed"):
    """The rewards of `problem`, which the policy learns `lag` rounds later.

    With delay `fixed` the reward of a round comes after exactly `lag` further rounds, with `random`
    after a geometric number of rounds with this mean, each for itself, so that later rewards may
    come first. With `batch` rewards come together, at the end of rounds lag, 2 lag, and so on.
    Rewards that are due after the last round are never learned. Regret is counted in the round in
    which an arm is pulled. With lag 0, and with batches of 1, nothing is delayed.

    >>> Delayed.parse("delayed:problem=[bernoulli:n_arms=3],lag=50").n_arms
    3
    """

    source = "Chapelle and Li 2011, Section 4; Joulani, György and Szepesvári 2013"
    reveal = staticmethod(_reveal)
    reward = staticmethod(_reward)
    wrapped = ("problem",)

    problem: Problem
    lag: int = 100
    delay: Delay = "fixed"

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        check(self.name, whole(1 if self.delay == "batch" else 0), lag=self.lag)

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return an instance of the problem."""
        return _Instance(start_problem(self.problem, rng))

    def withhold(
        self,
        state: Any,
        shape: Shape,
        rng: np.random.Generator,
        *,
        compiled: bool,
        whole: bool = False,
    ) -> Any:
        """Return a state that plays as this one and hands rewards over when they are due."""
        due = self._due(shape.rounds, rng)
        order = np.argsort(due, kind="stable")
        withheld = _Withheld(
            state,
            np.empty((shape.rounds, shape.n_features)),
            np.empty((shape.rounds, shape.n_arm_features)),
            np.empty(shape.rounds, np.int64),
            np.empty(shape.rounds),
            order,
            due[order],
            np.zeros(2, np.int64),
        )
        if not whole:
            return _bound(withheld, _choose, _learn, compiled=compiled)
        rounds, arms, m = shape.rounds, shape.n_arms, shape.n_arm_features
        offers = _WithheldOffers(
            withheld,
            np.empty((rounds, arms), np.int64),
            np.empty(rounds, np.int64),
            np.empty((rounds, arms if m else 0, m)),
            np.empty(rounds),
        )
        return _bound(offers, _choose_noting_chances, _learn_of_offers, compiled=compiled)

    def law(self, instance: Any, arm: int) -> Law:
        """Return the law of the arm's rewards, whenever they come."""
        return self.problem.law(instance.inner, arm)

    def _due(self, rounds: int, rng: np.random.Generator) -> np.ndarray:
        """Return the round at the end of which each round's reward is learned."""
        t = np.arange(rounds)
        if self.delay == "batch":
            return np.asarray((t // self.lag + 1) * self.lag - 1)
        if self.delay == "fixed" or self.lag == 0:
            return np.asarray(t + self.lag)
        rate = np.log1p(1.0 / self.lag)  # an exponential variable, rounded down, is geometric
        waits = np.array([standard_exponential(rng) for _ in range(rounds)]) / rate
        return np.asarray(t + waits.astype(np.int64))
