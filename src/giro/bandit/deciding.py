"""From requests to decisions in the log: encode them once, find the arms on offer, draw."""

import hashlib
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from giro.bandit.event import UNKNOWN, Decided
from giro.bandit.sampling import Sampled, sampled
from giro.bandit.stores import Taken, check_ids
from giro.bandit.warm_up import make_ready
from giro.checks import WORD, check, optional
from giro.errors import BadParameter, Contradiction
from giro.features import Arms, Given, RawOffer, Schema
from giro.features.walk import leaves, number_row
from giro.kernels.draws.mixed import Drawn
from giro.live import Scored
from giro.offer import Offer, rows_at

if TYPE_CHECKING:
    from giro.bandit.follower import Follower
    from giro.bandit.state import BanditState

NONE_NEW = ((), ())


class Slot(NamedTuple):
    """A slot of a ranking, for `Bandit.rank` and `Ask`.

    Its decision has the id of the ranking, a slash, and its own `id` (its number, if it has none).
    Its `features` are added to the context. Its `baseline` is taken where the policy does not
    decide, unless another slot has it.
    """

    id: str | None = None
    features: Mapping[str, Any] | None = None
    excluded: Sequence[str] = ()  # arms that it cannot have
    baseline: str | None = None


class Request(NamedTuple):
    """The request for one decision, as the caller made it."""

    id: str | None
    context: Given
    arms: Arms
    baseline: str | None = None
    follows: bool = False  # another arm than those of the decisions made together before it
    excluded: tuple[str, ...] = ()  # arms that it cannot have
    taken: str | None = None  # the arm, which the caller has taken already

    def digest(self) -> bytes:
        """Return a digest of the request, the same whatever the schema is then.

        The id and the arm that was taken already are no part of it.
        """
        arms = self.arms
        features = {}
        if isinstance(arms, Mapping):
            features = {name: _plain(given) for name, given in arms.items()}
        names = None if arms is None else list(arms)
        text = json.dumps([_plain(self.context), names, features, self.baseline, *self.excluded])
        return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _plain(given: Given) -> Any:
    """Return a context as JSON has it."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return sorted(leaves(given), key=str)
    return number_row(given, "a context").tolist()


class Encoded(NamedTuple):
    """A request with its arms as numbers, and everything known as rows."""

    request: Request
    asked: np.ndarray  # [i] arms, ascending
    names: tuple[str, ...]  # [i] of arms without numbers
    rows: RawOffer

    def offer(self) -> Offer:
        """Return all the arms that were asked for."""
        return Offer(self.asked, self.rows.context, self.rows.features)


def contexts_of(contexts: Any) -> list[Given]:
    """Return contexts in a list, the rows of a DataFrame, or as many None as a number says."""
    if isinstance(contexts, int | np.integer) and not isinstance(contexts, bool) and contexts >= 0:
        return [None] * int(contexts)
    if hasattr(contexts, "to_dicts"):  # of polars
        return list(contexts.to_dicts())
    if hasattr(contexts, "to_dict") and hasattr(contexts, "columns"):  # of pandas
        return list(contexts.to_dict("records"))
    if isinstance(contexts, str | Mapping) or not hasattr(contexts, "__iter__"):
        raise BadParameter(
            f"decide_many takes contexts, a DataFrame or a number >= 0, got {contexts!r}"
        )
    return list(contexts)


def ranking(context: Given, arms: Arms, slots: Any, id: str | None, n_arms: int) -> list[Request]:
    """Return a request for each slot, where `slots` is their number or their features."""
    of_slots: Sequence[Mapping[str, Any] | Slot | None]
    if isinstance(slots, int | np.integer) and not isinstance(slots, bool) and slots > 0:
        of_slots = [None] * min(int(slots), n_arms + 1)
    elif isinstance(slots, Sequence) and not isinstance(slots, str) and len(slots) > 0:
        of_slots = slots
    else:
        raise BadParameter(f"slots is a number > 0, or a list of their features, got {slots!r}")
    check("a ranking", optional(WORD), id=id)
    if len(of_slots) > n_arms:
        n_slots = len(slots) if isinstance(slots, Sequence) else slots
        raise BadParameter(f"there are {n_slots} slots for {n_arms} arms")
    requests = []
    for number, each in enumerate(of_slots):
        slot = each if isinstance(each, Slot) else Slot(features=each)
        own = None if id is None else f"{id}/{number if slot.id is None else slot.id}"
        features, excluded = _joined(context, slot.features), tuple(slot.excluded)
        requests.append(Request(own, features, arms, slot.baseline, number > 0, excluded))
    return requests


def _joined(context: Given, more: Mapping[str, Any] | None) -> Given:
    """Return a context with further features."""
    if more is None:
        return context
    if not isinstance(more, Mapping) or not (context is None or isinstance(context, Mapping)):
        raise BadParameter("slots are described by mappings, and then the context is a mapping too")
    return {**(context or {}), **more}


def answered(
    requests: Sequence[Request], follower: "Follower", new_id: Callable[[], str]
) -> list[Decided]:
    """Return a decision for each request, those that were made before if they have ids."""
    follower.tend()
    if requests[0].id is None:
        return _made(requests, follower, new_id)
    check_ids([request.id for request in requests])
    earlier = _made_before(requests, follower)
    if earlier is not None:
        return earlier
    try:
        return _made(requests, follower, new_id)
    except Taken:  # by somebody else, at the same moment
        earlier = _made_before(requests, follower)
        if earlier is None:
            raise
        return earlier


def _made_before(requests: Sequence[Request], follower: "Follower") -> list[Decided] | None:
    """Return the decisions with these ids, which were asked for by the same requests."""
    ids = [str(request.id) for request in requests]
    decisions = follower.store.find(ids)
    if not decisions:
        return None
    for id, request in zip(ids, requests, strict=True):
        digest = decisions[id].decision.request if id in decisions else b"another"
        if digest and digest != request.digest():
            raise Contradiction(f"the decision '{id}' was asked for by another request")
        if request.taken is not None:
            _check_taken(request, decisions[id].decision, follower.state)
    return [decisions[id].decision for id in ids]


def _check_taken(request: Request, event: Decided, state: "BanditState") -> None:
    """Refuse a decision that is in the log for another arm than the one that was taken."""
    arm = (event.names or state.names(event.arms))[event.position]
    if arm != request.taken:
        raise Contradiction(f"the decision '{event.id}' is '{arm}', got taken='{request.taken}'")


def _made(
    requests: Sequence[Request], follower: "Follower", new_id: Callable[[], str]
) -> list[Decided]:
    """Make a decision for each request and append them to the log, all or none.

    Other decisions count them until they are in the log.
    """
    parts, events = encoded_all(requests, follower), list[Decided]()
    is_shared = follower.store.shared
    try:
        with follower.lock:
            draw(parts, follower, new_id, events, is_alone=not is_shared and len(parts) == 1)
            if not is_shared:
                follower.append(events)
        if is_shared:
            follower.append(events)
    except BaseException:
        follower.undo(events)
        raise
    return events


def draw(
    parts: Sequence[Encoded],
    follower: "Follower",
    new_id: Callable[[], str],
    events: list[Decided],
    *,
    is_alone: bool,
) -> None:
    """Add a decision for each request to `events`, under the lock.

    Other decisions count it until it is in the log, unless it is there at once.
    """
    if follower.state.broken:
        follower.begin_again()
    state = follower.state
    make_ready(state, parts[0])
    rows = scores = None
    for number, part in enumerate(parts, 1):
        id = new_id() if part.request.id is None else part.request.id
        taken = events if part.request.follows else ()
        if part.rows is not rows or not part.request.follows:
            rows = part.rows
            slots = _slots(parts, number - 1)
            scores = _scores(part, state, slots) if slots > 1 else None
        events.append(decided(part, state, id, follower.clock(), taken=taken, scores=scores))
        if not is_alone:
            state.under_way(events[-1])


def _slots(parts: Sequence[Encoded], first: int) -> int:
    """Return how many slots of a ranking begin with this one: they share its rows."""
    end = first + 1
    while end < len(parts) and parts[end].request.follows and parts[end].rows is parts[first].rows:
        end += 1
    return end - first


def _scores(part: Encoded, state: "BanditState", slots: int) -> Any:
    """Return the scores of all arms that were asked for, from which several slots are filled."""
    assert state.live is not None
    try:
        return state.live.scores(part.offer(), slots) if state.setting.propensities else None
    except Exception:  # whoever draws without them warns
        return None


def encoded_all(requests: Sequence[Request], follower: "Follower") -> list[Encoded]:
    """Return all requests as numbers, again those that bring new features."""
    schema = follower.state.schema
    if schema is None:
        schema = follower.formed([request.context for request in requests], requests[0].arms)
    parts = [encoded(requests[0], follower.state, schema)]
    for request in requests[1:]:
        if request.follows and request.context is parts[-1].request.context:
            parts.append(parts[-1]._replace(request=request))
        else:
            parts.append(encoded(request, follower.state, schema))
    new = [part.rows.new for part in parts if part.rows.new != NONE_NEW]
    if not new:
        return parts
    sides = tuple(tuple(itertools.chain(*side)) for side in zip(*new, strict=True))
    larger = follower.grown(schema, sides)
    if larger is schema:
        return parts
    return [encoded(request, follower.state, larger) for request in requests]


def encoded(request: Request, state: "BanditState", schema: Schema) -> Encoded:
    """Return a request as numbers.

    Raises an error if it cannot be answered.
    """
    arms, is_open = request.arms, state.setting.open_arms
    asked = state.asked(arms)
    names = tuple(arms or ()) if is_open else ()
    if schema.arms is None and (arms is None or not isinstance(arms, Mapping)):
        return Encoded(request, asked, names, schema.encode(request.context))
    of_arms: Mapping[str, Given] | Sequence[str]
    of_arms = names if is_open else state.names(asked)
    if isinstance(arms, Mapping):
        of_arms = {name: arms[name] for name in of_arms}
    return Encoded(request, asked, names, schema.encode(request.context, of_arms))


def decided(
    encoded: Encoded,
    state: "BanditState",
    id: str,
    time: float,
    *,
    taken: Sequence[Decided] = (),
    scores: Any = None,
) -> Decided:
    """Return the decision for a request.

    It cannot have the arms of the decisions `taken`. `scores` are those of all arms asked for.
    """
    request, asked, names, rows = encoded
    live, setting = state.live, state.setting
    assert live is not None
    is_taken, features = request.taken is not None, rows.features
    among = asked if is_taken else state.cold_start.eligible(asked)
    scored = None if scores is None else Scored(scores, np.arange(asked.size))
    if taken or request.excluded or among is not asked:
        left = _left(encoded, among, state, taken)
        among, features = asked[left], rows_at(features, left)
        scored = None if scores is None else Scored(scores, left)
        if setting.open_arms:
            names, among = tuple(map(names.__getitem__, left.tolist())), np.arange(left.size)
    if setting.open_arms:
        live.grow_to(live.learned, n_arms=among.size)
    offer = Offer(among, rows.context, features)
    place = 0
    if is_taken or request.baseline is not None or setting.share < 1.0:
        place = _baseline(state, request, among, names)
    if is_taken:
        chances = np.eye(among.size)[place] if setting.propensities else UNKNOWN
        chosen: Sampled | Drawn = Sampled(place, chances, np.nan)
    else:
        number = number_of_draw(id)
        chosen = sampled(live, setting, offer, number=number, baseline=place, scored=scored)
    return Decided(
        id,
        time,
        among.item(chosen.position),
        among,
        chosen.propensities,
        chosen.own,
        live.learned,
        rows.context,
        features,
        b"" if request.id is None else request.digest(),
        names,
        chosen.position,
        policy=live.policy,
    )


def _left(
    encoded: Encoded, eligible: np.ndarray, state: "BanditState", taken: Sequence[Decided]
) -> np.ndarray:
    """Return the places of arms that a slot may have: if need be, of those that wait."""
    asked, is_left = encoded.asked, np.ones(encoded.asked.size, np.bool_)
    names, excluded = encoded.names, encoded.request.excluded
    if names:
        is_left[[names.index(event.names[event.position]) for event in taken]] = False
    else:
        is_left[asked.searchsorted([event.arm for event in taken])] = False
    if excluded:
        known: Sequence[str] = names or state.arms
        is_left &= [known[arm] not in excluded for arm in asked.tolist()]
    for pool in (eligible, asked):
        left = np.flatnonzero(is_left if pool is asked else is_left & np.isin(asked, pool))
        if left.size:
            return left
    raise BadParameter("a slot is left without an arm: others have all that it may have")


def number_of_draw(id: str) -> int:
    """Return the number of the stream from which a decision draws, of 63 bits."""
    digest = hashlib.blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def _baseline(
    state: "BanditState", request: Request, among: np.ndarray, names: Sequence[str]
) -> int:
    """Return the position of the baseline, or of the arm taken already, among those on offer."""
    baseline, arms = request.baseline, request.arms
    if request.taken is not None:
        baseline = request.taken
    if state.setting.open_arms:
        if baseline is not None and baseline not in (arms or ()):
            raise BadParameter(f"the baseline '{baseline}' is not one of the arms on offer")
        return names.index(baseline) if baseline in names else 0
    if baseline is None:
        baseline = state.arms[int(state.active[0])] if arms is None else next(iter(arms))
    arm = state.active_arm(baseline)
    position = int(among.searchsorted(arm))
    if position < among.size and among[position] == arm:
        return position
    if arms is not None and baseline not in arms:
        raise BadParameter(f"the baseline '{baseline}' is not one of the arms {list(arms)}")
    return 0  # it waits for its first reward, or another slot has it
