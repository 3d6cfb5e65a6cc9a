"""LivePolicy: a policy at work outside of the simulator, one call at a time."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

import numpy as np

from giro.compiling import borrowed, is_kernel, kernel, plain
from giro.compiling.held import HeldInPython, hold
from giro.errors import BadFile, GiroError
from giro.hashing import IS_NUMBER, sparse_row, sparse_rows
from giro.offer import Case, Offer, Shape, case_of, position_of
from giro.policy import Policy, arrays_of, choose, grow, learn, propensities, restored, start
from giro.seeds import NumberedStreams, stream
from giro.standardising import Numbers, no_moments, standardised

_START, _CHOOSE, _LEARN = range(3)  # what randomness is for, in the path of a stream
_UNCOUNTED = np.empty(0, np.int64)
_GAME = 64  # rounds of the game that tells behaviour
_MOMENTS = ("moments of contexts", "moments of arms")  # beside the state's arrays in a snapshot

Function = TypeVar("Function", bound=Callable[..., Any])


class LivePolicy:
    """A policy's state, which chooses from offers, learns, grows, and can be written down.

    The state follows from the seed, the rewards in their order and, where `choose_mutates_state`,
    the choices. Choice n draws from a stream that depends on the seed and n alone.

    With `numbers`, contexts and features of arms are raw: the policy sees them standardised by what
    was learned before (see `giro.standardising`). Without, it sees them as they are. Features that
    are hashed come as rows of pairs (see `giro.hashing`).
    """

    def __init__(
        self, policy: Policy, shape: Shape, *, seed: int, numbers: Numbers | None = None
    ) -> None:
        """Start a state in which nothing is learned yet."""
        self._begin(policy, shape, seed, numbers, start(policy, shape, stream(seed, _START)))

    def _begin(
        self, policy: Policy, shape: Shape, seed: int, numbers: Numbers | None, state: Any
    ) -> None:
        self.policy, self.shape, self.learned = policy, shape, 0
        self.played = policy.resolved(contextual=shape.contextual)
        self._seed, self._functions, self._numbers = seed, self.played.functions(), numbers
        known = shape.n_features + shape.n_arm_features > 0
        is_raw = numbers is not None and known and self.played.uses_contexts
        self._moments = [no_moments(each) for each in numbers or ()] if is_raw else []
        self._fingerprint = ""  # not known yet
        self._streams, self._learning = NumberedStreams(seed, _CHOOSE), stream(seed, _LEARN)
        self._choose, self._learn = self._form(_choose), self._form(_learn)
        self._one_arm, self._one_reward = np.zeros(1, np.int64), np.zeros(1)
        self._hold(state)

    @property
    def compiled(self) -> bool:
        """Whether the policy runs as compiled code."""
        return self._functions.compiled

    def _form(self, function: Function) -> Any:
        return function if self._functions.compiled else plain(function)

    def _hold(self, state: Any) -> None:
        self.state = state
        held = hold if self._functions.compiled else HeldInPython
        self._held: Any = held(state, self._streams.generator, self._learning)

    # -- choosing ----------------------------------------------------------------------------

    def stream_of(self, number: int) -> np.random.Generator:
        """Return the generator that choices draw from, at the start of this number's stream."""
        return self._streams.at(number)

    def choose(self, offer: Offer) -> int:
        """Return the arm that the policy pulls, drawing on from where the generator stands."""
        position = self._choose(self._held, *self._seen(offer), 1, -1, _UNCOUNTED)
        if position < 0:
            raise GiroError(f"{self.policy} chose an arm that is not on offer")
        return int(offer.arms[position])

    def vote(self, offer: Offer, votes: int) -> np.ndarray:
        """Return the share of each arm on offer in this many choices, [i]."""
        counts = np.zeros(offer.arms.size, np.int64)
        if self._choose(self._held, *self._seen(offer), votes, -1, counts) < 0:
            raise GiroError(f"{self.policy} chose an arm that is not on offer")
        return counts / votes

    def tries(self, offer: Offer, arm: int, limit: int) -> int:
        """Return at which fresh choice the policy chooses this arm again, `limit` at most.

        Geometric resampling (Neu and Bartók, 2013): if the arm was chosen with the probability p,
        from this state and offer, the mean of this number is (1 - (1 - p)^limit) / p. So it stands
        for 1 / p in inverse-propensity estimates, which then are too low by the share (1 - p)^limit
        of what the arm pays, at most 1 / (e p limit) of it, and unbiased without a limit. For an
        arm that the policy itself chose, it takes as many choices on average as there are arms that
        it may choose. Draws on from where the generator stands: after `choose`, from fresh numbers.
        """
        count = np.zeros(1, np.int64)
        if self._choose(self._held, *self._seen(offer), limit, arm, count) < 0:
            raise GiroError(f"{self.policy} chose an arm that is not on offer")
        return int(count[0])

    def propensities(self, offer: Offer) -> np.ndarray | None:
        """Return the exact probability of each arm on offer, [i]; None where it is not known."""
        exact = self._functions.propensities
        if exact is None:
            return None
        seen = self._seen(offer)
        if self._functions.compiled and is_kernel(exact):
            found = _propensities(self._held, *seen)
        else:
            found = np.asarray(exact(self.state, seen), float)
        return found if found.size else None

    def _seen(self, offer: Offer) -> Offer:
        """Return an offer as the policy sees it."""
        if not (self._moments or self.shape.hashed):
            return offer
        return Offer(offer.arms, *self._rows(offer.context, offer.features, learned=False))

    def _rows(
        self, contexts: np.ndarray, features: np.ndarray, *, learned: bool
    ) -> tuple[Any, Any]:
        """Return rows of contexts and of features of arms as the policy sees them."""
        if self.shape.hashed:
            several = features.ndim > 1
            return sparse_row(contexts), (sparse_rows if several else sparse_row)(features)
        if not self._moments:
            return contexts, features
        of_contexts, of_arms = self._moments
        if contexts.size:
            contexts = _each(of_contexts, contexts, learned)
        if features.size:
            features = _each(of_arms, features, learned)
        return contexts, features

    # -- learning ----------------------------------------------------------------------------

    def learn(self, case: Case, arm: int, reward: float) -> None:
        """Take in one reward in [0, 1]."""
        self.grow_to(self.learned + 1)
        context, features = self._rows(case.context, case.features, learned=True)
        if isinstance(features, np.ndarray):
            self._one_arm[0], self._one_reward[0] = arm, reward
            rows = context.reshape(1, -1), features.reshape(1, -1)
            self._learn(self._held, *rows, self._one_arm, self._one_reward)
        else:
            self._form(_learn_sparse)(self._held, context, features, arm, reward)
        self.learned += 1

    def learn_all(
        self,
        contexts: np.ndarray,
        features: np.ndarray,
        arms: np.ndarray,
        rewards: np.ndarray,
    ) -> None:
        """Take in rewards[i] of arms[i], at contexts[i] with features[i] of the arm."""
        if self.shape.hashed:
            for i, arm in enumerate(arms.tolist()):
                self.learn(Case(contexts[i], features[i]), arm, float(rewards[i]))
            return
        self.grow_to(self.learned + rewards.size)
        contexts, features = self._rows(contexts, features, learned=True)
        self._learn(self._held, contexts, features, arms, rewards)
        self.learned += rewards.size

    # -- growing -----------------------------------------------------------------------------

    def grow_to(self, rewards: int, *, n_arms: int = 0) -> None:
        """Grow, if need be, to hold this many rewards and arms; at least twofold.

        Policies that plan then plan for twice the rounds.
        """
        shape = self.shape
        if rewards > shape.capacity:
            shape = shape._replace(capacity=max(2 * shape.capacity, rewards))
        while rewards > shape.rounds:
            shape = shape._replace(rounds=max(1, 2 * shape.rounds))
        if n_arms > shape.n_arms:
            shape = shape._replace(n_arms=max(2 * shape.n_arms, n_arms))
        if shape != self.shape:
            self._hold(grow(self.policy, self.state, shape, stream(self._seed, _START)))
            self.shape = shape

    # -- writing down ------------------------------------------------------------------------

    def fingerprint(self) -> str:
        """Return a text that differs if the policy behaves differently; the first call is slow."""
        self._fingerprint = self._fingerprint or fingerprint(self.policy, self.shape, self._numbers)
        return self._fingerprint

    def snapshot(self) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
        """Return plain data and copies of all arrays; None for a state of Python objects."""
        arrays = arrays_of(self.state)
        if arrays is None:
            return None
        about = {
            "fingerprint": self.fingerprint(),
            "shape": self.shape._asdict(),
            "learned": self.learned,
            "generator": _plain(self._learning.bit_generator.state),
        }
        arrays |= dict(zip(_MOMENTS, self._moments, strict=False))
        return about, {path: array.copy() for path, array in arrays.items()}

    @classmethod
    def from_snapshot(
        cls,
        policy: Policy,
        about: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        *,
        seed: int,
        numbers: Numbers | None = None,
    ) -> Self | None:
        """Return the policy as it was; None if this code would have made another state of it."""
        try:
            shape = _shape_of(about["shape"])
            if about["fingerprint"] != fingerprint(policy, shape, numbers):
                return None
            own = {path: array for path, array in arrays.items() if path not in _MOMENTS}
            state = restored(policy, shape, own, stream(seed, _START))
        except BadFile:
            return None
        live = cls.__new__(cls)
        live._begin(policy, shape, seed, numbers, state)
        moments = [arrays[path].copy() for path in _MOMENTS if path in arrays]
        if [each.shape for each in moments] != [each.shape for each in live._moments]:
            return None
        live._moments = moments
        live._fingerprint = about["fingerprint"]
        live.learned = int(about["learned"])
        live._learning.bit_generator.state = about["generator"]
        return live


def _shape_of(plain: Any) -> Shape:
    """Return a shape from plain data; a list of its first sizes was written before it had more."""
    if isinstance(plain, list):
        plain = dict(zip(Shape._fields, plain, strict=False)) | {"crossed": None}
    crossed = plain["crossed"]
    pairs = None if crossed is None else tuple((int(i), int(j)) for i, j in crossed)
    return Shape(**(plain | {"crossed": pairs}))


def _each(moments: np.ndarray, rows: np.ndarray, learned: bool) -> np.ndarray:
    """Return one row, or each of several, standardised."""
    if rows.ndim == 1:
        return standardised(moments, rows, learned)
    return standardised(moments, rows.ravel(), learned).reshape(rows.shape)


def _plain(state: Any) -> Any:
    """Return the state of a generator as JSON has it."""
    if isinstance(state, Mapping):
        return {key: _plain(value) for key, value in state.items()}
    return state if isinstance(state, str) else int(state)


def fingerprint(policy: Policy, shape: Shape, numbers: Numbers | None = None) -> str:
    """Return a text that differs if the policy behaves differently, or its state looks different.

    It plays a short game with rewards 0 and 1 and then others, among all arms and some of them.
    """
    small = shape._replace(n_arms=5, rounds=_GAME, capacity=_GAME)
    live, rng = LivePolicy(policy, small, seed=0, numbers=numbers), stream(0, _GAME)
    digest = hashlib.sha256()
    for path, array in sorted((arrays_of(live.state) or {}).items()):
        digest.update(f"{path} {array.dtype} {array.ndim};".encode())
    for number in range(_GAME):
        arms = np.arange(5) if number % 3 else np.array([0, 2, 3])
        offer = _offer_of_pairs(arms, rng) if small.hashed else _random_offer(arms, small, rng)
        live.stream_of(number)
        arm, reward = live.choose(offer), float(rng.random() < 0.5)
        reward = reward if number < _GAME // 2 else float(rng.random())
        live.learn(case_of(offer, position_of(offer, arm)), arm, reward)
        digest.update(f"{arm},".encode())
    return digest.hexdigest()[:16]


def _random_offer(arms: np.ndarray, shape: Shape, rng: np.random.Generator) -> Offer:
    n_features = (arms.size, shape.n_arm_features) if shape.n_arm_features else (0, 0)
    return Offer(arms, 2 * rng.random(shape.n_features) - 1, rng.random(n_features))


def _offer_of_pairs(arms: np.ndarray, rng: np.random.Generator) -> Offer:
    """Return two numbers, or words, of the round and of each arm."""
    codes = np.array([7.0, 0.0, 11.0 + IS_NUMBER, 0.0])
    rows = codes + rng.random((arms.size + 1, 4)) * [0.0, 1.0, 0.0, 1.0]
    return Offer(arms, rows[0], rows[1:])


@kernel
def _choose(
    held: Any,
    arms: np.ndarray,
    context: Any,
    features: Any,
    times: int,
    until: int,
    counts: np.ndarray,
) -> int:
    """Choose some times and return the place of the last arm in the offer, -1 if it is not there.

    Up to an illegal choice, or the first of the arm `until`. Choices are counted: by place if
    `counts` is as long as the offer, all in one if it has length 1, not at all if it is empty. One
    kernel for all of this, because a policy's choice takes seconds to compile.
    """
    state, offer, position = borrowed(held.state), Offer(arms, context, features), -1
    for _ in range(times):
        position = position_of(offer, choose(state, offer, held.choosing))
        if position < 0:
            break
        if counts.size > 0:
            counts[position if until < 0 else 0] += 1
        if arms[position] == until:
            break
    return position


@kernel
def _propensities(held: Any, arms: np.ndarray, context: Any, features: Any) -> np.ndarray:
    return propensities(borrowed(held.state), Offer(arms, context, features))


@kernel
def _learn(
    held: Any,
    contexts: np.ndarray,
    features: np.ndarray,
    arms: np.ndarray,
    rewards: np.ndarray,
) -> None:
    state = borrowed(held.state)
    for i in range(arms.size):
        learn(state, Case(contexts[i], features[i]), arms[i], rewards[i], held.learning)


@kernel
def _learn_sparse(held: Any, context: Any, features: Any, arm: int, reward: float) -> None:
    learn(borrowed(held.state), Case(context, features), arm, reward, held.learning)
