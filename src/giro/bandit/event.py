"""The events of a bandit as plain data: its log is a list of these.

Arms have numbers, in the order in which the log names them for the first time. `Decision` is what a
bandit returns of the event that it decided: with names instead of numbers.
"""

import base64
import json
import struct
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from giro.errors import BadFile
from giro.offer import (
    NO_CONTEXT,
    NO_FEATURES,
    AnyRow,
    AnyRows,
    Case,
    SparseRow,
    SparseRows,
    features_at,
)

UNKNOWN: Final = np.empty(0)  # in place of probabilities that nobody worked out


class Began(NamedTuple):
    """The bandit began with this setting, or goes on with it."""

    time: float
    text: str  # JSON, see `Setting`


class Formed(NamedTuple):
    """The schema of contexts and of features of arms is known, or has grown."""

    time: float
    text: str  # JSON, see `Schema`
    version: int = 1  # one more than that of the schema it grew from


class ArmAdded(NamedTuple):
    """An arm can be chosen from now on."""

    time: float
    text: str  # its name


class ArmRetired(NamedTuple):
    """An arm cannot be chosen any more."""

    time: float
    text: str  # its name


class Decided(NamedTuple):
    """An arm was chosen."""

    id: str
    time: float
    arm: int
    arms: np.ndarray  # [i] that could be chosen, ascending
    propensities: np.ndarray  # [i]; one number is an estimate of the chosen arm's, see `Sampled`
    own: float  # the policy's own probability of the arm, before a baseline was mixed in
    seen: int  # rewards that the policy had learned
    context: AnyRow = NO_CONTEXT  # as the schema encodes it; shorter if that has grown since
    features: AnyRows = NO_FEATURES  # likewise, of the arms on offer
    request: bytes = b""  # digest of what was asked for, where the caller gave the id
    names: tuple[str, ...] = ()  # [i] of the arms, where they have no numbers but their places
    place: int = -1  # `position`, where it is at hand

    @property
    def position(self) -> int:
        """The place of the chosen arm among those on offer."""
        if self.place >= 0:
            return self.place
        arm, arms = self.arm, self.arms
        if arm < arms.size and arms[arm] == arm:  # always, where all arms are on offer
            return arm
        return int(arms.searchsorted(arm))

    @property
    def case(self) -> Case:
        """The row of the round and that of the chosen arm."""
        return Case(self.context, features_at(self.features, self.position))

    @property
    def propensity(self) -> float | None:
        """The probability of the chosen arm, None if it is not known."""
        known = self.propensities
        if known.size == 0:
            return None
        return float(known[0] if known.size < self.arms.size else known[self.position])


class Reported(NamedTuple):
    """A part of a decision's reward, or a correction, came.

    It counts when the waiting ends.
    """

    id: str
    time: float
    value: float


class Rewarded(NamedTuple):
    """The reward of a decision is known, and learned."""

    id: str
    time: float
    value: float
    expired: bool = False  # a default, because nothing came


class Erased(NamedTuple):
    """An erased event.

    Only its position and time remain.
    """

    time: float


class Rebuilt(NamedTuple):
    """Events before this one were erased.

    States that have learned them are rebuilt.
    """

    time: float


Event: TypeAlias = (
    Began | Formed | ArmAdded | ArmRetired | Decided | Reported | Rewarded | Erased | Rebuilt
)
KINDS: Final = (  # by number, in every store; new ones come at the end
    "setting",
    "form",
    "arm_added",
    "arm_retired",
    "decision",
    "report",
    "reward",
    "expired",
    "erased",
    "rebuilt",
)
DECISION: Final = KINDS.index("decision")
FORM: Final = KINDS.index("form")
_TEXTS: Final = (Began, Formed, ArmAdded, ArmRetired)
_HEAD: Final = struct.Struct("<iiiiiq8s?")


def kind_of(event: Event) -> int:
    """Return the number of an event's kind."""
    match event:
        case Decided():
            return DECISION
        case Rewarded():
            return 7 if event.expired else 6
        case Reported():
            return 5
        case Erased():
            return 8
        case Rebuilt():
            return 9
        case _:
            return _TEXTS.index(type(event))


class EventRow(NamedTuple):
    """An event as databases keep it."""

    kind: int
    id: str | None
    time: float
    value: float | None
    data: bytes | None


def row_of(event: Event) -> EventRow:
    """Return an event as a row."""
    kind = kind_of(event)
    match event:
        case Decided():
            return EventRow(kind, event.id, event.time, event.own, _packed(event))
        case Rewarded() | Reported():
            return EventRow(kind, event.id, event.time, event.value, None)
        case Erased() | Rebuilt():
            return EventRow(kind, None, event.time, None, None)
        case Formed():
            return EventRow(kind, None, event.time, float(event.version), event.text.encode())
        case _:
            version = float(event.version) if isinstance(event, Formed) else None
            return EventRow(kind, None, event.time, version, event.text.encode())


def event_of(row: EventRow) -> Event:
    """Return the event in a row.

    A kind that is not known comes from a newer giro.
    """
    kind, id, time, value, data = row
    if kind == DECISION:
        return _unpacked(str(id), time, float(value or 0.0), bytes(data or b""))
    if kind in (6, 7):
        return Rewarded(str(id), time, float(value or 0.0), kind == 7)
    if kind == 5:
        return Reported(str(id), time, float(value or 0.0))
    if kind in (8, 9):
        return (Erased, Rebuilt)[kind - 8](time)
    if kind == FORM:
        return Formed(time, bytes(data or b"").decode(), int(value or 1))
    if 0 <= kind < len(_TEXTS):
        return _TEXTS[kind](time, bytes(data or b"").decode())
    raise BadFile(f"the log has an event of kind {kind}: a newer giro has written it")


def _packed(event: Decided) -> bytes:
    """Return a decision as bytes: sizes, arms, probabilities, the rows, and names if there are."""
    context, features = event.context, event.features
    is_sparse = isinstance(context, SparseRow)
    rows: tuple[np.ndarray, ...]
    if is_sparse:
        sizes = context.column.size, features.column.size
        rows = (context.column, context.value, features.begin, features.column, features.value)
    else:
        sizes = context.size, features.shape[1] if features.size else 0
        rows = (context, features)
    head = _HEAD.pack(
        event.arm,
        event.arms.size,
        event.propensities.size,
        *sizes,
        event.seen,
        event.request,
        is_sparse,
    )
    parts = (event.arms.astype("<i4"), event.propensities, *rows)
    numbers = (
        np.ascontiguousarray(part, f"<{part.dtype.kind}{part.dtype.itemsize}").tobytes()
        for part in parts
    )
    names = json.dumps(event.names, ensure_ascii=False).encode() if event.names else b""
    return b"".join((head, *numbers, names))


class _Reader:
    """Reads arrays one after the other."""

    def __init__(self, data: bytes, position: int) -> None:
        self.data, self.position = data, position

    def numbers(self, kind: str, count: int) -> np.ndarray:
        """Return the next numbers.

        Raises an error if there are fewer.
        """
        size = np.dtype(kind).itemsize * count
        part = self.data[self.position : self.position + size]
        if count < 0 or len(part) < size:
            raise ValueError(f"{len(self.data)} bytes are too few")
        self.position += size
        return np.frombuffer(part, kind).astype(kind[1:])


def _unpacked(id: str, time: float, own: float, data: bytes) -> Decided:
    try:
        arm, n_arms, n_chances, n, k, seen, request, is_sparse = _HEAD.unpack_from(data)
        reader = _Reader(data, _HEAD.size)
        arms = reader.numbers("<i4", n_arms).astype(np.int64)
        chances = reader.numbers("<f8", n_chances)
        context, features = (_sparse_rows if is_sparse else _dense_rows)(reader, n_arms, n, k)
        rest = data[reader.position :]
        names = tuple(json.loads(rest)) if rest else ()
        if len(names) not in (0, n_arms):
            raise ValueError(f"{len(names)} names for {n_arms} arms")
    except (struct.error, ValueError) as error:
        raise BadFile(f"decision '{id}' in the log is damaged: {error}") from None
    request = request if request != bytes(8) else b""
    return Decided(id, time, arm, arms, chances, own, seen, context, features, request, names)


def _dense_rows(reader: _Reader, n_arms: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    context = reader.numbers("<f8", n)
    features = reader.numbers("<f8", n_arms * k).reshape(n_arms, k) if k else NO_FEATURES
    return context, features


def _sparse_rows(reader: _Reader, n_arms: int, n: int, k: int) -> tuple[SparseRow, SparseRows]:
    context = SparseRow(reader.numbers("<i8", n), reader.numbers("<f8", n))
    begin = reader.numbers("<i8", n_arms + 1)
    if begin[0] != 0 or begin[-1] != k or (np.diff(begin) < 0).any():
        raise ValueError("rows of features do not follow each other")
    return context, SparseRows(begin, reader.numbers("<i8", k), reader.numbers("<f8", k))


class Decision:
    """An arm that a `Bandit` chose.

    Report its reward with `bandit.reward(decision.id, ...)`. A decision is plain data, and can be
    pickled and sent to other processes.
    """

    __slots__ = ("_event", "_names", "arm", "id", "time")

    id: str  # what to report the reward under
    arm: str  # what to do
    time: float  # by the bandit's clock, seconds

    def __init__(self, event: Decided, names: tuple[str, ...]) -> None:
        """Keep the event of the decision.

        `names` are those of the arms on offer.
        """
        self.id, self.time, self.arm = event.id, event.time, names[event.position]
        self._event, self._names = event, names

    @property
    def propensity(self) -> float | None:
        """The probability with which the arm was chosen, given all that was known then.

        None with `propensities=False`. Of a policy whose probabilities are not known it is an
        estimate by geometric resampling, whose inverse is unbiased (see `giro.bandit.sampling`).
        """
        return self._event.propensity

    @property
    def propensities(self) -> dict[str, float] | None:
        """The probability of each arm on offer, or None if only `propensity` is known."""
        chances = self._event.propensities
        if chances.size < len(self._names):
            return None
        return dict(zip(self._names, chances.tolist(), strict=True))

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that could be chosen."""
        return self._names

    @property
    def text(self) -> str:
        """The whole decision as one text, from which `Bandit.activate` makes it again."""
        event = self._event
        blob = base64.b64encode(_packed(event)).decode()
        return f"{event.time!r} {event.own!r} {blob} {event.id}"

    def __getstate__(self) -> tuple[Any, ...]:
        event = self._event
        bare = (event.id, event.time, event.arm, event.arms.tolist(), event.propensities.tolist())
        return (*bare, self._names)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        id, time, arm, arms, chances, names = state
        event = Decided(id, time, arm, np.array(arms, np.int64), np.array(chances), np.nan, 0)
        self.__init__(event, names)  # type: ignore[misc]  # as after its making

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Decision(id={self.id!r}, arm={self.arm!r})"
