"""The log that a bandit is: numbered events, kept in columns."""

from array import array
from collections.abc import Sequence
from typing import Final

import numpy as np

KINDS: Final = ("decision", "reward", "expired", "arm_added", "arm_retired")
DECISION, REWARD, EXPIRED, ARM_ADDED, ARM_RETIRED = range(len(KINDS))
PENDING = -1  # in place of the number of a decision's reward
_FIRST_ROOM = 64


class Log:
    """Everything that happened, in order; nothing here is ever changed or removed.

    Arms, decisions, rewards and events are numbered from 0, each in the order they came. Nothing
    is checked here: what is refused must not get this far.
    """

    def __init__(self, prefix: str) -> None:
        """Begin without events; ids that nobody gives are `prefix` and a number."""
        self.prefix = prefix
        self.arms: list[str] = []
        self.active: tuple[int, ...] = ()  # arms that can be chosen, ascending
        self.kind = array("b")  # [event]
        self.subject = array("q")  # [event] number of the arm, decision or reward
        self.time = array("d")  # [event]
        self.sets: list[tuple[int, ...]] = []  # arms among which decisions were made
        self.among = array("q")  # [decision] number of such a set
        self.chosen = array("q")  # [decision] arm
        self.seen = array("q")  # [decision] rewards that had come before
        self.event = array("q")  # [decision] event
        self.reward_of = array("q")  # [decision] its reward, or PENDING
        self.contexts = np.empty((_FIRST_ROOM, 0))  # [decision, feature], with room at the end
        self.propensities: dict[int, np.ndarray] = {}  # by decision, [place in its set]
        self.made_elsewhere = 0  # decisions, the first ones, of another policy
        self.rewarded = array("q")  # [reward] decision
        self.value = array("d")  # [reward] as reported
        self.unit = array("d")  # [reward] in [0, 1]
        self.first_fraction: int | None = None  # the first reward that is not 0 or 1
        self._own_ids: dict[int, str] = {}  # ids that callers gave
        self._decision_of: dict[str, int] = {}
        self._arm_of: dict[str, int] = {}
        self._set_of: dict[tuple[int, ...], int] = {}

    # -- asking ------------------------------------------------------------------------------

    @property
    def n_decisions(self) -> int:
        """How many decisions there were."""
        return len(self.chosen)

    @property
    def n_rewards(self) -> int:
        """How many rewards came, those of expired decisions among them."""
        return len(self.rewarded)

    def arm(self, name: object) -> int | None:
        """Return the number of an arm, active or not."""
        return self._arm_of.get(name) if isinstance(name, str) else None

    def id_of(self, decision: int) -> str:
        """Return the id of a decision."""
        return self._own_ids.get(decision) or f"{self.prefix}{decision}"

    def decision_of(self, id: object) -> int | None:
        """Return the number of the decision with this id."""
        if not isinstance(id, str):
            return None
        if not id.startswith(self.prefix):
            return self._decision_of.get(id)
        digits = id[len(self.prefix) :]
        if not (digits.isascii() and digits.isdigit()) or (digits[0] == "0" and digits != "0"):
            return None
        decision = int(digits)
        return decision if decision < self.n_decisions and decision not in self._own_ids else None

    def context_of(self, decision: int) -> np.ndarray:
        """Return the features of a decision, empty if it had none."""
        context: np.ndarray = self.contexts[decision]
        return context

    def is_binary(self, seen: int) -> bool:
        """Tell whether the first `seen` rewards were all 0 or 1."""
        return self.first_fraction is None or seen <= self.first_fraction

    def set_number(self, arms: tuple[int, ...]) -> int:
        """Return the number of a set of arms; a new one gets the next."""
        number = self._set_of.get(arms)
        if number is None:
            number = self._set_of[arms] = len(self.sets)
            self.sets.append(arms)
        return number

    # -- noting ------------------------------------------------------------------------------

    def add_arm(self, name: str, time: float) -> None:
        """Note that an arm can be chosen from now on; a retired one comes back."""
        arm = self._arm_of.setdefault(name, len(self.arms))
        if arm == len(self.arms):
            self.arms.append(name)
        self.active = tuple(sorted((*self.active, arm)))
        self._note(ARM_ADDED, arm, time)

    def retire_arm(self, name: str, time: float) -> None:
        """Note that an arm cannot be chosen any more."""
        arm = self._arm_of[name]
        self.active = tuple(other for other in self.active if other != arm)
        self._note(ARM_RETIRED, arm, time)

    def decide(self, arm: int, among: int, context: np.ndarray, time: float, id: str | None) -> int:
        """Note a decision and return its number."""
        decision = len(self.chosen)
        if decision >= len(self.contexts) or context.size != self.contexts.shape[1]:
            self._make_room(context.size)
        self.contexts[decision] = context
        self.event.append(len(self.kind))
        self.chosen.append(arm)
        self.among.append(among)
        self.seen.append(len(self.rewarded))
        self.reward_of.append(PENDING)
        if id is not None:
            self._own_ids[decision] = id
            self._decision_of[id] = decision
        self._note(DECISION, decision, time)
        return decision

    def reward(
        self, decision: int, value: float, unit: float, time: float, kind: int = REWARD
    ) -> None:
        """Note what a decision brought."""
        reward = len(self.rewarded)
        if self.first_fraction is None and 0.0 < unit < 1.0:
            self.first_fraction = reward
        self.reward_of[decision] = reward
        self.rewarded.append(decision)
        self.value.append(value)
        self.unit.append(unit)
        self._note(kind, reward, time)

    def _note(self, kind: int, subject: int, time: float) -> None:
        self.kind.append(kind)
        self.subject.append(subject)
        self.time.append(time)

    def _make_room(self, n_features: int) -> None:
        room = max(_FIRST_ROOM, 2 * len(self.contexts))
        grown = np.empty((room, n_features))
        if n_features == self.contexts.shape[1]:
            grown[: len(self.contexts)] = self.contexts
        self.contexts = grown


def column(values: array, begin: int = 0, end: int | None = None) -> np.ndarray:  # type: ignore[type-arg]  # of any number
    """Return a copy of a part of a column as an array."""
    part = values[begin:end]
    kind = {"b": np.int8, "q": np.int64, "d": np.float64}[part.typecode]
    return np.frombuffer(part, kind) if part else np.empty(0, kind)


def places(arms: Sequence[int]) -> np.ndarray:
    """Return, for each arm up to the last of these, its place among them, or -1."""
    where = np.full(max(arms) + 1, -1, np.int64)
    where[list(arms)] = np.arange(len(arms))
    return where
