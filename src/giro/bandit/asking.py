"""Requests of many callers at once: each is answered, or fails, as if it were alone."""

import base64
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from giro.bandit.deciding import Encoded, Request, Slot, answered, draw, encoded_all, ranking
from giro.bandit.event import DECISION, Decided, EventRow, event_of
from giro.bandit.exchange import check_event
from giro.bandit.stores import Taken, check_ids
from giro.errors import BadFile, BadParameter, Contradiction, GiroError, StoreError
from giro.features import Arms, Given

if TYPE_CHECKING:
    from giro.bandit.follower import Follower
    from giro.bandit.state import BanditState


class Ask(NamedTuple):
    """A request to `Bandit.decide_each`: all that `decide` or, with `slots`, `rank` are given.

    A decision that is `deferred` does not enter the log, and nothing is learned of it, until
    `Bandit.activate` gets its `text`.
    """

    context: Given = None
    arms: Arms = None
    id: str | None = None
    baseline: str | None = None
    slots: int | Sequence[Mapping[str, Any] | Slot] | None = None
    deferred: bool = False
    taken: str | None = None


def _requests_of(ask: Ask, state: "BanditState") -> list[Request]:
    """Return a request for each slot, or the one without slots."""
    if ask.slots is None:
        requests = [Request(ask.id, ask.context, ask.arms, ask.baseline, taken=ask.taken)]
    else:
        n_arms = state.asked(ask.arms).size
        requests = ranking(ask.context, ask.arms, ask.slots, ask.id, n_arms)
    check_ids([request.id for request in requests if request.id is not None])
    return requests


class _Together(NamedTuple):
    """Requests that are answered together, by their numbers, and the answers so far."""

    requests: dict[int, list[Request]]
    answers: dict[int, list[Decided] | GiroError]
    deferred: set[int]


def answered_each(
    asks: Sequence[Ask], follower: "Follower", new_id: Callable[[], str]
) -> list[list[Decided] | GiroError]:
    """Return the decisions on each request, or its error."""
    follower.tend()
    deferred = {number for number, ask in enumerate(asks) if ask.deferred}
    all_of = _Together({}, {}, deferred)
    for number, ask in enumerate(asks):
        try:
            all_of.requests[number] = _requests_of(ask, follower.state)
        except GiroError as error:
            all_of.answers[number] = error
    fresh = _fresh(all_of, follower)
    _append_together(_drawn(fresh, all_of, follower, new_id), all_of, follower)
    for number in all_of.requests.keys() - all_of.answers.keys():  # made before, or just now
        try:
            all_of.answers[number] = answered(all_of.requests[number], follower, new_id)
        except StoreError:
            raise
        except GiroError as error:
            all_of.answers[number] = error
    return [all_of.answers[number] for number in range(len(asks))]


def _fresh(all_of: _Together, follower: "Follower") -> list[int]:
    """Return the requests with new ids: of several with the same id, the first."""
    ids = [each.id for part in all_of.requests.values() for each in part if each.id is not None]
    known, fresh = set(follower.store.find(ids)) if ids else set[str](), []
    for number, requests in all_of.requests.items():
        own = {request.id for request in requests if request.id is not None}
        if known.isdisjoint(own):
            fresh.append(number)
            known |= own
    return fresh


def _drawn(
    fresh: Sequence[int], all_of: _Together, follower: "Follower", new_id: Callable[[], str]
) -> dict[int, list[Decided]]:
    """Return decisions on those requests that can be answered, and note the errors of others."""
    parts: dict[int, list[Encoded]] = {}
    made: dict[int, list[Decided]] = {}
    for number in fresh:
        try:
            parts[number] = encoded_all(all_of.requests[number], follower)
        except StoreError:
            raise
        except GiroError as error:
            all_of.answers[number] = error
    with follower.lock:
        for number, each in parts.items():
            events = list[Decided]()
            try:
                draw(each, follower, new_id, events, is_alone=False)
                made[number] = events
            except GiroError as error:
                all_of.answers[number] = error
                follower.undo(events)
    return made


def _append_together(
    made: Mapping[int, list[Decided]], all_of: _Together, follower: "Follower"
) -> None:
    """Append all decisions that are not deferred.

    If an id was taken meanwhile, they are left without an answer.
    """
    events = list(itertools.chain(*made.values()))
    later = [event for number in all_of.deferred & made.keys() for event in made[number]]
    follower.undo(later)
    kept = {event.id for event in later}
    try:
        logged = [event for event in events if event.id not in kept]
        if logged:
            follower.append(logged)
        all_of.answers.update(made)
    except Taken:
        follower.undo(events)
        all_of.answers.update({number: made[number] for number in all_of.deferred & made.keys()})
    except BaseException:
        follower.undo(events)
        raise


# -- deferred decisions ------------------------------------------------------------------------


def deferred_in(text: str, ask: Ask | None, follower: "Follower") -> Decided:
    """Return the decision in the `text` of a `Decision`, after checking that it fits.

    A process that is behind the log reads on: the schema of the decision may be news to it.
    """
    try:
        time, own, data, id = text.split(" ", 3)
        blob = base64.b64decode(data, validate=True)
        event = event_of(EventRow(DECISION, id, float(time), float(own), blob))
    except (ValueError, BadFile) as error:
        raise BadParameter(f"this is no text of a decision: {error}") from None
    assert isinstance(event, Decided)
    try:
        check_event(event, follower.state)
    except BadParameter:
        follower.follow()
        check_event(event, follower.state)
    if ask is not None and event.request:
        if event.request not in [request.digest() for request in _requests_of(ask, follower.state)]:
            raise Contradiction(f"the decision '{id}' was asked for by another request")
    return event


def activated(texts: Iterable[str], follower: "Follower") -> list[Decided]:
    """Append deferred decisions that are not in the log yet, and return all."""
    events = [deferred_in(text, None, follower) for text in texts]
    once = {event.id: event for event in events}
    while True:
        known = follower.store.find(list(once))
        left = [event for id, event in once.items() if id not in known]
        try:
            if left:
                follower.append(left)
            return events
        except Taken:  # by somebody else, at the same moment
            continue
