"""Learner: a policy's state for one set of arms, which has learned a part of the log."""

from collections.abc import Callable
from typing import Any

import numpy as np

from giro.bandit.log import Log, column, places
from giro.errors import GiroError
from giro.held import HeldInPython, hold
from giro.kernel import borrowed, is_kernel, kernel, plain
from giro.policy import Policy, choose, learn, start
from giro.seeds import NumberedStreams, stream

_START, _CHOOSE, _LEARN = range(3)  # what randomness is for, in the path of a stream


class Learner:
    """A state that knows the arms of one set, and of the log the rewards of just these.

    The state follows from the seed and the order of rewards alone. Its room doubles when it is
    full: a state of twice the size learns everything again, which makes a reward cost at most about
    three times as much on average. Decision n draws from a stream that depends on seed and n alone.
    """

    def __init__(
        self, policy: Policy, arms: tuple[int, ...], n_features: int, *, seed: int, room: int
    ) -> None:
        """Start a state for these arms, in which nothing is learned yet."""
        self.arms = arms
        self._policy, self._n_features, self._seed, self._room = policy, n_features, seed, room
        self._places = places(arms)
        self._streams = NumberedStreams(seed, _CHOOSE)
        self._functions = _Functions(policy, n_features)
        self._begin()
        nothing = np.empty(0, np.int64)  # compile now rather than when the room is first full
        self._functions.learn_all(
            self._held, np.empty((0, n_features)), nothing, nothing, np.empty(0)
        )

    def _begin(self) -> None:
        rng = stream(self._seed, _START)
        self.state = start(self._policy, len(self.arms), self._n_features, self._room, rng)
        self.learned = 0  # rewards of the log that were looked at
        self._absorbed = 0  # those of them that belong to these arms
        held = hold if self._functions.compiled else HeldInPython
        self._held: Any = held(self.state, self._streams.generator, stream(self._seed, _LEARN))

    def learn(self, log: Log, up_to: int) -> None:
        """Learn the rewards of the log from where it stands up to number `up_to`."""
        if up_to == self.learned + 1:
            self._learn_next(log)
        elif up_to > self.learned:
            self._learn_all(log, up_to)

    def _learn_next(self, log: Log) -> None:
        decision = log.rewarded[self.learned]
        arm = log.chosen[decision]
        place = self._places[arm] if arm < self._places.size else -1
        if place < 0:
            self.learned += 1
        elif self._absorbed == self._room:
            self._learn_all(log, self.learned + 1)
        else:
            context, unit = log.contexts[decision], log.unit[self.learned]
            self._functions.learn(self._held, context, place, unit)
            self._absorbed += 1
            self.learned += 1

    def _learn_all(self, log: Log, up_to: int) -> None:
        decisions, places_ = self._part_of(log, self.learned, up_to)
        wanted = self._absorbed + int((places_ >= 0).sum())
        if wanted > self._room:
            while wanted > self._room:
                self._room *= 2
            self._begin()
            decisions, places_ = self._part_of(log, 0, up_to)
        units = column(log.unit, self.learned, up_to)
        self._functions.learn_all(self._held, log.contexts, decisions, places_, units)
        self.learned, self._absorbed = up_to, wanted

    def _part_of(self, log: Log, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the decisions of some rewards, and the places of their arms, -1 for others."""
        decisions = column(log.rewarded, begin, end)
        arms = column(log.chosen)[decisions]
        known = arms < self._places.size
        return decisions, np.where(known, self._places[np.where(known, arms, 0)], -1)

    def choose(self, decision: int, context: np.ndarray) -> int:
        """Return the place of the arm that decision number `decision` takes."""
        self._streams.at(decision)
        return self.choose_on(context)

    def stream_of(self, decision: int) -> np.random.Generator:
        """Return the generator of a decision at its start; `choose_on` and `vote_on` draw on."""
        return self._streams.at(decision)

    def choose_on(self, context: np.ndarray) -> int:
        """Return the place of an arm, drawing on from where the generator stands."""
        place = int(self._functions.choose(self._held, context))
        if not 0 <= place < len(self.arms):
            raise GiroError(f"{self._policy} chose arm {place} of {len(self.arms)}")
        return place

    def vote_on(self, context: np.ndarray, votes: int) -> np.ndarray:
        """Return how often each arm is chosen in so many choices, [place]."""
        counts = np.zeros(len(self.arms), np.int64)
        self._functions.vote(self._held, context, votes, counts)
        return counts


class _Functions:
    """What is done with a held state: kernels, or their Python bodies if the policy is Python."""

    def __init__(self, policy: Policy, n_features: int) -> None:
        self.compiled = all(map(is_kernel, policy.functions(n_features)))
        self.choose, self.learn = self._for_policy(_choose), self._for_policy(_learn)
        self.learn_all, self.vote = self._for_policy(_learn_all), self._for_policy(_vote)

    def _for_policy(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function if self.compiled else plain(function)


@kernel
def _choose(held: Any, context: np.ndarray) -> int:
    return choose(borrowed(held.state), context, held.choosing)


@kernel
def _learn(held: Any, context: np.ndarray, arm: int, reward: float) -> None:
    learn(borrowed(held.state), context, arm, reward, held.learning)


@kernel
def _learn_all(
    held: Any, contexts: np.ndarray, decisions: np.ndarray, arms: np.ndarray, rewards: np.ndarray
) -> None:
    """Learn rewards[i] of arms[i], where that is not -1, in the context of decisions[i]."""
    state = borrowed(held.state)
    for i in range(arms.size):
        if arms[i] >= 0:
            learn(state, contexts[decisions[i]], arms[i], rewards[i], held.learning)


@kernel
def _vote(held: Any, context: np.ndarray, votes: int, counts: np.ndarray) -> None:
    state = borrowed(held.state)
    for _ in range(votes):
        counts[choose(state, context, held.choosing)] += 1
