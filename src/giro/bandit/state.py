"""BanditState: everything that follows from a bandit's log up to a position.

Every event goes through `BanditState.apply`, whether it happens now, in another process, or is read
from a file: there is no second place where a log is understood. A state can be thrown away and made
again from the log; a snapshot of it saves the time that would take.
"""

import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from giro.bandit.cold_start import ColdStart
from giro.bandit.counts import ArmCounts, Counts, Pending
from giro.bandit.event import (
    ArmAdded,
    ArmRetired,
    Began,
    Decided,
    Event,
    Formed,
    Rebuilt,
    Reported,
    Rewarded,
)
from giro.bandit.lessons import Lessons, learn_or_warn
from giro.bandit.setting import Setting
from giro.bandit.stores.store import FoundDecision, Snapshot
from giro.bandit.timeline import without_tally
from giro.checks import is_word
from giro.errors import BadParameter, GiroError, UnknownName
from giro.features import Arms, Given, Schema
from giro.live import LivePolicy
from giro.offer import NO_CONTEXT, NO_FEATURES, Case, Offer, row_at
from giro.policy import Policy

Find: TypeAlias = Callable[[Sequence[str]], Mapping[str, FoundDecision]]

MOST_NAMES = 10_000  # arms without numbers that are counted, those chosen last
_MOST_CASES = 100_000  # decisions whose case is remembered until their reward comes
_OFTEN = (Decided, Rewarded)
_TAUGHT = (Decided, Rewarded, Reported)  # events that change nothing else of a policy
_NOTHING_KNOWN = Case(NO_CONTEXT, NO_CONTEXT)


class BanditState:
    """The arms, the schema, the counts and the policy, after all events up to `position`."""

    def __init__(
        self,
        policy: Policy | str | None = None,
        *,
        erased: int = 0,
        stand_in: Policy | None = None,
    ) -> None:
        """Begin before the first event.

        `policy` takes the place of the one that the log names. Events before the position `erased`
        are known to be read without those that were erased. A `stand_in` plays until the policy is
        compiled.
        """
        self.policy, self._erased, self.stand_in = policy, erased, stand_in
        self.position = 0
        self.setting: Setting
        self.logged_policy = ""  # text of the policy that the log names
        self.arms: list[str] = []
        self.active = np.empty(0, np.int64)  # arms that can be chosen, ascending
        self.schema: Schema | None = None
        self.version = 0  # of the schema
        self.live: LivePolicy | None = None  # made with the schema
        self.cold_start = ColdStart(None)
        self.n_decisions = self.n_rewards = 0
        self.outdated = False  # events were erased: begin again
        self.plays_another = False  # than the policy that the log names by now: begin again
        self.broken = False  # it was interrupted: begin again at once
        self._is_taught = False  # the policy has learned what is applied now
        self._counts = Counts()
        self._arm_of: dict[str, int] = {}
        self._pending: dict[str, Pending] = {}
        self._under_way: set[str] = set()  # own decisions that are not in the log yet
        self._names: dict[bytes, tuple[str, ...]] = {}
        self._last_names: tuple[np.ndarray, tuple[str, ...]] = (self.active, ())

    # -- events ------------------------------------------------------------------------------

    def apply(self, events: Sequence[Event], find: Find, lessons: Lessons | None = None) -> None:
        """Apply these events, which stand behind `position`.

        `find` looks up decisions. `lessons` hold the policy that has learned their rewards already,
        if there is one. If this is interrupted, the state is `broken`: neither before the events
        nor behind them.
        """
        if lessons is not None and lessons.fit(self.live):
            self.live, self._is_taught = lessons.taught, True
        try:
            if len(events) == 1 and type(events[0]) in _OFTEN:
                self._apply_one(events[0], find)
            else:
                self._apply(events, find)
        except BaseException:
            self.broken = True
            raise
        finally:
            self._is_taught = False

    @property
    def learns_aside(self) -> bool:
        """Whether decisions go on while the policy learns."""
        return self.live is not None and self.live.played.learns_aside

    def lessons(self, events: Sequence[Event], find: Find) -> Lessons | None:
        """Return the lessons of events behind `position`, None where `apply` teaches them."""
        if not self.learns_aside or any(type(event) not in _TAUGHT for event in events):
            return None
        assert self.live is not None
        pending = self._pending_of
        decisions = {event.id: pending(event) for event in events if isinstance(event, Decided)}
        rewards = [event for event in events if isinstance(event, Rewarded)]
        missing = [each.id for each in rewards if each.id not in self._pending | decisions]
        decisions |= {id: pending(each.decision) for id, each in find(missing).items()}
        decisions = self._pending | decisions
        if not rewards or any(each.id not in decisions for each in rewards):
            return None
        to_unit = self.setting.to_unit
        taught = [(decisions[each.id], to_unit(each.value)) for each in rewards]
        return Lessons(self.live, taught)

    def _apply_one(self, event: Any, find: Find) -> None:
        """Apply one decision or reward, the most frequent case, without building lists."""
        pending, id = self._pending, event.id
        if type(event) is Decided:
            pending[id] = self._decide(event)
            if len(pending) > _MOST_CASES:
                del pending[next(iter(pending))]
        else:
            if id not in pending:
                self._look_up([event], find)
            decision, live = pending.pop(id), self.live
            self._reward(decision, event)
            if live is None:
                raise GiroError("a reward came before the schema of contexts was known")
            self._learn_one(live, decision, self.setting.to_unit(event.value))
        self.position += 1

    def _apply(self, events: Sequence[Event], find: Find) -> None:
        if {*map(type, events)} == {Decided}:
            self._decide_all(events)  # type: ignore[arg-type]  # by their types
            return
        pending, learned = self._pending, list[tuple[Pending, float]]()
        for i, event in enumerate(events):
            kind = type(event)
            if kind is Decided:
                pending[event.id] = self._decide(event)  # type: ignore[arg-type,union-attr]  # by its kind
            elif kind is Rewarded:
                id, value = event.id, event.value  # type: ignore[union-attr]  # likewise
                if id not in pending:
                    self._look_up(events[i:], find)
                decision = pending.pop(id)
                self._reward(decision, event)  # type: ignore[arg-type]  # likewise
                learned.append((decision, value))
            else:
                if learned:
                    self._learn(learned)
                    learned = []
                self._other(event)
            self.position += 1
        if learned:
            self._learn(learned)
        while len(pending) > _MOST_CASES:
            del pending[next(iter(pending))]

    def _look_up(self, events: Sequence[Event], find: Find) -> None:
        """Remember the decisions of rewards that are not remembered any more."""
        decided = {event.id for event in events if isinstance(event, Decided)}
        rewarded = (event.id for event in events if isinstance(event, Rewarded))
        missing = [id for id in rewarded if id not in self._pending and id not in decided]
        self._pending |= {id: self._pending_of(each.decision) for id, each in find(missing).items()}

    def _decide(self, event: Decided) -> Pending:
        self.n_decisions += 1
        arm = self._number_of(event.names[event.position]) if event.names else event.arm
        self._counts.decided(event, arm, self.setting)
        if event.id in self._under_way:
            self._under_way.discard(event.id)  # counted when it was made
        else:
            self.cold_start.decided(event.arm)
        return self._pending_of(event)

    def _pending_of(self, event: Decided) -> Pending:
        return _pending(event, whole=self.setting.policy.learns_from_offers)

    def _decide_all(self, events: Sequence[Decided]) -> None:
        """Apply decisions as `_decide` does, and count them together."""
        pending, under_way = self._pending, self._under_way
        if events[0].names:
            pending |= {event.id: self._decide(event) for event in events}
        else:
            pending |= {event.id: self._pending_of(event) for event in events}
            self.n_decisions += len(events)
            self._counts.decided_all(events, self.setting)
            for event in events:
                if event.id in under_way:
                    under_way.discard(event.id)  # counted when it was made
                else:
                    self.cold_start.decided(event.arm)
        while len(pending) > _MOST_CASES:
            del pending[next(iter(pending))]
        self.position += len(events)

    def _reward(self, decision: Pending, event: Rewarded) -> None:
        self.n_rewards += 1
        arm = self._arm_of.get(decision.name, -1) if decision.name else decision.arm
        self._counts.rewarded(event, decision, arm, self.setting)
        self.cold_start.rewarded(decision.arm)

    @property
    def counts(self) -> Counts:
        """The counts after all events, under the lock."""
        try:
            self._counts.count(self.setting)
        except BaseException:
            self.broken = True
            raise
        return self._counts

    def _other(self, event: Event) -> None:
        match event:
            case Began():
                self._begin(event.text)
            case Formed():
                self._form(Schema.from_json(json.loads(event.text)), event.version)
            case ArmAdded():
                self._add_arm(event.text)
            case ArmRetired():
                self.active = self.active[self.active != self._arm_of[event.text]]
            case Reported():
                self._counts.reported(event.time, self.setting)
            case Rebuilt():
                self.outdated = self.outdated or self.position >= self._erased
            case _:
                pass  # erased events left nothing

    def _begin(self, text: str) -> None:
        plain_setting = json.loads(text)
        self.logged_policy = plain_setting["policy"]
        if self.position == 0:
            self.setting = Setting.from_json(plain_setting, self.policy)
        else:  # the policy plays on, until a state is made with the one that the log names
            playing = self.setting.policy
            self._counts.count(self.setting)  # before it changes
            self.setting = Setting.from_json(plain_setting, playing)
            self.plays_another = playing.text != self.logged_policy
            self.policy = Setting.from_json(plain_setting).policy if self.plays_another else playing
        plain = self.cold_start.to_json()
        self.cold_start = _cold_start(self.setting)
        self.cold_start.restore(plain)

    def _form(self, schema: Schema, version: int) -> None:
        if self.live is None:
            self.live = self.fresh(schema, self.stand_in)
        else:
            self.live.widen_to(schema)
        self.schema, self.version = schema, version

    def _add_arm(self, name: str) -> None:
        arm = self._arm_of.setdefault(name, len(self.arms))
        if arm == len(self.arms):
            self.arms.append(name)
            self._counts.arms.append(ArmCounts())
            if self.live is not None:
                self.live.grow_to(self.live.learned, n_arms=len(self.arms))
        if arm not in self.active:
            self.active = np.sort(np.append(self.active, arm))

    def _number_of(self, name: str) -> int:
        """Return the number under which an arm known by name is counted.

        Only the arms chosen last have one.
        """
        arm = self._arm_of.pop(name, None)
        if arm is None and len(self.arms) < MOST_NAMES:
            arm = len(self.arms)
            self.arms.append(name)
            self._counts.arms.append(ArmCounts())
        elif arm is None:
            arm = self._arm_of.pop(next(iter(self._arm_of)))
            self.arms[arm] = name
            self._counts.forget(arm, self.setting)
        self._arm_of[name] = arm
        return arm

    # -- learning ----------------------------------------------------------------------------

    def fresh(self, schema: Schema, stand_in: Policy | None = None) -> LivePolicy:
        """Return the policy, or the one that stands in, before it has learned anything.

        Raises an error if it cannot use this schema.
        """
        setting = self.setting
        return LivePolicy(
            stand_in or setting.policy,
            schema,
            n_arms=len(self.arms),
            seed=setting.seed,
            rounds=setting.rounds,
        )

    def _learn(self, learned: list[tuple[Pending, float]]) -> None:
        live, to_unit = self.live, self.setting.to_unit
        if live is None:
            raise GiroError("a reward came before the schema of contexts was known")
        one_by_one = not live.compiled or live.schema.is_sparse or live.learns_from_offers
        if len(learned) == 1 or one_by_one:
            for decision, value in learned:
                self._learn_one(live, decision, to_unit(value))
            return
        for width, group in _by_width(learned):
            n, k = width
            live.learn_all(
                np.array([decision.case.context for decision, _ in group]).reshape(len(group), n),
                np.array([decision.case.features for decision, _ in group]).reshape(len(group), k),
                np.array([decision.arm for decision, _ in group]),
                to_unit(np.array([value for _, value in group])),
            )

    def _learn_one(self, live: LivePolicy, decision: Pending, unit: float) -> None:
        if not self._is_taught:
            learn_or_warn(live, decision, unit)

    # -- requests ----------------------------------------------------------------------------

    def names(self, arms: np.ndarray) -> tuple[str, ...]:
        """Return the names of arms."""
        last, names = self._last_names
        if arms is not last:
            names = self._names_of(arms)
            self._last_names = arms, names
        return names

    def _names_of(self, arms: np.ndarray) -> tuple[str, ...]:
        key = arms.tobytes()
        names = self._names.get(key)
        if names is None:
            if len(self._names) > 1000:
                self._names.clear()
            is_wanted = np.zeros(len(self.arms), np.bool_)
            is_wanted[arms] = True  # they ascend
            names = self._names[key] = tuple(itertools.compress(self.arms, is_wanted.tobytes()))
        return names

    def asked(self, arms: Arms) -> np.ndarray:
        """Return the numbers of these arms, ascending, or of all active ones."""
        if arms is None:
            if self.setting.open_arms:
                raise BadParameter("this bandit was made without arms: give arms={name: features}")
            if self.active.size == 0:
                raise BadParameter("no arm is active: add one before deciding")
            return self.active
        if isinstance(arms, str) or not hasattr(arms, "__len__") or len(arms) == 0:
            raise BadParameter(f"arms is a list of names, not empty; got {arms!r}")
        if self.setting.open_arms:
            return self._asked_by_name(arms)
        numbers = {self.active_arm(name) for name in arms}
        if len(numbers) < len(arms):
            raise BadParameter(f"an arm is named twice in {list(arms)}")
        return np.array(sorted(numbers), np.int64)

    def _asked_by_name(self, arms: Sequence[str] | Mapping[str, Given]) -> np.ndarray:
        """Return the places of arms that have no numbers."""
        names = list(arms)
        if isinstance(arms, set | frozenset):
            raise BadParameter("arms have an order: give a mapping or a list, not a set")
        if not all(map(is_word, names)):
            raise BadParameter(f"arms have words as names, got {names[:10]!r}")
        if len(set(names)) < len(names):
            raise BadParameter(f"an arm is named twice in {names[:10]}")
        hashes = self.setting.policy.resolved(contextual=True).hashes_features
        if not (hashes or isinstance(arms, Mapping)):
            raise BadParameter(
                f"{self.setting.policy} knows arms by their features: give arms={{name: features}}"
            )
        return np.arange(len(names))

    def active_arm(self, name: object) -> int:
        """Return the number of an arm that can be chosen."""
        if self.setting.open_arms:
            raise BadParameter("this bandit was made without arms: they come with each decision")
        arm = self._arm_of.get(name) if isinstance(name, str) else None
        if arm is None:
            names = [self.arms[active] for active in self.active.tolist()]
            raise UnknownName("arm", str(name), known=names)
        if arm not in self.active:
            raise BadParameter(f"the arm '{name}' is retired")
        return arm

    def under_way(self, event: Decided) -> None:
        """Count a decision that is about to be in the log."""
        self._under_way.add(event.id)
        self.cold_start.decided(event.arm)

    def undo(self, event: Decided) -> None:
        """Undo `under_way`: the decision did not get into the log."""
        if event.id in self._under_way:
            self._under_way.discard(event.id)
            self.cold_start.undo(event.arm)

    # -- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> Snapshot | None:
        """Return copies of all that is needed to go on, or None for a policy of Python objects."""
        if self.live is None or self.schema is None or self.stand_in is not None:
            return None
        if self.setting.policy.text != self.logged_policy:
            return None  # others would take it for that of the policy in the log
        parts = self.live.snapshot()
        if parts is None:
            return None
        live, arrays = parts
        counts, of_counts = self.counts.snapshot()
        about = {
            "setting": self.setting.to_json(),
            "schema": self.schema.to_json(),
            "version": self.version,
            "arms": list(self.arms),
            "order": list(self._arm_of) if self.setting.open_arms else None,
            "active": self.active.tolist(),
            "n_decisions": self.n_decisions,
            "n_rewards": self.n_rewards,
            "cold_start": self.cold_start.to_json(),
            "live": live,
        }
        return Snapshot(self.position, about | counts, arrays | of_counts)

    @classmethod
    def restored(
        cls, snapshot: Snapshot, policy: Policy | str | None, *, of_any_version: bool = False
    ) -> "BanditState | None":
        """Return the state in a snapshot, or None if this code would make another of the log.

        With `of_any_version` this code may behave differently, if the state has the same form.
        """
        state = cls._without_policy(snapshot, policy)
        setting, schema = state.setting, state.schema
        if "tally" not in snapshot.about and not of_any_version:
            return None
        if setting.policy.text != state.logged_policy or schema is None:
            return None
        state.live = LivePolicy.from_snapshot(
            setting.policy,
            schema,
            snapshot.about["live"],
            without_tally(snapshot.arrays),
            seed=setting.seed,
            of_any_version=of_any_version,
        )
        return None if state.live is None else state

    @classmethod
    def of_base(
        cls, base: Snapshot, policy: Policy | str | None, *, erased: int
    ) -> tuple["BanditState", str]:
        """Return the state after events that left the log, and a warning if it is not theirs.

        What another policy would have learned of them, nobody can know any more.
        """
        state, warning = cls.restored(base, policy), ""
        if state is None:
            left = f"the events up to {base.position} have left the log, and"
            state = cls.restored(base, policy, of_any_version=True)
            warning = f"{left} this giro would have learned them otherwise: it goes on from there"
            if state is None:
                state = cls._without_policy(base, policy)
                state.live = state.fresh(state.schema or Schema())
                warning = f"{left} {state.setting.policy} can only learn from those behind them"
        state._erased = erased
        return state, warning

    @classmethod
    def _without_policy(cls, snapshot: Snapshot, policy: Policy | str | None) -> "BanditState":
        about = snapshot.about
        setting = Setting.from_json(about["setting"], policy)
        state = cls(policy)
        state.position, state.setting = snapshot.position, setting
        state.logged_policy = about["setting"]["policy"]
        state.schema, state.version = Schema.from_json(about["schema"]), int(about["version"])
        state._restore_arms(about)
        state.n_decisions, state.n_rewards = int(about["n_decisions"]), int(about["n_rewards"])
        state._counts = Counts.restored(about, snapshot.arrays)
        state.cold_start = _cold_start(setting)
        state.cold_start.restore(about["cold_start"])
        return state

    def _restore_arms(self, about: Mapping[str, Any]) -> None:
        self.arms = list(about["arms"])
        self._arm_of = {name: arm for arm, name in enumerate(self.arms)}
        if about["order"]:
            self._arm_of = {name: self._arm_of[name] for name in about["order"]}
        self.active = np.array(about["active"], np.int64)


def _cold_start(setting: Setting) -> ColdStart:
    """Return a cold start that holds back arms which the policy would choose again and again."""
    hashes = setting.policy.resolved(contextual=True).hashes_features
    holds_back = setting.policy.prefers_untried and not (setting.open_arms or hashes)
    return ColdStart(setting.first_decisions if holds_back else None)


def _pending(event: Decided, *, whole: bool) -> Pending:
    """Return the memory of a decision, with the `whole` offer if the policy learns from it."""
    _, time, arm, arms, chances, own, _, context, features, _, names, position, _ = event
    if position < 0:
        position = event.position
    weight, inverse, chance = 0.0, 0.0, math.nan
    if own >= 0.0 and chances.size:  # it is NaN where it is not known
        chance = chances.item(position if chances.size == arms.size else 0)
        weight, inverse = own / chance, 1.0 / chance
    name, case = names[position] if names else "", _NOTHING_KNOWN
    if context is not NO_CONTEXT or features is not NO_FEATURES:
        case = Case(context, row_at(features, position))
    if whole:
        case = Case(context, case.features, Offer(arms, context, features), chance)
    return Pending(arm, case, weight, name, time, inverse, position == 0)


def _by_width(
    learned: list[tuple[Pending, float]],
) -> list[tuple[tuple[int, int], list[tuple[Pending, float]]]]:
    """Return rewards in their order, in groups of those whose rows are equally wide."""
    groups: list[tuple[tuple[int, int], list[tuple[Pending, float]]]] = []
    for decision, value in learned:
        width = decision.case.context.size, decision.case.features.size
        if not groups or groups[-1][0] != width:
            groups.append((width, []))
        groups[-1][1].append((decision, value))
    return groups
