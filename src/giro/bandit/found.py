"""Found: an earlier decision with all that the log knows of it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from giro.bandit.event import Decided, Decision, Rewarded
from giro.features import Columns, Schema
from giro.features.columns import NUMBER


class Found(NamedTuple):
    """A decision of the log, see `Bandit.look_up`.

    `context` and `features` are None where they were hashed, and so cannot be read again.
    """

    decision: Decision
    reward: float | None  # None while it waits
    rewarded: float | None  # time at which the reward came
    expired: bool  # whether the reward is a default, because nothing came
    reports: tuple[float, ...]  # that came before the reward
    seen: int  # rewards that the policy had learned
    context: dict[str, Any] | None
    features: dict[str, dict[str, Any]] | None  # of the arms on offer


def found(
    decision: Decision,
    event: Decided,
    reward: Rewarded | None,
    reports: Sequence[float],
    schema: Schema | None,
) -> Found:
    """Return all that is known of a decision."""
    context: dict[str, Any] | None = {}
    features: dict[str, dict[str, Any]] | None = {}
    if schema is not None and schema.is_sparse:
        context = features = None
    elif schema is not None:
        context = _decoded(schema.context, event.context)
        if schema.arms is not None and event.features.size:
            rows = zip(decision.arms, event.features, strict=True)
            features = {name: _decoded(schema.arms, row) for name, row in rows}
    return Found(
        decision,
        None if reward is None else reward.value,
        None if reward is None else reward.time,
        reward is not None and reward.expired,
        tuple(reports),
        event.seen,
        context,
        features,
    )


def _decoded(columns: Any, row: np.ndarray) -> dict[str, Any]:
    """Return the numbers and words in a row, by their names. A hash is shown as one."""
    assert isinstance(columns, Columns)
    given: dict[str, Any] = {str(i): float(row[i]) for i in range(columns.n_given)}
    for feature, first in columns.placed():
        values = row[first : first + feature.width]
        if feature.kind == NUMBER:
            if values.size and np.isfinite(values[0]):
                given[feature.name] = float(values[0])
        elif words := [feature.word(int(place)) for place in np.flatnonzero(values)]:
            given[feature.name] = words[0] if len(words) == 1 else words
    return given
