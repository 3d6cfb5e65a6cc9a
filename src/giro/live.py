"""LivePolicy: a policy at work outside of the simulator, one call at a time."""

import hashlib
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from giro.compiling import borrowed, is_kernel, kernel, plain
from giro.compiling.held import HeldInPython, hold
from giro.errors import BadFile, GiroError
from giro.hashing import IS_NUMBER, sparse_rows
from giro.offer import Case, Offer, Shape, case_of, features_at, in_rows, position_of
from giro.policy import Policy, arrays_of, choose, grow, learn, propensities, restored, start
from giro.seeds import NumberedStreams, stream
from giro.standardising import Numbers, no_moments, standardised

_START, _CHOOSE, _LEARN = range(3)  # what randomness is for, in the path of a stream
_GAME = 64  # rounds of the game that tells behaviour
_MOMENTS = ("moments of contexts", "moments of arms")  # beside the state's arrays in a snapshot

TO_CHOOSE, TO_LEARN, TO_TELL = range(3)  # what `work` is to do
UNCOUNTED = np.empty(0)


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
        self._work = work if self._functions.compiled else plain(work)
        self._one_arm, self._one_reward = np.zeros(1, np.int64), np.zeros(1)
        self._hold(state)

    @property
    def compiled(self) -> bool:
        """Whether the policy runs as compiled code."""
        return self._functions.compiled

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
        return int(offer.arms[self._chosen(offer, 1, -1, UNCOUNTED)])

    def vote(self, offer: Offer, votes: int) -> np.ndarray:
        """Return the share of each arm on offer in this many choices, [i]."""
        counts = np.zeros(offer.arms.size)
        self._chosen(offer, votes, -1, counts)
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
        count = np.zeros(1)
        self._chosen(offer, limit, arm, count)
        return int(count[0])

    def _chosen(self, offer: Offer, times: int, until: int, counts: np.ndarray) -> int:
        """Return the place of the last arm that is chosen; see `work`."""
        rows = self._rows(in_rows(offer.context), offer.features, learned=False)
        position = self._work(self._held, TO_CHOOSE, offer.arms, *rows, counts, times, until)
        if position < 0:
            raise GiroError(f"{self.policy} chose an arm that is not on offer")
        return int(position)

    def propensities(self, offer: Offer) -> np.ndarray | None:
        """Return the exact probability of each arm on offer, [i]; None where it is not known."""
        exact = self._functions.propensities
        if exact is None:
            return None
        contexts, features = self._rows(in_rows(offer.context), offer.features, learned=False)
        if not (self._functions.compiled and is_kernel(exact)):
            found = exact(self.state, Offer(offer.arms, features_at(contexts, 0), features))
            return np.asarray(found, float) if len(found) else None
        found = np.empty(offer.arms.size)
        known = self._work(self._held, TO_TELL, offer.arms, contexts, features, found, 0, -1)
        return found if known else None

    def _rows(
        self, contexts: np.ndarray, features: np.ndarray, *, learned: bool
    ) -> tuple[Any, Any]:
        """Return rows of contexts and of features of arms as the policy sees them."""
        if self.shape.hashed:
            return sparse_rows(contexts), sparse_rows(features)
        if self._moments:
            of_contexts, of_arms = self._moments
            contexts = _standardised(of_contexts, contexts, learned)
            features = _standardised(of_arms, features, learned)
        return contexts, features

    # -- learning ----------------------------------------------------------------------------

    def learn(self, case: Case, arm: int, reward: float) -> None:
        """Take in one reward in [0, 1]."""
        self._one_arm[0], self._one_reward[0] = arm, reward
        rows = in_rows(case.context), in_rows(case.features)
        self._take_in(*rows, self._one_arm, self._one_reward)

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
        self._take_in(contexts, features, arms, rewards)

    def _take_in(
        self, contexts: np.ndarray, features: np.ndarray, arms: np.ndarray, rewards: np.ndarray
    ) -> None:
        self.grow_to(self.learned + rewards.size)
        rows = self._rows(contexts, features, learned=True)
        self._work(self._held, TO_LEARN, arms, *rows, rewards, 0, -1)
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


def _standardised(moments: np.ndarray, rows: np.ndarray, learned: bool) -> np.ndarray:
    return standardised(moments, rows.ravel(), learned).reshape(rows.shape) if rows.size else rows


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
def work(
    held: Any,
    task: int,
    arms: np.ndarray,
    contexts: Any,
    features: Any,
    numbers: np.ndarray,
    times: int,
    until: int,
) -> int:
    """Learn, tell probabilities or choose: one kernel, as each takes seconds to compile.

    `TO_LEARN`: rewards numbers[i] of arms[i], known of which are the rows i. Otherwise `arms` are
    on offer, in a round of which the one row of `contexts` is known. `TO_TELL`: the probability of
    each goes to `numbers`; returned is how many are known, all or none. `TO_CHOOSE`: some `times`,
    up to an illegal choice or the first of the arm `until`; returned is the place of the last arm
    in the offer, -1 if it is not there. Choices are counted: by place if `numbers` is as long as
    the offer, all in one if it has length 1, not at all if it is empty.
    """
    state = borrowed(held.state)
    if task == TO_LEARN:
        for i in range(arms.size):
            case = Case(features_at(contexts, i), features_at(features, i))
            learn(state, case, arms[i], numbers[i], held.learning)
        return arms.size
    offer = Offer(arms, features_at(contexts, 0), features)
    if task == TO_TELL:
        found = propensities(state, offer)
        for i in range(found.size):
            numbers[i] = found[i]
        return found.size
    position = -1
    for _ in range(times):
        position = position_of(offer, choose(state, offer, held.choosing))
        if position < 0:
            break
        if numbers.size > 0:
            numbers[position if until < 0 else 0] += 1.0
        if arms[position] == until:
            break
    return position
