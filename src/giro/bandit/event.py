"""What happens to a bandit, as plain data: its log is a list of these.

Arms have numbers, in the order in which the log names them for the first time. `Decision` is what a
bandit returns of the event that it decided: with names instead of numbers.
"""

import json
import struct
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from giro.errors import BadFile
from giro.offer import NO_CONTEXT, NO_FEATURES, Case

UNKNOWN: Final = np.empty(0)  # in place of probabilities that nobody worked out


class Began(NamedTuple):
    """The bandit began with this setting, or goes on with it."""

    time: float
    text: str  # JSON, see `Setting`


class Formed(NamedTuple):
    """The form of contexts and of features of arms is fixed."""

    time: float
    text: str  # JSON, see `Forms`
    version: int = 1  # how many forms there are with this one


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
    context: np.ndarray = NO_CONTEXT  # [feature], as it was given, or pairs (`giro.hashing`)
    features: np.ndarray = NO_FEATURES  # [i, feature] of the arms on offer, or pairs
    request: bytes = b""  # digest of what was asked for, where the caller gave the id
    names: tuple[str, ...] = ()  # [i] of the arms, where they have no numbers but their places

    @property
    def position(self) -> int:
        """The place of the chosen arm among those on offer."""
        return int(self.arms.searchsorted(self.arm))

    @property
    def case(self) -> Case:
        """What was known when the arm was chosen."""
        features = self.features[self.position] if self.features.size else NO_CONTEXT
        return Case(self.context, features)

    @property
    def propensity(self) -> float | None:
        """The probability of the chosen arm, None if it is not known."""
        known = self.propensities
        if known.size == 0:
            return None
        return float(known[0] if known.size < self.arms.size else known[self.position])


class Reported(NamedTuple):
    """A part of a decision's reward, or a correction, came; it counts when the waiting ends."""

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
    """An erased event; only its position and time remain."""

    time: float


class Rebuilt(NamedTuple):
    """Events before this one were erased; states that have learned them are rebuilt."""

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
_TEXTS: Final = (Began, Formed, ArmAdded, ArmRetired)
_HEAD: Final = struct.Struct("<iiiiiq8s")


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
            return EventRow(kind, None, event.time, None, event.text.encode())


def event_of(row: EventRow) -> Event:
    """Return the event in a row; a kind that is not known comes from a newer giro."""
    kind, id, time, value, data = row
    if kind == DECISION:
        return _unpacked(str(id), time, float(value or 0.0), bytes(data or b""))
    if kind in (6, 7):
        return Rewarded(str(id), time, float(value or 0.0), kind == 7)
    if kind == 5:
        return Reported(str(id), time, float(value or 0.0))
    if kind in (8, 9):
        return (Erased, Rebuilt)[kind - 8](time)
    if kind == KINDS.index("form"):
        return Formed(time, bytes(data or b"").decode(), int(value or 1))
    if 0 <= kind < len(_TEXTS):
        return _TEXTS[kind](time, bytes(data or b"").decode())
    raise BadFile(f"the log has an event of kind {kind}: a newer giro has written it")


def _packed(event: Decided) -> bytes:
    n, k = event.features.shape
    head = _HEAD.pack(
        event.arm,
        event.arms.size,
        event.propensities.size,
        event.context.size,
        k if n else 0,
        event.seen,
        event.request,
    )
    parts = (event.propensities, event.context, event.features)
    numbers = (np.ascontiguousarray(part, "<f8").tobytes() for part in parts)
    names = json.dumps(event.names, ensure_ascii=False).encode() if event.names else b""
    return b"".join((head, event.arms.astype("<i4").tobytes(), *numbers, names))


def _unpacked(id: str, time: float, own: float, data: bytes) -> Decided:
    try:
        arm, n_arms, n_propensities, n_context, k, seen, request = _HEAD.unpack_from(data)
        arms = np.frombuffer(data, "<i4", n_arms, _HEAD.size).astype(np.int64)
        first, second = n_propensities, n_propensities + n_context
        count, begin = second + n_arms * k, _HEAD.size + 4 * n_arms
        end = begin + 8 * count
        names = tuple(json.loads(data[end:])) if len(data) > end else ()
        numbers = np.frombuffer(data[begin:end], "<f8").astype(np.float64)
        if numbers.size != count or len(names) not in (0, n_arms):
            raise ValueError(f"{len(data)} bytes for {count} numbers")
        propensities, context = numbers[:first], numbers[first:second]
        rows = numbers[second:].reshape(n_arms, k) if k else NO_FEATURES
    except (struct.error, ValueError) as error:
        raise BadFile(f"decision '{id}' in the log is damaged: {error}") from None
    request = request if request != bytes(8) else b""
    return Decided(id, time, arm, arms, propensities, own, seen, context, rows, request, names)


class Decision:
    """An arm that a `Bandit` chose; report what came of it with `bandit.reward(decision.id, ...)`.

    It is plain data, and can be pickled and sent to other processes.
    """

    __slots__ = ("_names", "_p", "arm", "id", "propensity", "time")

    id: str  # what to report the reward under
    arm: str  # what to do
    time: float  # by the bandit's clock, seconds
    propensity: float | None
    """The probability with which the arm was chosen, given all that was known then.

    None with `propensities=False`. Of a policy whose probabilities are not known it is an estimate
    by geometric resampling, whose inverse is unbiased (see `giro.bandit.propensity`).
    """

    def __init__(self, event: Decided, names: tuple[str, ...]) -> None:
        """Note what was decided; `names` are those of the arms on offer."""
        self.id, self.time = event.id, event.time
        self.arm = names[event.position]
        self.propensity = event.propensity
        self._names, self._p = names, event.propensities

    @property
    def propensities(self) -> dict[str, float] | None:
        """The probability of each arm that could be chosen; None if only `propensity` is known."""
        if self._p.size < len(self._names):
            return None
        return dict(zip(self._names, self._p.tolist(), strict=True))

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that could be chosen."""
        return self._names

    def __getstate__(self) -> tuple[Any, ...]:
        p = np.asarray(self._p).tolist()
        return (self.id, self.arm, self.time, self.propensity, self._names, p)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.id, self.arm, self.time, self.propensity, self._names, p = state
        self._p = np.array(p)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Decision(id={self.id!r}, arm={self.arm!r})"
