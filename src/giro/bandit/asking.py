"""Requests of many callers at once: each is answered, or fails, as if it were alone."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from giro.bandit.deciding import Request
from giro.bandit.event import DECISION, Decided, EventRow, event_of
from giro.checks import WORD, check, optional
from giro.errors import BadFile, BadParameter
from giro.features import Arms, Given


class Ask(NamedTuple):
    """A request to `Bandit.decide_each`: all that `decide` or, with `slots`, `rank` are given.

    A decision that is `deferred` does not enter the log, and nothing is learned of it, until
    `Bandit.activate` gets its `text`.
    """

    context: Given = None
    arms: Arms = None
    id: str | None = None
    baseline: str | None = None
    slots: int | Sequence[Mapping[str, Any]] | None = None
    deferred: bool = False


def requests_of(ask: Ask) -> list[Request]:
    """Return a request for each slot, or the one without slots."""
    check("a decision", optional(WORD), id=ask.id)
    if ask.slots is None:
        return [Request(ask.id, ask.context, ask.arms, ask.baseline, deferred=ask.deferred)]
    slots: Any = ask.slots
    of_slots: Sequence[Mapping[str, Any] | None]
    if hasattr(slots, "__index__") and not isinstance(slots, bool) and slots > 0:
        of_slots = [None] * int(slots)
    elif isinstance(slots, Sequence) and not isinstance(slots, str) and len(slots) > 0:
        of_slots = slots
    else:
        raise BadParameter(f"slots is a number > 0, or a list of their features, got {slots!r}")
    return [
        Request(
            ask.id and f"{ask.id}/{number}",
            _joined(ask.context, slot),
            ask.arms,
            follows=number > 0,
            deferred=ask.deferred,
        )
        for number, slot in enumerate(of_slots)
    ]


def _joined(context: Given, more: Mapping[str, Any] | None) -> Given:
    """Return a context with further features."""
    if more is None:
        return context
    if not isinstance(more, Mapping) or not (context is None or isinstance(context, Mapping)):
        raise BadParameter("slots are described by mappings, and then the context is a mapping too")
    return {**(context or {}), **more}


def decision_in_text(text: str) -> Decided:
    """Return the decision in the `text` of a `Decision`."""
    try:
        time, own, data, id = text.split(" ", 3)
        blob = base64.b64decode(data, validate=True)
        event = event_of(EventRow(DECISION, id, float(time), float(own), blob))
    except (ValueError, BadFile) as error:
        raise BadParameter(f"this is no text of a decision: {error}") from None
    assert isinstance(event, Decided)
    return event
