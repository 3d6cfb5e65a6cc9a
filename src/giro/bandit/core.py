"""Core: what a bandit does, once it is certain that nobody else is doing something.

Every event is checked here, whether it happens now or is read from a log.
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from giro.bandit.cold_start import ColdStart
from giro.bandit.decision import Decision
from giro.bandit.log import PENDING, Log, column
from giro.bandit.propensity import mixed, sample_arm
from giro.bandit.setting import FIRST_ROOM, Setting
from giro.errors import BadParameter, UnknownName
from giro.features import Encoder, Given, is_usable
from giro.live import LivePolicy
from giro.named import text_of
from giro.offer import NO_CONTEXT, NO_FEATURES, Case, Offer, Shape
from giro.standardising import Numbers

Arms: TypeAlias = Sequence[str] | Mapping[str, Given] | None  # names, or their features by name


class Core:
    """A setting, a log, and what follows from both; everything is checked before it is noted."""

    def __init__(self, setting: Setting, log: Log, clock: Callable[[], float]) -> None:
        """Begin with nothing learned."""
        self.setting, self.log, self.clock = setting, log, clock
        self.encoder: Encoder | None = None  # of contexts; not known before the first decision
        self.arm_encoder: Encoder | None = None  # of features of arms, if they have any
        self.live: LivePolicy | None = None  # the one state
        self._past: LivePolicy | None = None  # as it was at some decision
        self._last: tuple[Any, np.ndarray] | None = None  # decisions before a reward share theirs
        self.cold_start = self._cold_start()
        self.whole = 0  # the number of the set of all active arms
        self._arms_changed()

    def _cold_start(self) -> ColdStart:
        setting = self.setting
        return ColdStart(
            setting.first_decisions if setting.policy.prefers_untried else None, self.log
        )

    def header(self) -> dict[str, Any]:
        """Return what a replay needs to know besides the events."""
        encoders = (self.encoder, self.arm_encoder)
        return {
            "setting": self.setting.to_json(),
            "encoder": None if encoders[0] is None else encoders[0].to_json(),
            "arm_encoder": None if encoders[1] is None else encoders[1].to_json(),
            "prefix": self.log.prefix,
            "made_elsewhere": self.log.made_elsewhere,
        }

    # -- offers ------------------------------------------------------------------------------

    def offered(self, context: Given, arms: Arms) -> tuple[int, Offer]:
        """Return the number of the set of arms to choose from now, and all that is known.

        The first context and the first features of all decide on their form.
        """
        asked = self.among(arms)
        encoder, arm_encoder, policy = self.encoder, self.arm_encoder, self.setting.policy
        if encoder is None:
            encoder = Encoder.fitted(context, self.setting.features)
            if context is not None and not policy.resolved(contextual=True).uses_contexts:
                warnings.warn(f"{policy} logs contexts, but ignores them", stacklevel=3)
            if isinstance(arms, Mapping):
                arm_encoder = Encoder.fitted_to_arm(*next(iter(arms.items())))
        row = NO_CONTEXT if encoder.is_empty and context is None else encoder.encode(context)
        features = self._features(arms, asked, arm_encoder)
        if self.encoder is None:  # nothing was learned yet
            self.encoder, self.arm_encoder = encoder, arm_encoder
            self.live = self._fresh_as_live()
        among = self.cold_start.eligible(asked)
        if among != asked and features.size:
            features = features[np.isin(self.log.sets[asked], self.log.sets[among])]
        return among, Offer(self.log.sets[among], row, features)

    def _features(self, arms: Arms, among: int, encoder: Encoder | None) -> np.ndarray:
        """Return what is known of each arm of the set; all are checked."""
        if encoder is None:
            if isinstance(arms, Mapping):
                raise BadParameter("the arms of this bandit have no features: name them in a list")
            return NO_FEATURES
        if not isinstance(arms, Mapping):
            raise BadParameter(
                "every decision of this bandit needs features of its arms: "
                "give arms={name: features, ...}"
            )
        names = (self.log.arms[arm] for arm in self.log.sets[among])
        return np.array([encoder.encode_arm(name, arms[name]) for name in names])

    def forget_first_context(self) -> None:
        """Let another context decide on the form if the first one led to no decision."""
        if self.log.n_decisions == 0:
            self.encoder = self.arm_encoder = self.live = None

    def among(self, arms: Arms) -> int:
        """Return the number of the set of these arms, or of all active ones."""
        if arms is None:
            return self.whole
        if isinstance(arms, str) or not hasattr(arms, "__len__") or len(arms) == 0:
            raise BadParameter(f"arms is a list of names, not empty; got {arms!r}")
        numbers = {self.active_arm(name) for name in arms}
        if len(numbers) < len(arms):
            raise BadParameter(f"an arm is named twice in {list(arms)}")
        return self.log.set_number(np.array(sorted(numbers)))

    def active_arm(self, name: object) -> int:
        """Return the number of an arm that can be chosen."""
        log = self.log
        arm = log.arm(name)
        if arm is None:
            raise UnknownName("arm", str(name), known=[log.arms[known] for known in log.active])
        if arm not in log.active:
            raise BadParameter(f"the arm '{name}' is retired")
        return arm

    def check_widths(self, context: np.ndarray, features: np.ndarray, n_arms: int) -> None:
        """Check that features are finite, and as many as those of the decisions before."""
        shapes = (context.shape, features.shape)
        d, k = (0 if e is None else e.n_features for e in (self.encoder, self.arm_encoder))
        if shapes != ((d,), (n_arms, k) if k else (0, 0)):
            raise BadParameter(
                f"a context has {d} features and an arm {k}, "
                f"got shapes {context.shape} and {features.shape}"
            )
        if not (is_usable(context) and is_usable(features)):
            raise BadParameter("a context or an arm has a feature that is too large a number")

    # -- deciding ----------------------------------------------------------------------------

    def check_new_id(self, id: object) -> None:
        """Check that an id is a new word, and that it does not start as the bandit's own do."""
        if not isinstance(id, str) or not id:
            raise BadParameter(f"an id is a word, got {id!r}")
        if id.startswith(self.log.prefix):
            raise BadParameter(f"ids that start with '{self.log.prefix}' are the bandit's own")
        if self.log.decision_of(id) is not None:
            raise BadParameter(f"there already is a decision '{id}'")

    def decide(self, among: int, offer: Offer, id: str | None) -> tuple[int, str, str, float]:
        """Decide; return number, id, arm and time."""
        log, live = self.log, self.learned_policy()
        number, binary = log.n_decisions, log.is_binary(log.n_rewards)
        try:
            arm, voted = sample_arm(live, self.setting, number, offer, binary=binary)
        except BaseException:
            if live.played.choose_mutates_state:
                self.live = None  # half changed: made again when needed
            raise
        now = self.clock()
        self.note_decision(arm, among, offer, now, id, voted)
        return number, id or f"{log.prefix}{number}", log.arms[arm], now

    def note_decision(
        self,
        arm: int,
        among: int,
        offer: Offer,
        time: float,
        id: str | None,
        propensities: np.ndarray | None,
    ) -> None:
        """Note a decision."""
        number = self.log.decide(arm, among, offer, time, id)
        self.cold_start.decided(arm)
        if propensities is not None:
            self.log.propensities[number] = propensities

    # -- probabilities -----------------------------------------------------------------------

    def propensities_of(self, number: int) -> dict[str, float] | None:
        """Return the probability of each arm of a decision."""
        found = self.probabilities_of(number)
        if found is None:
            return None
        arms = self.log.sets[self.log.among[number]]
        return {self.log.arms[arm]: p for arm, p in zip(arms, found.tolist(), strict=True)}

    def probabilities_of(self, decision: int) -> np.ndarray | None:
        """Return the probability of each arm of the decision's set, None if not kept.

        Those of a vote are in the log. The others follow exactly from what the policy knew when it
        decided: a second state is led through the log to that point, once for all decisions that
        are asked for in their order.
        """
        log = self.log
        if decision in log.propensities:
            return log.propensities[decision]
        if not self.setting.propensities or decision < log.made_elsewhere:
            return None
        offer, seen = log.offer_of(decision), log.seen[decision]
        if offer.arms.size == 1:
            found = np.ones(1)
        elif self.setting.is_voted(offer, binary=log.is_binary(seen)):
            return None  # the log that was replayed has lost it
        else:
            found = self._exact(offer, seen)
        log.propensities[decision] = found
        return found

    def _exact(self, offer: Offer, seen: int) -> np.ndarray:
        """Return the policy's probabilities after `seen` rewards; its choices do not matter."""
        key = (seen, *(part.tobytes() for part in offer))
        if self._last is None or self._last[0] != key:
            live = self.live
            if live is None or live.learned != seen:  # led through the log to that point
                if self._past is None or self._past.learned > seen:
                    self._past = self._fresh_as_live()
                live = self._past
                self._learn_log(live, seen)
            found = live.propensities(offer)
            if found is None:
                raise TypeError(f"{self.setting.policy} has no probabilities where it said so")
            self._last = (key, mixed(found, self.setting.floor_if(voted=False)))
        return self._last[1]

    # -- rewarding ---------------------------------------------------------------------------

    def checked_reward(self, id: object, value: object) -> tuple[int, float]:
        """Return the number of a decision and its reward, which is new or the same as before."""
        number = self.number_of(id)
        reward = self.checked_value(value)
        known = self.log.reward_of[number]
        if known != PENDING and self.log.value[known] != reward:
            before, now = text_of(self.log.value[known]), text_of(reward)
            expired = " since it expired" if self.log.expired[known] else ""
            raise BadParameter(
                f"decision '{id}' already has the reward {before}{expired}, got {now}"
            )
        return number, reward

    def number_of(self, id: object) -> int:
        """Return the number of a decision."""
        number = self.log.decision_of(id)
        if number is None:
            raise BadParameter(f"no decision has the id {id!r}")
        return number

    def checked_value(self, value: Any) -> float:
        """Return a reward as a number in the range."""
        low, high = self.setting.reward_range
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if isinstance(value, str) or not low <= number <= high:
            raise BadParameter(f"a reward is a number in [{low:g}, {high:g}], got {value!r}")
        return number

    def reward(self, values: Mapping[int, float], *, expired: bool) -> None:
        """Note the rewards of decisions that wait for one, and learn them: all or none."""
        before = self.log.n_rewards
        try:
            for number, value in values.items():
                if self.log.reward_of[number] == PENDING:
                    self.note_reward(number, value, self.clock(), expired=expired)
            if self.log.n_rewards > before:
                self.learned_policy()
        except BaseException:
            self.log.take_back_rewards(before)
            self.cold_start, self.live = self._cold_start(), None
            raise

    def note_reward(self, number: int, value: float, time: float, *, expired: bool) -> None:
        """Note the reward of a decision that waits for one."""
        inside = value not in self.setting.reward_range
        self.log.reward(number, value, time, expired=expired, inside=inside)
        self.cold_start.rewarded(self.log.chosen[number])

    # -- learning ----------------------------------------------------------------------------

    def learned_policy(self) -> LivePolicy:
        """Return the one state, having learned all rewards."""
        if self.live is None:
            self.live = self._replayed()
        if self.live.learned < self.log.n_rewards:
            try:
                self._learn_log(self.live, self.log.n_rewards)
            except BaseException:
                self.live = None  # half learned: made again when needed
                raise
        return self.live

    def _replayed(self) -> LivePolicy:
        """Return a new state; if choosing changes it, the choices of the log are made again."""
        live, log = self._fresh_as_live(), self.log
        if live.played.choose_mutates_state:
            for decision in range(log.n_decisions):
                seen = log.seen[decision]
                self._learn_log(live, seen)
                offer, binary = log.offer_of(decision), log.is_binary(seen)
                sample_arm(live, self.setting, decision, offer, binary=binary)
        return live

    def _fresh_as_live(self) -> LivePolicy:
        rounds, numbers = self.setting.rounds or FIRST_ROOM, self.numbers()
        d, k = numbers.context.size, numbers.arm.size
        shape = Shape(len(self.log.arms), d, k, rounds, FIRST_ROOM)
        return LivePolicy(self.setting.policy, shape, seed=self.setting.seed, numbers=numbers)

    def numbers(self) -> Numbers:
        """Return which columns of contexts and of features of arms are standardised."""
        on, encoders = self.setting.standardise, (self.encoder, self.arm_encoder)
        return Numbers(*(np.empty(0, bool) if e is None else e.is_number & on for e in encoders))

    def _learn_log(self, live: LivePolicy, up_to: int) -> None:
        """Let a state learn the rewards from where it stands up to number `up_to`."""
        log, to_unit = self.log, self.setting.to_unit
        live.make_room(up_to, n_arms=len(log.arms))
        if up_to == live.learned + 1:
            decision = log.rewarded[live.learned]
            arm, value = log.chosen[decision], log.value[live.learned]
            case = Case(log.contexts[decision], log.chosen_features(decision))
            live.learn(case, arm, to_unit(value))
        elif up_to > live.learned:
            decisions = column(log.rewarded, live.learned, up_to)
            features = np.empty((decisions.size, 0))
            if log.features:
                features = np.array([log.chosen_features(each) for each in decisions.tolist()])
            arms = column(log.chosen)[decisions].astype(np.int64)
            units = to_unit(column(log.value, live.learned, up_to))
            live.learn_all(log.contexts[decisions], features, arms, units)

    # -- arms --------------------------------------------------------------------------------

    def add_arm(self, name: object, time: float | None = None) -> None:
        """Note a new arm, or one that comes back."""
        word = checked_names([name])[0]
        if self.log.arm(word) in self.log.active:
            raise BadParameter(f"there already is an arm '{word}'")
        self.log.add_arm(word, self.clock() if time is None else time)
        self._arms_changed()

    def retire_arm(self, name: object, time: float | None = None) -> None:
        """Note that an arm retires."""
        arm = self.active_arm(name)
        if len(self.log.active) == 1:
            raise BadParameter(f"'{name}' is the last arm: add another before it retires")
        self.log.retire_arm(self.log.arms[arm], self.clock() if time is None else time)
        self._arms_changed()

    def _arms_changed(self) -> None:
        self.whole = self.log.set_number(np.array(self.log.active, np.int64))
        if self.live is not None:
            self.live.make_room(self.live.learned, n_arms=len(self.log.arms))


def decision_in(
    log: Log, number: int, source: Callable[[int], Mapping[str, float] | None]
) -> Decision:
    """Return a decision of the log."""
    arm, at = log.arms[log.chosen[number]], log.decided[number]
    return Decision(log.id_of(number), arm, number, at, source)


def checked_names(arms: object) -> list[str]:
    """Return the names of arms, which differ."""
    names = list(arms) if not isinstance(arms, str) and hasattr(arms, "__iter__") else []
    if not names or not all(isinstance(name, str) and name for name in names):
        raise BadParameter(f"arms is a list of names, not empty; got {arms!r}")
    if len(set(names)) < len(names):
        raise BadParameter(f"an arm is named twice in {names}")
    return names
