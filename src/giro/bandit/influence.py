"""Influence: which features make which arm likelier, found by asking the policy for its choices.

Contexts of recent decisions are changed in one feature at a time, and the policy says how likely
each arm would be. So it does not matter what a policy is made of: what it has learned is what it
does. Nothing is drawn for decisions, and nothing is learned.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from giro.bandit.event import Decided
from giro.features import Columns
from giro.features.columns import NUMBER
from giro.offer import Offer

if TYPE_CHECKING:
    from giro.bandit.follower import Follower
    from giro.bandit.state import BanditState
    from giro.live import LivePolicy

RECENT = 400  # events in which contexts are looked for
_CONTEXTS = 50  # that are changed
_LEVERS = 40  # features of either side that are looked at
_ASKED, _ASKED_TO_VOTE, _VOTES = 2_000, 100, 50  # how often a policy is asked
_MANY = 20  # arms from which on it is asked less
_ENDS = (10, 90)  # percentiles that count as low and high


class Influence(NamedTuple):
    """How much a feature changes the probability of an arm."""

    arm: str | None  # None: of any arm, by a feature of its own
    feature: str
    value: str  # which of its values: a word, or "7 instead of 2"
    change: float  # of the probability: above 0 the arm becomes likelier


class _Lever(NamedTuple):
    """A feature, and the values that it is given in turn."""

    feature: str
    values: tuple[str, ...]
    columns: slice
    rows: np.ndarray  # [value, column]
    weights: np.ndarray  # [value] how often each was there; none for a low and a high number


class _Sample(NamedTuple):
    """Decisions with rows as wide as the schema is now."""

    names: list[tuple[str, ...]]  # [decision] of the arms on offer
    positions: list[int]  # [decision] of the chosen arm
    offers: list[Offer]


def influences(events: Sequence[Decided], follower: "Follower", most: int) -> list[Influence]:
    """Return the influences on the arms that are on offer most often, the strongest of each first.

    There are none where that cannot be known: features are hashed, or asking changes the policy.
    """
    state = follower.state
    live, schema = state.live, state.schema
    if live is None or schema is None or schema.is_sparse or state.stand_in is not None:
        return []
    if not live.played.uses_contexts or live.played.choose_mutates_state:
        return []
    sample = _sample(events, state)
    if not sample.offers:
        return []
    of_contexts = _levers(schema.context, np.array([offer.context for offer in sample.offers]))
    of_arms = _levers(schema.arms, np.concatenate([offer.features for offer in sample.offers]))
    sample = _thinned(sample, live, sum(len(each.values) for each in (*of_contexts, *of_arms)))
    names, changes = _frequent(sample, most), list[Influence]()
    for lever in of_contexts:
        chances = [_of_context(sample, follower, live, lever, row) for row in lever.rows]
        for name in names:
            changes += _changes(name, lever, [mean[name] for mean in chances])
    for lever in of_arms:
        own = [_of_arm(sample, follower, live, lever, row) for row in lever.rows]
        changes += _changes(None, lever, own)
    places = {name: place for place, name in enumerate((*names, None))}
    return sorted(changes, key=lambda each: (places[each.arm], -abs(each.change)))


# -- which decisions -----------------------------------------------------------------------------


def _sample(events: Sequence[Decided], state: "BanditState") -> _Sample:
    """Return the decisions among several arms, as the policy would see them now."""
    assert state.schema is not None
    assert state.live is not None
    sides, room = (state.schema.context, state.schema.arms), state.live.shape.n_arms
    n, m = state.schema.widths
    sample = _Sample([], [], [])
    for event in events:
        if not 1 < event.arms.size <= room:
            continue
        context = _widened(np.asarray(event.context), n, sides[0])
        features = _widened(np.asarray(event.features), m, sides[1]) if m else event.features
        if features.shape[0] in (0, event.arms.size):
            sample.names.append(event.names or state.names(event.arms))
            sample.positions.append(event.position)
            sample.offers.append(Offer(event.arms, context, features))
    return sample


def _widened(rows: np.ndarray, width: int, columns: object) -> np.ndarray:
    """Return rows of an older form, in which new columns are missing."""
    if not isinstance(columns, Columns) or rows.shape[-1] == width:
        return rows
    wide = np.tile(columns.missing().row, (*rows.shape[:-1], 1))
    wide[..., : rows.shape[-1]] = rows
    return wide


def _thinned(sample: _Sample, live: "LivePolicy", n_values: int) -> _Sample:
    """Return fewer decisions, where the policy takes long to answer."""
    is_exact = live.propensities(sample.offers[0]) is not None
    n_arms = max(offer.arms.size for offer in sample.offers)
    asked = (_ASKED if is_exact else _ASKED_TO_VOTE) * _MANY // max(_MANY, n_arms)
    n = min(_CONTEXTS, len(sample.offers), max(2, asked // max(1, n_values)))
    places = np.linspace(0, len(sample.offers) - 1, n).astype(int).tolist()
    return _Sample(*([column[place] for place in places] for column in sample))


def _frequent(sample: _Sample, most: int) -> list[str]:
    """Return the names of the arms that are on offer most often."""
    counts = defaultdict[str, int](int)
    for names, position in zip(sample.names, sample.positions, strict=True):
        for place, name in enumerate(names):
            counts[name] += 1 + (place == position) * len(sample.names)
    return sorted(counts, key=lambda name: -counts[name])[:most]


# -- which values --------------------------------------------------------------------------------


def _levers(columns: object, rows: np.ndarray) -> list[_Lever]:
    """Return the features that have several values in these rows, [i, column]."""
    if not isinstance(columns, Columns) or rows.size == 0:
        return []
    return [*_all_levers(columns, rows)][:_LEVERS]


def _all_levers(columns: Columns, rows: np.ndarray) -> Iterator[_Lever]:
    for i in range(columns.n_given):
        yield from _of_number(f"number {i}", slice(i, i + 1), rows[:, i])
    for feature, first in columns.placed():
        at = slice(first, first + feature.width)
        if feature.kind == NUMBER:
            yield from _of_number(feature.name, at, rows[:, first])
            continue
        shares = rows[:, at].mean(axis=0)
        there = np.flatnonzero(shares)
        if there.size > 1 or (there.size == 1 and shares[there[0]] < 1.0):
            values = tuple(feature.word(int(place)) for place in there)
            weights = shares[there]
            steps = np.eye(feature.width)[there]
            if weights.sum() < 1.0 - 1e-9:  # the feature may be missing
                values, steps = (*values, "missing"), np.vstack([steps, np.zeros(feature.width)])
                weights = np.append(weights, 1.0 - weights.sum())
            yield _Lever(feature.name, values, at, steps, weights)


def _of_number(name: str, at: slice, values: np.ndarray) -> Iterator[_Lever]:
    known = values[np.isfinite(values)]
    low, high = np.percentile(known, _ENDS) if known.size else (0.0, 0.0)
    if low < high:
        yield _Lever(
            name, (f"{low:.4g}", f"{high:.4g}"), at, np.array([[low], [high]]), np.empty(0)
        )


# -- what the policy answers ---------------------------------------------------------------------


def _of_context(
    sample: _Sample, follower: "Follower", live: "LivePolicy", lever: _Lever, row: np.ndarray
) -> dict[str, float]:
    """Return the mean probability of each arm, were this so in all contexts."""
    chances = defaultdict[str, list[float]](list)
    for number, (names, offer) in enumerate(zip(sample.names, sample.offers, strict=True)):
        context = offer.context.copy()
        context[lever.columns] = row
        answer = _chances(follower, live, offer._replace(context=context), number)
        for name, chance in zip(names, answer.tolist(), strict=True):
            chances[name].append(chance)
    return {name: float(np.mean(values)) for name, values in chances.items()}


def _of_arm(
    sample: _Sample, follower: "Follower", live: "LivePolicy", lever: _Lever, row: np.ndarray
) -> float:
    """Return the mean probability of the arms that were chosen, were this so of them alone."""
    chances = []
    for number, (position, offer) in enumerate(zip(sample.positions, sample.offers, strict=True)):
        features = offer.features.copy()
        features[position, lever.columns] = row
        answer = _chances(follower, live, offer._replace(features=features), number)
        chances.append(float(answer[position]))
    return float(np.mean(chances))


def _chances(follower: "Follower", live: "LivePolicy", offer: Offer, number: int) -> np.ndarray:
    """Return the probability of each arm, exact or by a vote. Decisions go on in between."""
    with follower.lock:
        exact = live.propensities(offer)
        if exact is not None:
            return exact
        live.stream_of(number)
        return live.vote(offer, _VOTES)


def _changes(arm: str | None, lever: _Lever, chances: Sequence[float]) -> Iterator[Influence]:
    """Yield the change that each value makes, compared with the others."""
    means = np.array(chances)
    if lever.weights.size == 0:
        low, high = lever.values
        yield Influence(arm, lever.feature, f"{high} instead of {low}", float(means[1] - means[0]))
        return
    for place, value in enumerate(lever.values):
        rest = np.arange(means.size) != place
        others = np.average(means[rest], weights=lever.weights[rest])
        yield Influence(arm, lever.feature, value, float(means[place] - others))
