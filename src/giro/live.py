"""LivePolicy: a policy at work outside of the simulator, one call at a time."""

import copy
import hashlib
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from giro.compiling import borrowed, inline_kernel, is_kernel, kernel, plain
from giro.compiling.held import Direct, HeldInPython, hold
from giro.errors import BadFile, GiroError
from giro.features import Schema
from giro.hashing import IS_NUMBER
from giro.kernels.draws.mixed import NOT_ONE, Drawn, drawn_places, mix_and_draw
from giro.kernels.draws.uniform import first_uniform
from giro.kernels.highest.slots import chances_left
from giro.offer import (
    NO_CONTEXT,
    NO_FEATURES,
    Case,
    Offer,
    Shape,
    SparseRow,
    SparseRows,
    features_at,
    position_of,
    row_at,
)
from giro.policy import (
    Policy,
    arrays_of,
    chances_of,
    choose,
    copied,
    grow,
    learn,
    propensities,
    race_of,
    restored,
    start,
    write_scores,
)
from giro.seeds import NumberedStreams, stream
from giro.standardising import no_moments, seen

FIRST_CAPACITY = 1024  # rewards that a state can hold at first
_START, _CHOOSE, _LEARN = range(3)  # purposes of randomness, in the path of a stream
_UNCOUNTED = np.empty(0, np.int64)
_NO_ROWS = (np.empty((1, 0)), np.empty((1, 0)))
_NO_DRAW = -1  # in place of a baseline
_UNKNOWN = -1  # in place of a position
_ALL_AT_ONCE = 2**25  # numbers in rows, of which a state that is bounded takes up to 30 bytes each
_GAME = 64  # rounds of the game that tells behaviour
_MOMENTS = ("moments of contexts", "moments of arms")  # beside the state's arrays in a snapshot

_PLACES = Direct(drawn_places)
_FIRST_UNIFORM = Direct(first_uniform) if is_kernel(first_uniform) else None

Function = TypeVar("Function", bound=Callable[..., Any])


class Scored(NamedTuple):
    """What a policy knows of the arms of an offer, and which of them are left."""

    scores: Any  # by `LivePolicy.scores`
    left: np.ndarray  # places


class LivePolicy:
    """A policy's state, which chooses from offers, learns, grows, and can be written down.

    The state follows from the seed, the rewards in their order and, where `choose_mutates_state`,
    the choices. Choice n draws from a stream that depends on the seed and n alone.

    Offers and cases are raw: rows as `schema` encodes them. The policy sees them standardised by
    the rewards learned before (see `giro.standardising`), with products as the schema has them, and
    only as far as it can use them. A row of fewer columns was made before the schema grew.
    """

    def __init__(
        self,
        policy: Policy,
        schema: Schema,
        *,
        n_arms: int,
        seed: int,
        rounds: int | None = None,
        capacity: int = FIRST_CAPACITY,
    ) -> None:
        """Start a state in which nothing is learned yet.

        `rounds` are those that a policy plans for, `capacity` the rewards that there is room for.
        """
        shape = _shape_of(policy, schema, max(1, n_arms), rounds or FIRST_CAPACITY, capacity)
        self._begin(policy, schema, shape, seed, start(policy, shape, stream(seed, _START)))

    def _begin(self, policy: Policy, schema: Schema, shape: Shape, seed: int, state: Any) -> None:
        self.policy, self.schema, self.shape, self.learned = policy, schema, shape, 0
        self.played = policy.resolved(contextual=shape.contextual)
        self._seed, self._functions = seed, self.played.functions()
        self.is_blind = not self.played.uses_contexts
        self._takes_all = shape.sparse or not schema.contextual  # offers need not be looked at
        self._moments = _no_moments(schema, shape)
        self._fingerprint = ""  # not known yet
        self._streams, self._learning = NumberedStreams(seed, _CHOOSE), stream(seed, _LEARN)
        self.stream_of = self._streams.at
        self._choose, self._learn = self._form(_choose), Direct(self._form(_learn))
        exact = self._functions.propensities
        scores = self._functions.scores
        self._n_scores = 0 if scores is None else scores.columns
        draw: Any = _draw_by_scores if self._n_scores else _draw
        draw = self._form(draw) if exact is None or is_kernel(exact) else plain(draw)
        self._draw = None if exact is None else Direct(draw)
        race = self._functions.race
        self._race = None if race is None else Direct(self._form(_race))
        self._draw_slot = None if race is None else Direct(self._form(_draw_slot))
        self._draws_in_python = not is_kernel(draw)
        each: Any = _draw_rows_by_scores if self._n_scores else _draw_rows
        self._draw_rows = None if exact is None or self._draws_in_python else Direct(each)
        self._one_arm, self._one_reward = np.zeros(1, np.int64), np.zeros(1)
        self._hold(state)

    def copy(self) -> Self:
        """Return a copy that can learn while this one chooses, see `Policy.learns_aside`."""
        twin = copy.copy(self)
        twin._moments = (self._moments[0].copy(), self._moments[1].copy())
        twin._learning = copy.deepcopy(self._learning)
        twin._hold(copied(self.state))
        return twin

    @property
    def compiled(self) -> bool:
        """Whether the policy runs as compiled code."""
        return self._functions.compiled

    @property
    def learns_from_offers(self) -> bool:
        """Whether a case needs the offer from which its arm was chosen."""
        return self.played.learns_from_offers

    def case_of(self, offer: Offer, position: int, chance: float = math.nan) -> Case:
        """Return the case of the arm at a place of an offer, as the policy learns from it."""
        features = row_at(offer.features, position)
        return Case(offer.context, features, offer if self.learns_from_offers else None, chance)

    def _form(self, function: Function) -> Any:
        return function if self._functions.compiled else plain(function)

    def _hold(self, state: Any) -> None:
        self.state, self._room = state, _room_of(self.played, self.shape)
        moments = None if self.is_blind else self._moments
        parts = (state, moments, self._streams.generator, self._learning)
        self._held: Any = (hold if self._functions.compiled else HeldInPython)(*parts)
        self._held_to_draw = HeldInPython(*parts) if self._draws_in_python else self._held

    # -- choosing ----------------------------------------------------------------------------

    stream_of: Callable[[int], np.random.Generator]
    """Return the generator that choices draw from, at the start of this number's stream."""

    def choose(self, offer: Offer) -> int:
        """Return the arm that the policy pulls, drawn from the generator's present position."""
        position = self._choose(self._held, *self._usable(offer), 1, -1, _UNCOUNTED)
        self._check_on_offer(position)
        return int(offer.arms[position])

    def vote(self, offer: Offer, votes: int) -> np.ndarray:
        """Return the share of each arm on offer in this many choices, [i]."""
        counts = np.zeros(offer.arms.size, np.int64)
        self._check_on_offer(self._choose(self._held, *self._usable(offer), votes, -1, counts))
        return counts / votes

    def tries(self, offer: Offer, arm: int, limit: int) -> int:
        """Return how many fresh choices it takes to choose this arm again, at most `limit`.

        Geometric resampling (Neu and Bartók, 2013): if the arm was chosen with the probability p,
        from this state and offer, the mean of this number is (1 - (1 - p)^limit) / p. So it stands
        for 1 / p in inverse-propensity estimates, which then are too low by the share (1 - p)^limit
        of what the arm pays, at most 1 / (e p limit) of it, and unbiased without a limit. For an
        arm that the policy itself chose, it takes as many choices on average as there are arms that
        it may choose. Draws on from where the generator stands: after `choose`, from fresh numbers.
        """
        count = np.zeros(1, np.int64)
        self._check_on_offer(self._choose(self._held, *self._usable(offer), limit, arm, count))
        return int(count[0])

    def _check_on_offer(self, position: int) -> None:
        if position < 0:
            raise GiroError(f"{self.policy} chose an arm that is not on offer")

    def propensities(self, offer: Offer) -> np.ndarray | None:
        """Return the exact probability of each arm on offer, [i], or None where it is not known."""
        drawn = self.draw(offer, 0, baseline=_NO_DRAW)
        return None if drawn is None else drawn[1]

    def draw(
        self,
        offer: Offer,
        number: int,
        *,
        floor: float = 0.0,
        share: float = 1.0,
        baseline: int = 0,
        scored: Scored | None = None,
    ) -> Drawn | None:
        """Return an arm drawn from the exact probabilities, or None where they are not known.

        Any arm is taken with the probability `floor`, and the one at the position `baseline` with
        the probability 1 - `share`. What is drawn depends on the seed and `number`. The arms are
        those of an offer that are left, if that is `scored` already.
        """
        draw = self._draw
        if draw is None:
            return None
        arms, context, features = offer if self._takes_all else self._usable(offer)
        chances = np.empty(arms.size)
        known: tuple[Any, ...] = ()
        if self._n_scores and scored is None:
            known = np.empty((arms.size, self._n_scores)), False
        elif scored is not None:
            known = (scored.scores[scored.left], True) if self._n_scores else scored
            draw = draw if self._draw_slot is None else self._draw_slot
        position, own = draw.call(
            self._held_to_draw,
            arms,
            context,
            features,
            *known,
            floor,
            share,
            baseline,
            self._point_of(number),
            chances,
        )
        if position == _UNKNOWN:
            return None
        if position == NOT_ONE:
            raise GiroError(f"its probabilities add up to {own}")
        return Drawn(position, chances, own)

    def draw_each(
        self, offer: Offer, numbers: Sequence[int], *, floor: float = 0.0
    ) -> list[tuple[int, np.ndarray, float]] | None:
        """Return the arm that `draw` draws with each of these numbers, on the same offer.

        The probabilities are worked out once, and shared.
        """
        known = self.draw(offer, 0, floor=floor, baseline=_NO_DRAW)
        if known is None:
            return None
        places = np.empty(len(numbers), np.int64)
        _PLACES.call(known.propensities, self._streams.key, np.array(numbers, np.int64), places)
        chances, own = known.propensities, known.propensities[places].tolist()
        return list(zip(places.tolist(), itertools.repeat(chances), own))

    def draw_rows(
        self, offer: Offer, contexts: np.ndarray, numbers: Sequence[int], *, floor: float = 0.0
    ) -> list[tuple[int, np.ndarray, float]] | None:
        """Return the draws of `draw` with each of these numbers, on this offer with contexts[i].

        None where each is to be drawn for itself.
        """
        if self._draw_rows is None or self.shape.sparse:
            return None
        arms, _, features = self._usable(offer)
        n, k = len(numbers), arms.size
        if contexts.shape[1] != self.shape.n_features:
            contexts = _widened(contexts, self.shape.n_features)
        scores = (np.empty((k, self._n_scores)),) if self._n_scores else ()
        places, chances, key = np.empty(n, np.int64), np.empty((n, k)), self._streams.key
        out = (floor, key, np.array(numbers, np.int64), places, chances)
        if not self._draw_rows.call(self._held_to_draw, arms, contexts, features, *scores, *out):
            return None
        own = chances[np.arange(n), places].tolist()
        return list(zip(places.tolist(), map(np.copy, chances), own, strict=True))

    def scores(self, offer: Offer, slots: int) -> Any:
        """Return scores of the arms, by which `draw` chooses among those left in slots.

        None where the policy has nothing of the kind.
        """
        if self._race is not None:
            return self._race.call(self._held, *self._usable(offer), slots)
        if self._draw is None or not self._n_scores:
            return None
        scores, k = np.empty((offer.arms.size, self._n_scores)), offer.arms.size
        usable = offer if self._takes_all else self._usable(offer)
        self._draw.call(
            self._held_to_draw, *usable, scores, False, 0.0, 1.0, _NO_DRAW, 0.0, np.empty(k)
        )
        return scores

    def _point_of(self, number: int) -> float:
        """Return the first uniform number of a stream."""
        if _FIRST_UNIFORM is not None:
            point: float = _FIRST_UNIFORM.call(self._streams.key, number)
            return point
        return float(self._streams.at(number).random())

    def ask(self, function: Callable[..., Any], offer: Offer, *more: Any) -> Any:
        """Return the answer of a kernel that takes a held state, an offer's parts and `more`."""
        return self._form(function)(self._held, *self._usable(offer), *more)

    def _usable(self, offer: Offer) -> Offer:
        """Return the part of an offer that the policy can use, with rows as wide as its columns."""
        arms, context, features = offer
        if self.is_blind:
            return Offer(arms, NO_CONTEXT, NO_FEATURES)
        shape = self.shape
        if shape.sparse:
            return offer
        if shape.n_arm_features == 0:
            features = NO_FEATURES
        elif features.shape[1] != shape.n_arm_features:
            features = _widened(features, shape.n_arm_features)
        if context.size != shape.n_features:
            context = _widened(context, shape.n_features)
        return Offer(arms, context, features)

    # -- learning ----------------------------------------------------------------------------

    def learn(self, case: Case, arm: int, reward: float) -> None:
        """Take in one reward in [0, 1]."""
        self.grow_to(self.learned + 1)
        if self.learns_from_offers:
            offer = self._usable(_offer_in(case, arm))
            self._form(_learn_of_offer)(self._held, *offer, arm, reward, float(case.chance))
        elif self.shape.sparse:
            self._form(_learn_sparse)(self._held, case.context, case.features, arm, reward)
        else:
            self._one_arm[0], self._one_reward[0] = arm, reward
            rows = _NO_ROWS if self.is_blind else self._usable_rows(*_row_each(case))
            self._learn.call(self._held, *rows, self._one_arm, self._one_reward)
        self.learned += 1

    def learn_all(
        self,
        contexts: np.ndarray,
        features: np.ndarray,
        arms: np.ndarray,
        rewards: np.ndarray,
    ) -> None:
        """Take in rewards[i] of arms[i], at contexts[i] with features[i] of the arm.

        Rows are dense, see `Schema.is_sparse`.
        """
        self.grow_to(self.learned + rewards.size)
        rows = self._usable_rows(contexts, features)
        self._learn.call(self._held, *rows, arms, rewards)
        self.learned += rewards.size

    def _usable_rows(
        self, contexts: np.ndarray, features: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of contexts and of the chosen arms as wide as the policy's columns."""
        n, m = (0, 0) if self.is_blind else (self.shape.n_features, self.shape.n_arm_features)
        if contexts.shape[1] != n:
            contexts = _widened(contexts, n)
        if features.shape[1] != m:
            features = _widened(features, m)
        return contexts, features

    # -- growing -----------------------------------------------------------------------------

    def grow_to(self, rewards: int, *, n_arms: int = 0) -> None:
        """Grow, if need be, to hold this many rewards and arms.

        It grows at least twofold. Policies that plan then plan for twice the rounds.
        """
        shape = self.shape
        if rewards <= self._room and n_arms <= shape.n_arms and rewards <= shape.rounds:
            return
        while rewards > shape.rounds:
            shape = shape._replace(rounds=max(1, 2 * shape.rounds))
        if n_arms > shape.n_arms:
            shape = shape._replace(n_arms=max(2 * shape.n_arms, n_arms))
        self._grow(shape._replace(capacity=_larger_capacity(self.played, shape, rewards)))

    def widen_to(self, schema: Schema) -> None:
        """Grow to the columns of a schema that has grown.

        Rows so far had missing values there.
        """
        old, self.schema, self._fingerprint = self.shape, schema, ""
        shape = _shape_of(self.policy, schema, old.n_arms, old.rounds, old.capacity)
        moments = _no_moments(schema, shape)
        for before, after in zip(self._moments, moments, strict=True):
            after[:, : before.shape[1]] = before
        self._moments = moments
        self._grow(shape)

    def _grow(self, shape: Shape) -> None:
        old, self.shape, before = self.shape, shape, self.shape.contextual
        if self._looks_the_same(old):
            self._room = _room_of(self.played, shape)
            return
        self.played = self.policy.resolved(contextual=shape.contextual)
        if before != shape.contextual and self.played != self.policy:
            raise GiroError(f"{self.policy} plays otherwise where something is known of rounds")
        self._hold(grow(self.policy, self.state, shape, stream(self._seed, _START)))

    def _looks_the_same(self, old: Shape) -> bool:
        """Return whether a state of the present shape has the same size as one of an old shape."""
        shape = self.shape
        if not self.played.needs_rounds:  # the number of rounds is no size of it
            shape = shape._replace(rounds=old.rounds)
        if shape.sparse:  # a table holds any number of rewards
            shape = shape._replace(capacity=old.capacity)
        return shape == old

    # -- writing down ------------------------------------------------------------------------

    def fingerprint(self) -> str:
        """Return a text that differs if the policy behaves differently.

        The first call is slow.
        """
        self._fingerprint = self._fingerprint or fingerprint(self.policy, self.schema)
        return self._fingerprint

    def snapshot(self) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
        """Return plain data and copies of all arrays, or None for a state of Python objects."""
        arrays = arrays_of(self.state)
        if arrays is None:
            return None
        about = {
            "fingerprint": self.fingerprint(),
            "sizes": [self.shape.n_arms, self.shape.rounds, self.shape.capacity],
            "learned": self.learned,
            "generator": _plain(self._learning.bit_generator.state),
        }
        arrays |= dict(zip(_MOMENTS, self._moments, strict=True))
        return about, {path: array.copy() for path, array in arrays.items()}

    @classmethod
    def from_snapshot(
        cls,
        policy: Policy,
        schema: Schema,
        about: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        *,
        seed: int,
        of_any_version: bool = False,
    ) -> Self | None:
        """Return the policy in a snapshot, or None if this code would have made another state.

        With `of_any_version` that may be, if the state has the same form.
        """
        try:
            if not of_any_version and about["fingerprint"] != fingerprint(policy, schema):
                return None
            shape = _shape_of(policy, schema, *map(int, about["sizes"]))
            own = {path: array for path, array in arrays.items() if path not in _MOMENTS}
            state = restored(policy, shape, own, stream(seed, _START))
        except BadFile:
            return None
        live = cls.__new__(cls)
        live._begin(policy, schema, shape, seed, state)
        moments = tuple(arrays[path].copy() for path in _MOMENTS if path in arrays)
        if [each.shape for each in moments] != [each.shape for each in live._moments]:
            return None
        live._moments = moments  # type: ignore[assignment]  # two, by the line above
        live._hold(state)
        live._fingerprint = about["fingerprint"]
        live.learned = int(about["learned"])
        live._learning.bit_generator.state = about["generator"]
        return live


def usable_schema(policy: Policy, schema: Schema) -> Schema:
    """Return the part of a schema that a policy can use."""
    played = policy.resolved(contextual=True)
    if not played.uses_contexts:
        return Schema()
    if played.uses_arm_features or schema.arms is None:
        return schema
    if schema.is_sparse:
        return schema
    steps = dict.fromkeys((n, 0) for n, _ in schema.steps)
    steps.pop((schema.widths[0], 0), None)
    contextual = schema.contextual and schema.widths[0] > 0
    return schema._replace(arms=None, interactions=None, steps=tuple(steps), contextual=contextual)


def _shape_of(policy: Policy, schema: Schema, n_arms: int, rounds: int, capacity: int) -> Shape:
    """Return the shape of a policy's state."""
    if not policy.resolved(contextual=schema.contextual).uses_contexts:
        arm_columns = 0 if policy.uses_arm_features else schema.widths[1]  # an error, in `start`
        return Shape(n_arms, 0, arm_columns, rounds, capacity)
    layout = schema.layout if schema.contextual and not schema.is_sparse else None
    return Shape(n_arms, *schema.widths, rounds, capacity, schema.is_sparse, layout)


def _larger_capacity(policy: Policy, shape: Shape, rewards: int) -> int:
    """Return a capacity for so many rewards, at least twice the present one if that is too small.

    Memory that is not used yet costs nothing, but copying what was learned takes long. So a state
    that is bounded has all its room at once, up to `_ALL_AT_ONCE`.
    """
    most = policy.most_rewards(shape)
    needed = rewards if most is None else min(rewards, most)
    if needed <= shape.capacity:
        return shape.capacity
    larger = max(2 * shape.capacity, needed)
    if most is None:
        return larger
    return min(most, max(larger, _ALL_AT_ONCE // shape.width))


def _room_of(policy: Policy, shape: Shape) -> float:
    """Return how many rewards a state of this shape can hold."""
    most = policy.most_rewards(shape)
    return math.inf if most is not None and shape.capacity >= most else shape.capacity


def _no_moments(schema: Schema, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Return moments of the columns that a policy sees."""
    of_context, of_arms = schema.standardised
    return no_moments(of_context[: shape.n_features]), no_moments(of_arms[: shape.n_arm_features])


def _row_each(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Return one row of contexts, and one of features of arms."""
    return case.context.reshape(1, -1), case.features.reshape(1, -1)


def _offer_in(case: Case, arm: int) -> Offer:
    """Return the offer of a case, or that of its arm alone."""
    if isinstance(case.offer, Offer):
        return case.offer
    arms, features = np.array([arm]), case.features
    if isinstance(features, SparseRow):
        rows: Any = SparseRows(np.array([0, features.column.size]), *features)
    else:
        rows = features.reshape(1, -1) if features.size else NO_FEATURES
    return Offer(arms, case.context, rows)


def _widened(rows: np.ndarray, width: int) -> np.ndarray:
    """Return rows in which columns at the end are missing, or cut off."""
    result = np.full((*rows.shape[:-1], width), np.nan)
    result[..., : rows.shape[-1]] = rows[..., :width]
    return result


def _plain(state: Any) -> Any:
    """Return the state of a generator as JSON has it."""
    if isinstance(state, Mapping):
        return {key: _plain(value) for key, value in state.items()}
    return state if isinstance(state, str) else int(state)


def fingerprint(policy: Policy, schema: Schema) -> str:
    """Return a text that differs if the policy behaves differently, or its state looks different.

    It plays a short game with rewards 0 and 1 and then others, among all arms and some of them.
    """
    live = LivePolicy(policy, schema, n_arms=5, seed=0, rounds=_GAME, capacity=_GAME)
    rng, digest = stream(0, _GAME), hashlib.sha256()
    for path, array in sorted((arrays_of(live.state) or {}).items()):
        digest.update(f"{path} {array.dtype} {array.ndim};".encode())
    for number in range(_GAME):
        arms = np.arange(5) if number % 3 else np.array([0, 2, 3])
        offer = (_sparse_offer if schema.is_sparse else _random_offer)(arms, schema, rng)
        live.stream_of(number)
        arm, reward = live.choose(offer), float(rng.random() < 0.5)
        reward = reward if number < _GAME // 2 else float(rng.random())
        live.learn(live.case_of(offer, position_of(offer, arm)), arm, reward)
        digest.update(f"{arm},".encode())
    return digest.hexdigest()[:16]


def _random_offer(arms: np.ndarray, schema: Schema, rng: np.random.Generator) -> Offer:
    n, m = schema.widths
    return Offer(arms, 2 * rng.random(n) - 1, rng.random((arms.size, m) if m else (0, 0)))


def _sparse_offer(arms: np.ndarray, schema: Schema, rng: np.random.Generator) -> Offer:
    """Return two numbers, or words, of the round and of each arm."""
    codes, k = np.array([7, 11 + IS_NUMBER]), arms.size
    context = SparseRow(codes, rng.random(2))
    return Offer(
        arms, context, SparseRows(2 * np.arange(k + 1), np.tile(codes, k), rng.random(2 * k))
    )


@kernel
def seen_offer(moments: Any, arms: np.ndarray, context: Any, features: Any) -> Offer:
    """Return an offer as the policy sees it."""
    if moments is None:  # of a policy that sees neither
        return Offer(arms, context, features)
    of_contexts, of_arms = moments
    return Offer(arms, seen(context, of_contexts, False), seen(features, of_arms, False))


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

    Choosing ends early at an illegal choice, or at the first choice of the arm `until`. Choices
    are counted: by place if `counts` is as long as the offer, all in one if it has length 1, not at
    all if it is empty. One kernel does all of this, because a policy's choice takes seconds to
    compile.
    """
    state, position = borrowed(held.state), -1
    offer = seen_offer(held.moments, arms, context, features)
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
def _draw(
    held: Any,
    arms: np.ndarray,
    context: Any,
    features: Any,
    floor: float,
    share: float,
    baseline: int,
    point: float,
    chances: np.ndarray,
) -> tuple[int, float]:
    """Write the probabilities of all arms, and return a drawn place and its own probability.

    The latter is the policy's, before a baseline is mixed in. The place is `_UNKNOWN` if the policy
    does not know its probabilities, and `NOT_ONE` if they add up to something else, which then is
    returned.
    """
    policy = propensities(borrowed(held.state), seen_offer(held.moments, arms, context, features))
    if policy.size == 0:
        return _UNKNOWN, 0.0
    return mix_and_draw(policy, floor, share, baseline, point, chances)


@kernel
def _draw_by_scores(
    held: Any,
    arms: np.ndarray,
    context: Any,
    features: Any,
    scores: np.ndarray,
    is_known: bool,
    floor: float,
    share: float,
    baseline: int,
    point: float,
    chances: np.ndarray,
) -> tuple[int, float]:
    """Do the same by the scores of the arms, which are written unless they are known."""
    state = borrowed(held.state)
    if not is_known:
        write_scores(state, seen_offer(held.moments, arms, context, features), scores)
    policy = chances_of(state, arms, scores)
    if policy.size == 0:
        return _UNKNOWN, 0.0
    return mix_and_draw(policy, floor, share, baseline, point, chances)


@kernel
def _draw_rows(
    held: Any,
    arms: np.ndarray,
    contexts: np.ndarray,
    features: Any,
    floor: float,
    key: np.ndarray,
    numbers: np.ndarray,
    places: np.ndarray,
    chances: np.ndarray,
) -> bool:
    """Draw for each row, and return whether all could be."""
    for i in range(numbers.size):
        point = first_uniform(key, numbers[i])
        places[i] = _draw(held, arms, contexts[i], features, floor, 1.0, 0, point, chances[i])[0]
        if places[i] < 0:
            return False
    return True


@kernel
def _draw_rows_by_scores(
    held: Any,
    arms: np.ndarray,
    contexts: np.ndarray,
    features: Any,
    scores: np.ndarray,
    floor: float,
    key: np.ndarray,
    numbers: np.ndarray,
    places: np.ndarray,
    chances: np.ndarray,
) -> bool:
    """Do the same by scores."""
    for i in range(numbers.size):
        point = first_uniform(key, numbers[i])
        places[i] = _draw_by_scores(
            held, arms, contexts[i], features, scores, False, floor, 1.0, 0, point, chances[i]
        )[0]
        if places[i] < 0:
            return False
    return True


@kernel
def _race(held: Any, arms: np.ndarray, context: Any, features: Any, slots: int) -> Any:
    """Return the part of a ranking that all slots share."""
    offer = seen_offer(held.moments, arms, context, features)
    return race_of(borrowed(held.state), offer, slots)


@kernel
def _draw_slot(
    held: Any,
    arms: np.ndarray,
    context: Any,
    features: Any,
    race: Any,
    left: np.ndarray,
    floor: float,
    share: float,
    baseline: int,
    point: float,
    chances: np.ndarray,
) -> tuple[int, float]:
    """Do the same for the arms that are left in a race, see `Policy.race`."""
    policy = chances_left(race, left)
    if policy.size == 0:
        offer = seen_offer(held.moments, arms, context, features)
        policy = propensities(borrowed(held.state), offer)
    if policy.size == 0:
        return _UNKNOWN, 0.0
    return mix_and_draw(policy, floor, share, baseline, point, chances)


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
        case = _seen_case(held.moments, contexts[i], features[i])
        learn(state, case, arms[i], rewards[i], held.learning)


@inline_kernel
def _seen_case(moments: Any, context: np.ndarray, features: np.ndarray) -> Case:
    """Return a case as the policy sees it, once it is learned."""
    if moments is None:
        return Case(context, features, None, math.nan)
    of_contexts, of_arms = moments
    context, features = seen(context, of_contexts, True), seen(features, of_arms, True)
    return Case(context, features, None, math.nan)


@kernel
def _learn_sparse(held: Any, context: Any, features: Any, arm: int, reward: float) -> None:
    case = Case(context, features, None, math.nan)
    learn(borrowed(held.state), case, arm, reward, held.learning)


@kernel
def _learn_of_offer(
    held: Any,
    arms: np.ndarray,
    context: Any,
    features: Any,
    arm: int,
    reward: float,
    chance: float,
) -> None:
    """Learn with all arms on offer as the policy sees them, once the chosen one is learned."""
    position = position_of(Offer(arms, context, features), arm)
    chosen = features_at(features, position)
    if held.moments is not None:
        of_contexts, of_arms = held.moments
        seen(context, of_contexts, True)
        seen(chosen, of_arms, True)
    offer = seen_offer(held.moments, arms, context, features)
    case = Case(offer.context, features_at(offer.features, position), offer, chance)
    learn(borrowed(held.state), case, arm, reward, held.learning)
