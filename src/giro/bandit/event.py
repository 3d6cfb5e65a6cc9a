"""The events of a bandit as plain data: its log is a list of these.

Arms have numbers, in the order in which the log names them for the first time. `Decision` is what a
bandit returns of the event that it decided: with names instead of numbers.
"""

import base64
import json
import struct
import zlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from giro.bandit.explaining import Explanation, explained
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

if TYPE_CHECKING:
    from giro.policy import Policy

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
    policy: "Policy | None" = None  # that chose, where it is at hand: here the log has none

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
    name: str = ""  # of the report, if it has one: a second of this name is the same one


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


class Left(NamedTuple):
    """Older events have left the log, except those that are still needed, see `retention`."""

    time: float
    until: int  # position up to which they left


Event: TypeAlias = (
    Began | Formed | ArmAdded | ArmRetired | Decided | Reported | Rewarded | Erased | Rebuilt | Left
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
    "left",
)
DECISION: Final = KINDS.index("decision")
FORM: Final = KINDS.index("form")
_KIND_OF: Final[dict[type, int]] = {
    Began: 0,
    Formed: 1,
    ArmAdded: 2,
    ArmRetired: 3,
    Decided: 4,
    Reported: 5,
    Rewarded: 6,
    Erased: 8,
    Rebuilt: 9,
    Left: 10,
}
_TEXTS: Final = (Began, Formed, ArmAdded, ArmRetired)
# Flags of the parts of a decision. What most decisions have in common is left out.
_SPARSE, _LONG_CODES, _WIDE, _SOME, _OWN, _ASKED, _ZIPPED = (1 << bit for bit in range(7))
_COUNTS: Final = (struct.Struct("<5BI"), struct.Struct("<5iq"))
_LONG = 256  # bytes that are worth compressing


def kind_of(event: Event) -> int:
    """Return the number of an event's kind."""
    return 7 if type(event) is Rewarded and event.expired else _KIND_OF[type(event)]


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
            return EventRow(kind, event.id, event.time, None, _packed(event))
        case Rewarded() | Reported():
            name = event.name.encode() if isinstance(event, Reported) else b""
            return EventRow(kind, event.id, event.time, event.value, name or None)
        case Erased() | Rebuilt():
            return EventRow(kind, None, event.time, None, None)
        case Left():
            return EventRow(kind, None, event.time, float(event.until), None)
        case Formed():
            return EventRow(kind, None, event.time, float(event.version), event.text.encode())
        case _:
            return EventRow(kind, None, event.time, None, event.text.encode())


def event_of(row: EventRow) -> Event:
    """Return the event in a row.

    A kind that is not known comes from a newer giro.
    """
    kind, id, time, value, data = row
    if kind == DECISION:
        return _unpacked(str(id), time, bytes(data or b""))
    if kind in (6, 7):
        return Rewarded(str(id), time, float(value or 0.0), kind == 7)
    if kind == 5:
        return Reported(str(id), time, float(value or 0.0), bytes(data or b"").decode())
    if kind in (8, 9, 10):
        return Left(time, int(value or 0)) if kind == 10 else (Erased, Rebuilt)[kind - 8](time)
    if kind == FORM:
        return Formed(time, bytes(data or b"").decode(), int(value or 1))
    if 0 <= kind < len(_TEXTS):
        return _TEXTS[kind](time, bytes(data or b"").decode())
    raise BadFile(f"the log has an event of kind {kind}: a newer giro has written it")


def _packed(event: Decided) -> bytes:
    """Return a decision as bytes: flags that say which parts there are, and these parts."""
    arms, chances = event.arms, event.propensities
    flags, rows, sizes = _packed_rows(event.context, event.features)
    counts = (event.arm, arms.size, chances.size, *sizes)
    flags |= _WIDE if max(counts) > 255 or event.seen >= 2**32 else 0
    parts = [_COUNTS[bool(flags & _WIDE)].pack(*counts, event.seen)]
    if arms.size == 0 or arms[-1] != arms.size - 1:  # they ascend
        flags |= _SOME
        parts.append(arms.astype("<i4").tobytes())
    parts.append(chances.astype("<f8").tobytes())
    own = struct.pack("<d", event.own)
    if own != _chosen(parts[-1], event.position, arms.size):
        flags |= _OWN
        parts.append(own)
    if event.request:
        flags |= _ASKED
        parts.append(event.request)
    parts += rows
    if event.names:
        parts.append(json.dumps(event.names, ensure_ascii=False).encode())
    data = b"".join(parts)
    if len(data) >= _LONG:
        short = zlib.compress(data, 1)
        if len(short) < len(data):
            return bytes((flags | _ZIPPED,)) + short
    return bytes((flags,)) + data


def _chosen(chances: bytes, position: int, n_arms: int) -> bytes:
    """Return the probability of the chosen arm as it was written, nothing if it is not known."""
    at = 8 * position if len(chances) == 8 * n_arms else 0
    return chances[at : at + 8]


def _packed_rows(context: AnyRow, features: AnyRows) -> tuple[int, list[bytes], tuple[int, int]]:
    """Return flags, and the rows with their sizes."""
    if not isinstance(context, SparseRow):
        k = features.shape[1] if features.size else 0
        sides = [part for part in (context, features) if part.size]
        rows = [np.ascontiguousarray(part, "<f8").tobytes() for part in sides]
        return 0, rows, (context.size, k)
    widths = np.diff(features.begin)
    order = _by_feature(widths)
    codes = np.concatenate([context.column, features.column[order]])
    values = np.concatenate([context.value, features.value[order]]).astype("<f8")
    is_short = codes.max(initial=0) < 2**32
    kinds = ((widths, "<u4"), (codes, "<u4" if is_short else "<i8"))
    rows = [part.astype(kind).tobytes() for part, kind in kinds]
    rows.append(values.view(np.uint8).reshape(-1, 8).T.tobytes())
    sizes = context.column.size, features.column.size
    return _SPARSE | (0 if is_short else _LONG_CODES), rows, sizes


def _by_feature(widths: np.ndarray) -> np.ndarray:
    """Return the order in which features of arms are written: the first of each arm, and so on.

    Arms mostly have the same features. Side by side, and with the first bytes of all values
    together, then the second ones, they take a fifth less room when they are compressed.
    """
    n, width = widths.size, int(widths.max(initial=0))
    if n * width == widths.sum():
        return np.arange(n * width).reshape(n, width).T.ravel()
    return np.arange(int(widths.sum()))


class _Reader:
    """Reads arrays one after the other."""

    def __init__(self, data: bytes, position: int) -> None:
        self.data, self.position = data, position

    def numbers(self, kind: str, count: int) -> np.ndarray:
        """Return the next numbers.

        Raises an error if there are fewer.
        """
        part = self.part(np.dtype(kind).itemsize * count)
        return np.frombuffer(part, kind).astype(kind[1:])

    def part(self, size: int) -> bytes:
        """Return the next bytes, likewise."""
        part = self.data[self.position : self.position + size]
        if len(part) < size:
            raise ValueError(f"{len(self.data)} bytes are too few")
        self.position += size
        return part


def _unpacked(id: str, time: float, data: bytes) -> Decided:
    try:
        flags = data[0]
        data = zlib.decompress(data[1:]) if flags & _ZIPPED else data[1:]
        head = _COUNTS[bool(flags & _WIDE)]
        arm, n_arms, n_chances, n, k, seen = head.unpack_from(data)
        reader = _Reader(data, head.size)
        if flags & _SOME:
            arms = reader.numbers("<i4", n_arms).astype(np.int64)
            place = int(arms.searchsorted(arm))
        else:
            arms, place = np.arange(n_arms), arm
        written = reader.part(8 * n_chances)
        own = reader.part(8) if flags & _OWN else _chosen(written, place, n_arms)
        request = reader.part(8) if flags & _ASKED else b""
        context, features = _rows(reader, flags, n_arms, n, k)
        rest = data[reader.position :]
        names = tuple(json.loads(rest)) if rest else ()
        if len(names) not in (0, n_arms):
            raise ValueError(f"{len(names)} names for {n_arms} arms")
        chances, (number,) = np.frombuffer(written, "<f8").astype("f8"), struct.unpack("<d", own)
    except (struct.error, zlib.error, ValueError, IndexError) as error:
        raise BadFile(f"decision '{id}' in the log is damaged: {error}") from None
    return Decided(id, time, arm, arms, chances, number, seen, context, features, request, names)


def _rows(reader: _Reader, flags: int, n_arms: int, n: int, k: int) -> tuple[AnyRow, AnyRows]:
    if not flags & _SPARSE:
        context = reader.numbers("<f8", n) if n else NO_CONTEXT
        return context, reader.numbers("<f8", n_arms * k).reshape(n_arms, k) if k else NO_FEATURES
    widths = reader.numbers("<u4", n_arms).astype(np.int64)
    begin = np.concatenate([[0], np.cumsum(widths)])
    if begin[-1] != k:
        raise ValueError("rows of features do not follow each other")
    codes = reader.numbers("<i8" if flags & _LONG_CODES else "<u4", n + k).astype(np.int64)
    planes = np.frombuffer(reader.part(8 * (n + k)), np.uint8).reshape(8, n + k)
    values = np.ascontiguousarray(planes.T).view("<f8").ravel().astype("f8")
    of_arms = SparseRows(begin, np.empty(k, np.int64), np.empty(k))
    order = _by_feature(widths)
    of_arms.column[order], of_arms.value[order] = codes[n:], values[n:]
    return SparseRow(codes[:n], values[:n]), of_arms


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
        place = event.place
        self.id, self.time = event.id, event.time
        self.arm = names[event.position if place < 0 else place]
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

    def explain(self) -> Explanation:
        """Return why this arm was chosen, as far as the log knows: prints, or shows in a notebook.

        It lists the arms on offer with their probabilities and says whether a likelier arm was
        passed over, which is exploration. The policy is named if this decision was just made, by
        this process.
        """
        return explained(self._event, self._names)

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
