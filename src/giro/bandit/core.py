"""Core: what a bandit does, once it is certain that nobody else is doing something."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from giro.bandit.decision import Decision
from giro.bandit.encoding import Encoder, Given
from giro.bandit.learners import Learners
from giro.bandit.log import PENDING, Log
from giro.bandit.newcomers import Newcomers
from giro.bandit.referee import Referee
from giro.bandit.setting import Setting
from giro.bandit.voting import pick
from giro.errors import BadParameter, UnknownName

_NO_CONTEXT = np.empty(0)


class Core:
    """A setting, a log, and what follows from both; everything is checked before it is noted."""

    def __init__(self, setting: Setting, log: Log, clock: Callable[[], float]) -> None:
        """Begin with nothing learned."""
        self.setting, self.log, self.clock = setting, log, clock
        self.encoder: Encoder | None = None  # not known before the first decision
        self.learners = Learners(setting, log, 0)
        self.referee = Referee(setting, log, 0, self.learners)
        first = setting.first_decisions if setting.policy.prefers_untried else None
        self.newcomers = Newcomers(first, log)
        self.whole = log.set_number(log.active)  # the number of the set of all active arms

    def use(self, encoder: Encoder) -> None:
        """Fix the form of contexts; nothing was learned yet."""
        self.encoder = encoder
        n_features = encoder.n_features
        self.learners = Learners(self.setting, self.log, n_features)
        self.referee = Referee(self.setting, self.log, n_features, self.learners)

    def told(self) -> dict[str, Any]:
        """Return what a replay needs to know besides the events."""
        encoder = None if self.encoder is None else self.encoder.to_json()
        return {"setting": self.setting.to_json(), "encoder": encoder, "prefix": self.log.prefix}

    # -- deciding ----------------------------------------------------------------------------

    def encoded(self, context: Given) -> np.ndarray:
        """Return the features; the first context of all decides on their form."""
        if context is None and self.encoder is not None and not self.encoder.has_columns:
            return _NO_CONTEXT
        if self.encoder is not None:
            return self.encoder.encode(context)
        encoder = Encoder.fitted(context, self.setting.features, bias=self.setting.bias)
        row = encoder.encode(context)
        self.use(encoder)
        return row

    def forget_first_context(self) -> None:
        """Let another context decide on the form if the first one led to no decision."""
        if self.log.n_decisions == 0:
            self.encoder = None

    def among(self, arms: Sequence[str] | None) -> int:
        """Return the number of the set of these arms, or of all active ones."""
        if arms is None:
            return self.whole
        if isinstance(arms, str) or len(arms) == 0:
            raise BadParameter(f"arms is a list of names, not empty; got {arms!r}")
        numbers = {self.active_arm(name) for name in arms}
        if len(numbers) < len(arms):
            raise BadParameter(f"an arm is named twice in {list(arms)}")
        return self.log.set_number(tuple(sorted(numbers)))

    def active_arm(self, name: str) -> int:
        """Return the number of an arm that can be chosen."""
        log = self.log
        arm = log.arm(name)
        if arm is None:
            raise UnknownName("arm", str(name), known=[log.arms[known] for known in log.active])
        if arm not in log.active:
            raise BadParameter(f"the arm '{name}' is retired")
        return arm

    def check_new_id(self, id: str) -> None:
        """Refuse an id that is taken, or that could be the bandit's own."""
        if not isinstance(id, str) or not id:
            raise BadParameter(f"an id is a word, got {id!r}")
        if id.startswith(self.log.prefix):
            raise BadParameter(f"ids that start with '{self.log.prefix}' are the bandit's own")
        if self.log.decision_of(id) is not None:
            raise BadParameter(f"there already is a decision '{id}'")

    def decide(self, row: np.ndarray, among: int, id: str | None) -> tuple[int, str, str, float]:
        """Decide among the arms of a set that are eligible; return number, id, arm and time."""
        log = self.log
        number = log.n_decisions
        among = self.newcomers.eligible(among)
        learner = self.learners.ready(among)
        place, law = pick(learner, self.setting, log, number, row)
        arm, now = learner.arms[place], self.clock()
        log.decide(arm, among, row, now, id)
        self.newcomers.decided(arm)
        if law is not None:
            log.propensities[number] = law
        return number, id or f"{log.prefix}{number}", log.arms[arm], now

    def propensities_of(self, number: int) -> dict[str, float] | None:
        """Return the probability of each arm of a decision."""
        law = self.referee.law_of(number)
        if law is None:
            return None
        arms = self.log.sets[self.log.among[number]]
        return {self.log.arms[arm]: p for arm, p in zip(arms, law.tolist(), strict=True)}

    # -- rewarding ---------------------------------------------------------------------------

    def checked(self, id: str, value: float) -> tuple[int, float]:
        """Return the number of a decision and its reward, which is new or the same as before."""
        number = self.number_of(id)
        value = self.checked_value(value)
        known = self.log.reward_of[number]
        if known != PENDING and self.log.value[known] != value:
            before = self.log.value[known]
            raise BadParameter(f"decision '{id}' already has the reward {before:g}, got {value:g}")
        return number, value

    def number_of(self, id: str) -> int:
        """Return the number of a decision."""
        number = self.log.decision_of(id)
        if number is None:
            raise BadParameter(f"no decision has the id {id!r}")
        return number

    def checked_value(self, value: float) -> float:
        """Return a reward as a number in the range."""
        low, high = self.setting.reward_range
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if isinstance(value, str) or not low <= number <= high:
            raise BadParameter(f"a reward is a number in [{low:g}, {high:g}], got {value!r}")
        return number

    def reward(self, values: Mapping[int, float], kind: int) -> None:
        """Note the rewards of decisions that wait for one, and learn them.

        They are learned now for the arms used last, so that the next decision need not.
        """
        for number, value in values.items():
            if self.log.reward_of[number] == PENDING:
                unit = self.setting.to_unit(value)
                self.log.reward(number, value, unit, self.clock(), kind)
                self.newcomers.rewarded(self.log.chosen[number])
        self.learn()

    def learn(self) -> None:
        """Learn what has come, for the arms used last."""
        if self.log.n_decisions > 0:
            self.learners.ready(self.log.among[-1])

    # -- arms --------------------------------------------------------------------------------

    def add_arm(self, name: str) -> None:
        """Note a new arm, or one that comes back."""
        self.log.add_arm(name, self.clock())
        self.whole = self.log.set_number(self.log.active)

    def retire_arm(self, name: str) -> None:
        """Note that an arm retires."""
        self.log.retire_arm(name, self.clock())
        self.whole = self.log.set_number(self.log.active)


def decision_in(
    log: Log, number: int, source: Callable[[int], Mapping[str, float] | None]
) -> Decision:
    """Return a decision of the log."""
    arm, at = log.arms[log.chosen[number]], log.time[log.event[number]]
    return Decision(log.id_of(number), arm, number, at, source)


def checked_names(arms: object) -> list[str]:
    """Return the names of arms, which differ."""
    names = list(arms) if not isinstance(arms, str) and hasattr(arms, "__iter__") else []
    if not names or not all(isinstance(name, str) and name for name in names):
        raise BadParameter(f"arms is a list of names, not empty; got {arms!r}")
    if len(set(names)) < len(names):
        raise BadParameter(f"an arm is named twice in {names}")
    return names
