"""BanditState: what follows from a bandit's log up to a position, and is all that a decision needs.

Every event goes through `BanditState.apply`, whether it happens now, in another process, or is read
from a file: there is no second place where a log is understood. A state can be thrown away and made
again from the log; a snapshot of it saves the time that would take.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from giro.bandit.event import (
    ArmAdded,
    ArmRetired,
    Began,
    Decided,
    Event,
    Formed,
    Rebuilt,
    Rewarded,
)
from giro.bandit.propensity import ColdStart, warn
from giro.bandit.setting import FIRST_CAPACITY, Arms, Forms, Setting
from giro.bandit.stores.store import FoundDecision, Snapshot
from giro.checks import is_word
from giro.errors import BadParameter, GiroError, UnknownName
from giro.features import Given, is_usable
from giro.hashing import are_pairs
from giro.live import LivePolicy
from giro.offer import Case, Offer, Shape
from giro.policy import Policy

MOST_NAMES = 10_000  # arms without numbers that are counted, those chosen last
_MOST_CASES = 1_000_000  # decisions whose case is remembered until their reward comes
_HOUR, _HOURS = 3600.0, 24
_SUM_TOLERANCE = 1e-6
_COUNTS = ("decisions", "rewards", "total", "squares")


class Pending(NamedTuple):
    """What is remembered of a decision until its reward comes."""

    arm: int
    case: Case
    weight: float  # of its reward in what the policy alone would have earned
    name: str = ""  # of the arm, where it has no number


class BanditState:
    """The arms, the forms, the counts and the policy, after all events up to `position`."""

    def __init__(
        self, policy: Policy | str | None = None, *, remembers: bool = True, erased: int = 0
    ) -> None:
        """Begin before the first event.

        `policy` takes the place of the one that the log names; `remembers` says to keep the cases
        of pending decisions rather than to look them up; what was erased before the position
        `erased` is known not to be read.
        """
        self.policy, self._remembers, self._erased = policy, remembers, erased
        self.position = 0
        self.setting: Setting
        self.logged_policy = ""  # text of the policy that the log names
        self.arms: list[str] = []
        self.active = np.empty(0, np.int64)  # arms that can be chosen, ascending
        self.forms: Forms | None = None
        self.live: LivePolicy | None = None  # made with the forms
        self.cold_start = ColdStart(None)
        self.binary = True  # whether all rewards were the lowest or the highest there can be
        self.n_decisions = self.n_rewards = 0
        self.counts = np.zeros((len(_COUNTS), 0))  # [decisions, rewards, total, squares][arm]
        self.total = 0.0  # of all rewards
        self.own = np.zeros(4)  # Σ own, Σ weight, Σ weight reward, Σ (weight reward)²
        self.hours: dict[int, Counter[int]] = {}  # decisions of each arm in the last hours
        self.outdated = False  # events were erased, or another policy learns: begin again
        self.broken = False  # it was interrupted: begin again at once
        self._arm_of: dict[str, int] = {}
        self._pending: dict[str, Pending] = {}
        self._under_way: set[str] = set()  # own decisions that are not in the log yet
        self._names: dict[bytes, tuple[str, ...]] = {}

    # -- events ------------------------------------------------------------------------------

    def apply(
        self, events: Sequence[Event], find: Callable[[Sequence[str]], Mapping[str, FoundDecision]]
    ) -> None:
        """Go on by these events, which stand behind `position`; `find` looks up decisions.

        If it is interrupted, the state is `broken`: neither before the events nor behind them.
        """
        try:
            self._apply(events, find)
        except BaseException:
            self.broken = True
            raise

    def _apply(
        self, events: Sequence[Event], find: Callable[[Sequence[str]], Mapping[str, FoundDecision]]
    ) -> None:
        here: dict[str, Pending] = self._pending if self._remembers else {}
        self._look_up(events, here, find)
        learned: list[tuple[Pending, float]] = []
        for event in events:
            match event:
                case Decided():
                    here[event.id] = self._decide(event)
                case Rewarded():
                    its = here.pop(event.id)
                    self._reward(its, event.value)
                    learned.append((its, event.value))
                case _:
                    if learned and isinstance(event, Began):
                        self._learn(learned)
                        learned = []
                    self._other(event)
            self.position += 1
        if learned:
            self._learn(learned)
        while len(self._pending) > _MOST_CASES:
            del self._pending[next(iter(self._pending))]

    def _look_up(
        self,
        events: Sequence[Event],
        here: dict[str, Pending],
        find: Callable[[Sequence[str]], Mapping[str, FoundDecision]],
    ) -> None:
        decided = {event.id for event in events if isinstance(event, Decided)}
        rewarded = (event.id for event in events if isinstance(event, Rewarded))
        missing = [id for id in rewarded if id not in here and id not in decided]
        if missing:
            here.update({id: _pending(found.decision) for id, found in find(missing).items()})

    def _decide(self, event: Decided) -> Pending:
        self.n_decisions += 1
        arm = self._number_of(event.names[event.position]) if event.names else event.arm
        self.counts[0, arm] += 1.0
        if not math.isnan(event.own):
            self.own[0] += event.own
        hour = int(event.time // _HOUR)
        in_hour = self.hours.get(hour)
        if in_hour is None:
            in_hour = self.hours[hour] = Counter()
            for old in [other for other in self.hours if other <= max(self.hours) - _HOURS]:
                del self.hours[old]
        in_hour[arm] += 1
        if event.id in self._under_way:
            self._under_way.discard(event.id)  # counted when it was made
        else:
            self.cold_start.decided(event.arm)
        return _pending(event)

    def _reward(self, its: Pending, value: float) -> None:
        self.n_rewards += 1
        self.binary = self.binary and value in self.setting.reward_range
        self.total += value
        arm = self._arm_of.get(its.name) if its.name else its.arm
        if arm is not None:
            self.counts[1:, arm] += (1.0, value, value * value)
        self.cold_start.rewarded(its.arm)
        weighted = its.weight * value
        self.own[1:] += (its.weight, weighted, weighted * weighted)

    def _other(self, event: Event) -> None:
        match event:
            case Began():
                self._begin(event.text)
            case Formed():
                self.forms = Forms.from_json(json.loads(event.text))
                self.live = self.fresh(self.forms)
            case ArmAdded():
                self._add_arm(event.text)
            case ArmRetired():
                self.active = self.active[self.active != self._arm_of[event.text]]
            case Rebuilt():
                self.outdated = self.outdated or self.position >= self._erased
            case _:
                pass  # reports wait for the reward; what was erased left nothing

    def _begin(self, text: str) -> None:
        plain_setting = json.loads(text)
        self.logged_policy, given = plain_setting["policy"], self.policy
        if given is not None and Policy.parse(given).text != plain_setting["policy"]:
            given = None if self.position > 0 else given  # a later setting wins
        setting = Setting.from_json(plain_setting, given)
        if self.position > 0:
            now, before = (each.policy.text for each in (setting, self.setting))
            self.outdated = self.outdated or now != before
            self.policy = setting.policy
        self.setting = setting
        plain, cold = self.cold_start.to_json(), self.setting.first_decisions
        self.cold_start = ColdStart(cold if _knows_untried(self.setting) else None)
        self.cold_start.restore(plain)

    def _add_arm(self, name: str) -> None:
        arm = self._arm_of.setdefault(name, len(self.arms))
        if arm == len(self.arms):
            self._count_arm(name)
            if self.live is not None:
                self.live.grow_to(self.live.learned, n_arms=len(self.arms))
        if arm not in self.active:
            self.active = np.sort(np.append(self.active, arm))

    def _count_arm(self, name: str) -> None:
        arm = len(self.arms)
        self.arms.append(name)
        if arm >= self.counts.shape[1]:
            grown = np.zeros((len(_COUNTS), max(8, 2 * arm)))
            grown[:, :arm] = self.counts[:, :arm]
            self.counts = grown

    def _number_of(self, name: str) -> int:
        """Return where an arm without a number is counted; the last chosen ones have a place."""
        arm = self._arm_of.pop(name, None)
        if arm is None and len(self.arms) < MOST_NAMES:
            arm = len(self.arms)
            self._count_arm(name)
        elif arm is None:
            arm = self._arm_of.pop(next(iter(self._arm_of)))
            self.arms[arm], self.counts[:, arm] = name, 0.0
            for counts in self.hours.values():
                counts.pop(arm, None)
        self._arm_of[name] = arm
        return arm

    # -- learning ----------------------------------------------------------------------------

    def fresh(self, forms: Forms) -> LivePolicy:
        """Return the policy before it has learned anything; an error if it cannot use the forms."""
        rounds, setting = self.setting.rounds or FIRST_CAPACITY, self.setting
        n_arms, hashed = max(1, len(self.arms)), forms.hasher is not None
        crossed = forms.crossed(setting.interactions)
        shape = Shape(n_arms, *forms.widths, rounds, FIRST_CAPACITY, hashed, crossed)
        numbers = forms.numbers(standardised=setting.standardise)
        return LivePolicy(setting.policy, shape, seed=setting.seed, numbers=numbers)

    def _learn(self, learned: list[tuple[Pending, float]]) -> None:
        live, to_unit = self.live, self.setting.to_unit
        if live is None:
            raise GiroError("a reward came before the form of contexts was fixed")
        n_arms = 0 if self.setting.open_arms else len(self.arms)
        live.grow_to(live.learned + len(learned), n_arms=n_arms)
        if len(learned) == 1 or not live.compiled or live.shape.hashed:
            for its, value in learned:
                self._learn_one(live, its, to_unit(value))
            return
        cases = [its.case for its, _ in learned]
        live.learn_all(
            np.array([case.context for case in cases]),
            np.array([case.features for case in cases]),
            np.array([its.arm for its, _ in learned]),
            to_unit(np.array([value for _, value in learned])),
        )

    def _learn_one(self, live: LivePolicy, its: Pending, unit: float) -> None:
        try:
            live.learn(its.case, its.arm, unit)
        except Exception as error:  # whatever a model does, the log goes on
            live.learned += 1
            warn(f"{self.setting.policy} could not learn a reward, and goes on without it: {error}")

    # -- requests ----------------------------------------------------------------------------

    def names(self, arms: np.ndarray) -> tuple[str, ...]:
        """Return the names of arms."""
        key = arms.tobytes()
        found = self._names.get(key)
        if found is None:
            if len(self._names) > 1000:
                self._names.clear()
            found = self._names[key] = tuple(self.arms[arm] for arm in arms.tolist())
        return found

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
            known = [self.arms[known] for known in self.active.tolist()]
            raise UnknownName("arm", str(name), known=known)
        if arm not in self.active:
            raise BadParameter(f"the arm '{name}' is retired")
        return arm

    def offered(self, context: Given, arms: Arms, asked: np.ndarray, forms: Forms) -> Offer:
        """Return what can be chosen of the arms asked for, and all that is known."""
        names = (
            list(arms or ()) if self.setting.open_arms else [self.arms[a] for a in asked.tolist()]
        )
        row = forms.row(context)
        features = forms.rows(
            {name: arms[name] for name in names} if isinstance(arms, Mapping) else names
        )
        among = self.cold_start.eligible(asked)
        if among.size < asked.size and features.size:
            features = features[np.isin(asked, among)]
        return Offer(among, row, features)

    def under_way(self, event: Decided) -> None:
        """Count a decision that is about to be in the log."""
        self._under_way.add(event.id)
        self.cold_start.decided(event.arm)

    def taken_back(self, event: Decided) -> None:
        """Forget a decision that did not get into the log."""
        if event.id in self._under_way:
            self._under_way.discard(event.id)
            self.cold_start.taken_back(event.arm)

    # -- checking a log ----------------------------------------------------------------------

    def check(self, event: Event) -> None:
        """Check that an event that somebody else has written can follow."""
        if isinstance(event, Decided):
            self._check_decision(event)
        elif isinstance(event, Rewarded):
            self.setting.checked_reward(event.value)
        elif isinstance(event, ArmAdded) and not event.text:
            raise BadParameter("an arm has no name")
        elif isinstance(event, ArmRetired) and event.text not in self._arm_of:
            raise BadParameter(f"the arm '{event.text}' retires before it was added")
        time = 0.0 if isinstance(event, Began | Formed) else event.time
        if not math.isfinite(time):
            raise BadParameter(f"a time is a number, got {time}")

    def _check_decision(self, event: Decided) -> None:
        n_arms, p = event.arms.size, event.propensities
        self._check_features(event)
        n_known = len(event.names) if self.setting.open_arms else len(self.arms)
        if event.arm not in event.arms or event.arms[-1] >= n_known:
            raise BadParameter(f"arm {event.arm} is not one of the arms {event.arms.tolist()}")
        if p.size == n_arms:
            right = p.min() >= 0.0 and abs(p.sum() - 1.0) <= _SUM_TOLERANCE
        else:
            right = p.size == 0 or (p.size == 1 and 0.0 < p[0] <= 1.0)
        if not right:
            raise BadParameter(f"{p.tolist()} are no probabilities of {n_arms} arms")

    def _check_features(self, event: Decided) -> None:
        d, k = (0, 0) if self.forms is None else self.forms.widths
        context, features, n_arms = event.context, event.features, event.arms.size
        shapes = (context.shape, features.shape)
        if self.forms is not None and self.forms.hasher is not None:
            if len(features) != n_arms or not (are_pairs(context[None]) and are_pairs(features)):
                raise BadParameter("a context or an arm is not a row of codes and values")
        elif shapes != ((d,), (n_arms, k) if k else (0, 0)):
            raise BadParameter(
                f"a context has {d} features and an arm {k}, got shapes {shapes[0]} and {shapes[1]}"
            )
        if not (is_usable(context) and is_usable(features)):
            raise BadParameter("a context or an arm has a feature that is too large a number")

    # -- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> Snapshot | None:
        """Return copies of all that is needed to go on; None for a policy of Python objects."""
        if self.live is None or self.forms is None:
            return None
        found = self.live.snapshot()
        if found is None:
            return None
        live, arrays = found
        about = {
            "setting": self.setting.to_json(),
            "forms": self.forms.to_json(),
            "arms": list(self.arms),
            "order": list(self._arm_of) if self.setting.open_arms else None,
            "active": self.active.tolist(),
            "binary": self.binary,
            "n_decisions": self.n_decisions,
            "n_rewards": self.n_rewards,
            "own": self.own.tolist(),
            "total": self.total,
            "hours": [[hour, sorted(counts.items())] for hour, counts in self.hours.items()],
            "cold_start": self.cold_start.to_json(),
            "live": live,
        }
        arrays = {f"state/{path}": array for path, array in arrays.items()}
        return Snapshot(self.position, about, arrays | {"counts": self.counts.copy()})

    @classmethod
    def restored(
        cls, snapshot: Snapshot, policy: Policy | str | None, *, remembers: bool
    ) -> "BanditState | None":
        """Return the state as it was; None if this code would have made another of the log."""
        about = snapshot.about
        setting = Setting.from_json(about["setting"], policy)
        if setting.policy.text != about["setting"]["policy"]:
            return None
        prefix = "state/"
        arrays = {
            name.removeprefix(prefix): array
            for name, array in snapshot.arrays.items()
            if name.startswith(prefix)
        }
        forms = Forms.from_json(about["forms"])
        numbers = forms.numbers(standardised=setting.standardise)
        live = LivePolicy.from_snapshot(
            setting.policy, about["live"], arrays, seed=setting.seed, numbers=numbers
        )
        if live is None:
            return None
        state = cls(policy, remembers=remembers)
        state.position, state.setting, state.live = snapshot.position, setting, live
        state.logged_policy = about["setting"]["policy"]
        state.forms = forms
        state.arms = list(about["arms"])
        state._arm_of = {name: arm for arm, name in enumerate(state.arms)}
        if about.get("order"):
            state._arm_of = {name: state._arm_of[name] for name in about["order"]}
        state.active = np.array(about["active"], np.int64)
        state.binary = bool(about["binary"])
        state.n_decisions, state.n_rewards = int(about["n_decisions"]), int(about["n_rewards"])
        state.own, state.counts = np.array(about["own"]), snapshot.arrays["counts"]
        state.total = float(about.get("total", state.counts[2].sum()))
        state.hours = {int(hour): Counter(dict(counts)) for hour, counts in about["hours"]}
        cold = setting.first_decisions if _knows_untried(setting) else None
        state.cold_start = ColdStart(cold)
        state.cold_start.restore(about["cold_start"])
        return state


def _knows_untried(setting: Setting) -> bool:
    """Tell whether the policy would choose an arm again and again while its first reward waits."""
    hashes = setting.policy.resolved(contextual=True).hashes_features
    return setting.policy.prefers_untried and not (setting.open_arms or hashes)


def _pending(event: Decided) -> Pending:
    p, own = event.propensity, event.own
    weight = own / p if p and not math.isnan(own) else 0.0
    name = event.names[event.position] if event.names else ""
    return Pending(event.arm, event.case, weight, name)
