"""The log that a bandit is: decisions, rewards, and arms that come and go, kept in columns."""

from array import array
from typing import Final, NamedTuple

import numpy as np

from giro.offer import NO_CONTEXT, NO_FEATURES, Offer

KINDS: Final = ("decision", "reward", "expired", "arm_added", "arm_retired")
DECISION, REWARD, EXPIRED, ARM_ADDED, ARM_RETIRED = range(len(KINDS))
PENDING = -1  # in place of the number of a decision's reward
_FIRST_ROOM = 64


class ArmEvent(NamedTuple):
    """An arm that was added or retired."""

    kind: int
    arm: int
    time: float
    decisions: int  # made before
    rewards: int  # that came before


class Log:
    """Everything that happened; nothing here is ever changed, or removed once it was learned.

    Arms, decisions and rewards are numbered from 0, each in the order they came. A decision knows
    how many rewards came before, an event of an arm how many of both: this is the order of all
    events. Nothing is checked here: `Core` does so before it notes an event.
    """

    def __init__(self, prefix: str) -> None:
        """Begin without events; ids that nobody gives are `prefix` and a number."""
        self.prefix = prefix
        self.arms: list[str] = []
        self.active: tuple[int, ...] = ()  # arms that can be chosen, ascending
        self.arm_events: list[ArmEvent] = []
        self.sets: list[np.ndarray] = []  # [set] arms among which decisions were made, ascending
        self.decided = array("d")  # [decision] time
        self.chosen = array("i")  # [decision] arm
        self.among = array("i")  # [decision] number of a set
        self.seen = array("q")  # [decision] rewards that had come before
        self.reward_of = array("q")  # [decision] its reward, or PENDING
        self.contexts = np.empty((_FIRST_ROOM, 0))  # [decision, feature], with room at the end
        self.features: list[np.ndarray] = []  # [decision][i, feature] of the set's arms, if any
        self.propensities: dict[int, np.ndarray] = {}  # by decision, [place in its set]
        self.made_elsewhere = 0  # decisions, the first ones, of another policy
        self.rewarded = array("q")  # [reward] decision
        self.value = array("d")  # [reward] as reported
        self.came = array("d")  # [reward] time
        self.expired = array("b")  # [reward] whether it is a default
        self.first_fraction: int | None = None  # the first reward inside the range
        self.own_ids: dict[int, str] = {}  # ids that callers gave, by decision
        self._decision_of: dict[str, int] = {}
        self._arm_of: dict[str, int] = {}
        self._set_of: dict[bytes, int] = {}

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
        return self.own_ids.get(decision) or f"{self.prefix}{decision}"

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
        return decision if decision < self.n_decisions and decision not in self.own_ids else None

    def offer_of(self, decision: int) -> Offer:
        """Return what could be chosen, and what was known of it."""
        features = self.features[decision] if self.features else NO_FEATURES
        return Offer(self.sets[self.among[decision]], self.contexts[decision], features)

    def chosen_features(self, decision: int) -> np.ndarray:
        """Return the features of the chosen arm, [feature]."""
        if not self.features:
            return NO_CONTEXT
        position = self.sets[self.among[decision]].searchsorted(self.chosen[decision])
        features: np.ndarray = self.features[decision][position]
        return features

    def is_binary(self, seen: int) -> bool:
        """Tell whether the first `seen` rewards were all the lowest or the highest there can be."""
        return self.first_fraction is None or seen <= self.first_fraction

    def set_number(self, arms: np.ndarray) -> int:
        """Return the number of a set of arms, ascending; a new one gets the next."""
        key = arms.tobytes()
        number = self._set_of.get(key)
        if number is None:
            number = self._set_of[key] = len(self.sets)
            self.sets.append(arms)
        return number

    # -- noting ------------------------------------------------------------------------------

    def add_arm(self, name: str, time: float) -> None:
        """Note that an arm can be chosen from now on; a retired one comes back."""
        arm = self._arm_of.get(name, len(self.arms))
        self.note_arm(name, ArmEvent(ARM_ADDED, arm, time, self.n_decisions, self.n_rewards))

    def retire_arm(self, name: str, time: float) -> None:
        """Note that an arm cannot be chosen any more."""
        arm = self._arm_of[name]
        self.note_arm(name, ArmEvent(ARM_RETIRED, arm, time, self.n_decisions, self.n_rewards))

    def note_arm(self, name: str, event: ArmEvent) -> None:
        """Note that an arm came or went."""
        if event.arm == len(self.arms):
            self.arms.append(name)
            self._arm_of[name] = event.arm
        others = tuple(other for other in self.active if other != event.arm)
        self.active = tuple(sorted((*others, event.arm))) if event.kind == ARM_ADDED else others
        self.arm_events.append(event)

    def decide(self, arm: int, among: int, offer: Offer, time: float, id: str | None) -> int:
        """Note a decision and return its number."""
        decision, context = len(self.chosen), offer.context
        if decision >= len(self.contexts) or context.size != self.contexts.shape[1]:
            grown = np.empty((max(_FIRST_ROOM, 2 * len(self.contexts)), context.size))
            if context.size == self.contexts.shape[1]:
                grown[: len(self.contexts)] = self.contexts
            self.contexts = grown
        self.contexts[decision] = context
        if offer.features.size:
            self.features.append(offer.features)
        self.decided.append(time)
        self.chosen.append(arm)
        self.among.append(among)
        self.seen.append(len(self.rewarded))
        self.reward_of.append(PENDING)
        if id is not None:
            self.name(decision, id)
        return decision

    def name(self, decision: int, id: str) -> None:
        """Note the id that a caller gave to a decision."""
        self.own_ids[decision] = id
        self._decision_of[id] = decision

    def reward(
        self, decision: int, value: float, time: float, *, expired: bool, inside: bool
    ) -> None:
        """Note what a decision brought; `inside` if that is neither the lowest nor the highest."""
        reward = len(self.rewarded)
        if inside and self.first_fraction is None:
            self.first_fraction = reward
        self.reward_of[decision] = reward
        self.rewarded.append(decision)
        self.value.append(value)
        self.came.append(time)
        self.expired.append(expired)

    def take_back_rewards(self, left: int) -> None:
        """Forget all rewards but the first `left`: they could not be learned."""
        for decision in self.rewarded[left:]:
            self.reward_of[decision] = PENDING
        for column in (self.rewarded, self.value, self.came, self.expired):
            del column[left:]
        if self.is_binary(left):
            self.first_fraction = None


def column(values: array, begin: int = 0, end: int | None = None) -> np.ndarray:  # type: ignore[type-arg]  # of any number
    """Return a copy of a part of a column as an array."""
    part = values[begin:end]
    kind = {"b": np.int8, "i": np.int32, "q": np.int64, "d": np.float64}[part.typecode]
    return np.frombuffer(part, kind) if part else np.empty(0, kind)
