"""Many decisions at once, as if each were asked for alone, at a fraction of the cost.

What they share is worked out once: the arms, their features, and where nothing is known of the
rounds also the probabilities. Whatever is special about a request goes the way of single ones
(`giro.bandit.deciding`), which is the twin of this file.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from giro.bandit.deciding import (
    NONE_NEW,
    Encoded,
    Request,
    answered,
    contexts_of,
    encoded,
    number_of_draw,
)
from giro.bandit.event import Decided
from giro.bandit.opening import ids_from
from giro.bandit.sampling import sampled, sampled_alike, sampled_rows
from giro.bandit.warm_up import make_ready
from giro.features import Arms
from giro.features.frames import is_frame, rows_of_frame
from giro.offer import NO_CONTEXT, NO_FEATURES, AnyRow, Offer

if TYPE_CHECKING:
    from giro.bandit.follower import Follower
    from giro.bandit.state import BanditState


def answered_many(
    contexts: Any,
    arms: Arms,
    baseline: str | None,
    follower: "Follower",
    new_id: Callable[[], str],
) -> list[Decided]:
    """Return a decision for each context: of a list, a DataFrame, or as many without."""
    follower.tend()
    if not is_frame(contexts):
        contexts = contexts_of(contexts)
    if baseline is None and follower.state.setting.share == 1.0 and len(contexts) > 1:
        events = _at_once(contexts, arms, follower, new_id)
        if events is not None:
            return events
    each = contexts_of(contexts) if is_frame(contexts) else contexts
    requests = [Request(None, context, arms, baseline) for context in each]
    return answered(requests, follower, new_id) if requests else []


def _at_once(
    contexts: Any, arms: Arms, follower: "Follower", new_id: Callable[[], str]
) -> list[Decided] | None:
    """Return decisions that are in the log, None where requests have to be looked at one by one."""
    state, schema = follower.state, follower.state.schema
    if schema is None or not state.cold_start.is_over(state.asked(arms)):
        return None
    if is_frame(contexts):
        rows, first = rows_of_frame(contexts, schema), None
    else:
        first = encoded(Request(None, contexts[0], arms), state, schema)
        rows = schema.contexts(contexts[1:]) if first.rows.new == NONE_NEW else None
    if rows is None:
        return None
    if first is None:
        first = encoded(Request(None, None, arms), state, schema)
    else:
        rows = [first.rows.context, *rows]
    ids = ids_from(new_id, len(rows))
    with follower.lock:
        events = _drawn(first, rows, ids, follower)
        if events is not None and not follower.store.shared:
            follower.append(events)
    if events is not None and follower.store.shared:
        follower.append(events)
    return events


def _drawn(
    first: Encoded, rows: Sequence[AnyRow], ids: Sequence[str], follower: "Follower"
) -> list[Decided] | None:
    """Return a decision for each row, under the lock.

    None while arms wait for their first reward, when a decision changes what the next may have. So
    no other decision has to count these until they are in the log.
    """
    if follower.state.broken:
        follower.begin_again()
    state = follower.state
    live, asked = state.live, first.asked
    if live is None or not state.cold_start.is_over(asked):
        return None
    make_ready(state, first)
    if state.setting.open_arms:
        live.grow_to(live.learned, n_arms=asked.size)
    clock, names, features = follower.clock, first.names, first.rows.features
    numbers = list(map(number_of_draw, ids))
    learned, policy = live.learned, live.policy
    arms = asked.tolist()
    return [
        Decided(
            id,
            clock(),
            arms[place],
            asked,
            chances,
            own,
            learned,
            row,
            features,
            b"",
            names,
            place,
            policy,
        )
        for id, row, (place, chances, own) in zip(
            ids, rows, _samples(state, first, rows, numbers), strict=True
        )
    ]


def _samples(
    state: "BanditState", first: Encoded, rows: Sequence[AnyRow], numbers: Sequence[int]
) -> Sequence[Any]:
    """Draw for each row."""
    live, setting, asked, features = state.live, state.setting, first.asked, first.rows.features
    assert live is not None
    nothing_known = features is NO_FEATURES and all(row is NO_CONTEXT for row in rows)
    offer = Offer(asked, rows[0], features)
    if nothing_known or live.is_blind:
        alike = sampled_alike(live, setting, offer, numbers)
    else:
        alike = sampled_rows(live, setting, offer, rows, numbers)
    if alike is not None:
        return alike
    return [
        sampled(live, setting, Offer(asked, row, features), number=number, baseline=0)
        for row, number in zip(rows, numbers, strict=True)
    ]
