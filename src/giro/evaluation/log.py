"""Log: decisions of a policy with their probabilities and rewards, as arrays."""

import dataclasses
import math
import reprlib
from typing import Any

import numpy as np

from giro.errors import BadParameter
from giro.features import Schema
from giro.features.walk import is_usable
from giro.hashing import are_codes
from giro.offer import NO_FEATURES, AnyRow, AnyRows, Offer, SparseRow, SparseRows
from giro.tables import Column, fixed, table_html

_SHOWN = 20  # arms in the table of a notebook
_SUM_TOLERANCE = 1e-3  # logged probabilities are often rounded


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Decisions that were rewarded, in the order in which they were made.

    `schema` says what the columns of contexts and of features of arms are; without it they are
    numbers. A number that is missing is NaN. Where arms come and go with the events and are known
    by features alone, the log is *open*: an arm is its place in the event's offer, `arm_names` are
    the places, and `names` the arms there.
    """

    arm: np.ndarray  # [event] index of the logged arm in arm_names
    arm_names: tuple[str, ...]
    reward: np.ndarray  # [event] in the units of the log
    probability: np.ndarray  # [event] with which the logged arm was chosen, in (0, 1]
    contexts: Any  # [event, column], or a `SparseRow` for each event
    schema: Schema = dataclasses.field(default=None)  # type: ignore[assignment]  # see `__post_init__`
    eligible: np.ndarray | None = None  # [event, arm] which arms could be chosen; None: all
    probabilities: np.ndarray | None = None  # [event, arm] of all arms, where they were logged
    adaptive: bool = False  # whether the policy that made the log learned from it meanwhile
    left_out: int = 0  # decisions without a reward
    arm_features: np.ndarray | None = None  # [arm, column] if they are the same in all events
    features: list[AnyRows] | None = None  # [event][i, column] of the eligible arms
    names: list[tuple[str, ...]] | None = None  # [event][i] of the eligible arms of an open log
    widths: np.ndarray | None = None  # [event, 2] columns that the schema had then; None: all

    def __post_init__(self) -> None:
        """Treat columns as numbers if there is no schema."""
        if self.schema is None:
            schema = Schema.of_numbers(np.shape(self.contexts)[1], self._n_arm_columns())
            object.__setattr__(self, "schema", schema)

    def _n_arm_columns(self) -> int:
        if self.features is not None:
            return int(self.features[0].shape[1])
        return 0 if self.arm_features is None else int(self.arm_features.shape[1])

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.arm_names[:_SHOWN]))
        more = f", and {len(self.arm_names) - _SHOWN:,} more" if self.arm_names[_SHOWN:] else ""
        left_out = f", {self.left_out} without a reward left out" if self.left_out else ""
        return f"Log({self.events} events, arms [{shown}{more}]{left_out})"

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows: the arms, the most frequent first."""
        decisions = np.bincount(self.arm, minlength=len(self.arm_names))
        sums = np.bincount(self.arm, self.reward, minlength=len(self.arm_names))
        records = [
            {
                "arm": name,
                "events": n,
                "share": n / max(1, self.events),
                "mean": total / n if n else math.nan,
            }
            for name, n, total in zip(
                self.arm_names, decisions.tolist(), sums.tolist(), strict=True
            )
        ]
        records.sort(key=lambda record: -int(record["events"]))
        columns = [
            Column("arm"),
            Column("events", show="{:,}".format),
            Column("share", show="{:.1%}".format),
            Column("mean", "mean reward", fixed(4)),
        ]
        left_out = f", {self.left_out:,} without a reward left out" if self.left_out else ""
        more = f"and {len(records) - _SHOWN:,} more arms" if records[_SHOWN:] else ""
        heading = f"Log: {self.events:,} events{left_out}"
        return table_html(columns, records[:_SHOWN], heading=heading, notes=[more], bar="share")

    def __len__(self) -> int:
        return self.events

    def __getitem__(self, events: slice) -> "Log":
        """Return the log with some of its events, which keep their order."""
        if not isinstance(events, slice) or (events.step or 1) < 1:
            raise BadParameter(f"a part of a log is a slice such as log[:100], got {events!r}")
        of_events = (
            *("arm", "reward", "probability", "contexts", "eligible", "probabilities"),
            *("features", "names", "widths"),
        )
        values = {name: getattr(self, name) for name in of_events}
        parts = {name: value[events] for name, value in values.items() if value is not None}
        return dataclasses.replace(self, **parts)

    @property
    def events(self) -> int:
        """The number of rewarded decisions."""
        return int(self.arm.size)

    def context(self, event: int) -> AnyRow:
        """Return the row of a round."""
        if self.schema.is_sparse:
            return self.contexts[event]
        return np.ascontiguousarray(self.contexts[event], np.float64)

    def offer_of(self, event: int) -> Offer:
        """Return the arms that could be chosen, and the rows of the round and of these arms."""
        arms = np.arange(len(self.arm_names))
        arms = arms if self.eligible is None else arms[self.eligible[event]]
        features = NO_FEATURES
        if self.features is not None:
            features = self.features[event]
        elif self.arm_features is not None:
            features = self.arm_features[arms]
        return Offer(arms, self.context(event), features)

    def schema_at(self, event: int) -> Schema:
        """Return the schema as it was when the decision was made."""
        if self.widths is None:
            return self.schema
        n, m = self.widths[event].tolist()
        return self.schema.upto((n, m))


def checked(log: Log) -> Log:
    """Return the log after checking its numbers."""
    if log.events == 0:
        without = f": none of its {log.left_out} decisions has a reward" if log.left_out else ""
        raise BadParameter(f"the log is empty{without}")
    wrong = np.flatnonzero(~np.isfinite(log.reward))
    if wrong.size:
        value = log.reward[wrong[0]]
        raise BadParameter(f"event {wrong[0] + 1} has the reward {value}; expected a number")
    wrong = np.flatnonzero(~((log.probability > 0.0) & (log.probability <= 1.0)))
    if wrong.size:
        raise BadParameter(
            f"event {wrong[0] + 1} has the probability {log.probability[wrong[0]]}; that of a "
            "logged arm lies in (0, 1], for an arm of probability 0 is never chosen"
        )
    if log.eligible is not None:
        wrong = np.flatnonzero(~log.eligible[np.arange(log.events), log.arm])
        if wrong.size:
            name = log.arm_names[log.arm[wrong[0]]]
            raise BadParameter(f"event {wrong[0] + 1} has the arm '{name}', which was not eligible")
    if log.probabilities is not None:
        _check_probabilities(log.probabilities)
    _check_rows(log)
    return log


def arm_indices(
    logged: list[str], arms: tuple[str, ...] | None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the index of each logged arm, and all arms: those given, or the logged ones in order.

    Arms named by whole numbers are in the order of numbers, others in that of the alphabet.
    """
    names = arms if arms is not None else tuple(sorted(set(logged), key=_number_first))
    if len(set(names)) < len(names):
        raise BadParameter(f"an arm is listed twice among {', '.join(names)}")
    index = {name: i for i, name in enumerate(names)}
    for event, name in enumerate(logged):
        if name not in index:
            raise BadParameter(
                f"event {event + 1} has the unknown arm '{name}'; the arms are {', '.join(names)}"
            )
    return np.array([index[name] for name in logged], np.int64), names


def places_of(n_arms: int) -> tuple[str, ...]:
    """Return the names of arms that are only places in an offer, from 1."""
    return tuple(str(place + 1) for place in range(n_arms))


def by_event_and_arm(given: Any, log: Log, noun: str) -> np.ndarray:
    """Return numbers as an array [event, arm].

    Errors call them `noun`.
    """
    wanted = (log.events, len(log.arm_names))
    try:
        array = np.asarray(given, float)
    except (TypeError, ValueError):
        raise BadParameter(f"{noun} are an array of numbers [event, arm]") from None
    if array.shape != wanted:
        raise BadParameter(
            f"{noun} have a row for each of {wanted[0]} events and a column for each of "
            f"{wanted[1]} arms, got an array of shape {array.shape}"
        )
    return array


def _number_first(name: str) -> tuple[bool, int, str]:
    is_number = name.isascii() and name.isdigit()
    return not is_number, int(name) if is_number else 0, name


def _check_probabilities(probabilities: np.ndarray) -> None:
    sums = probabilities.sum(axis=1)
    good = (probabilities >= 0.0).all(axis=1) & (np.abs(sums - 1.0) <= _SUM_TOLERANCE)
    if not good.all():
        wrong = int(np.flatnonzero(~good)[0])
        raise BadParameter(
            f"the probabilities of all arms in event {wrong + 1} are not >= 0 with sum 1: "
            f"{probabilities[wrong]}"
        )


def _check_rows(log: Log) -> None:
    if log.schema.is_sparse:
        if log.features is None:
            raise BadParameter("a log of hashed features needs those of the eligible arms")
        for event in range(log.events):
            _check_sparse(log.offer_of(event), event)
        return
    n, m = log.schema.widths
    shape = np.shape(log.contexts)
    if shape != (log.events, n):
        raise BadParameter(f"contexts have shape {shape}, the schema wants {(log.events, n)}")
    if not is_usable(log.contexts):
        event = int(np.argwhere(~(np.abs(np.nan_to_num(log.contexts)) <= 1e150))[0][0])
        raise BadParameter(f"event {event + 1} has a context that is too large a number")
    for event, features in enumerate(log.features or ()):
        wanted = (log.offer_of(event).arms.size, m)
        if features.shape != wanted or not is_usable(features):
            raise BadParameter(
                f"event {event + 1} needs {wanted[1]} features of each of {wanted[0]} arms, "
                f"got {reprlib.repr(features.tolist())}"
            )


def _check_sparse(offer: Offer, event: int) -> None:
    context, features = offer.context, offer.features
    is_right = isinstance(context, SparseRow) and isinstance(features, SparseRows)
    is_right = is_right and features.begin.size == offer.arms.size + 1
    for codes, values in ((context.column, context.value), (features.column, features.value)):
        is_right = is_right and codes.shape == values.shape and are_codes(codes)
        is_right = is_right and bool(np.isfinite(values).all())
    if not is_right:
        raise BadParameter(
            f"event {event + 1} needs codes and finite values of each of {offer.arms.size} arms"
        )
