"""Counts: numbers of decisions and rewards for those who ask, which no decision needs.

Nobody waits for these when a decision is made, so events are noted first and counted many at once.
They are counted in their order, so that it does not matter when.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from giro.bandit.alarms import Watch
from giro.bandit.event import Decided, Rewarded
from giro.bandit.timeline import MOST_ARMS, Tally
from giro.bandit.uplift import Contrasts
from giro.estimates import WeightedMean
from giro.offer import Case

if TYPE_CHECKING:
    from giro.bandit.setting import Setting

_HOUR, _HOURS = 3600.0, 24
_AT_ONCE = 256  # events: counting them takes half a millisecond


class Pending(NamedTuple):
    """A decision that waits for its reward."""

    arm: int
    case: Case
    weight: float  # of its reward in what the policy alone would have earned
    name: str = ""  # of the arm, where it has no number
    time: float = 0.0
    inverse: float = 0.0  # of its probability, 0 where that is not known
    is_first: bool = False  # whether the arm was the first on offer


class ArmCounts:
    """The decisions of an arm, and the mean of its rewards."""

    __slots__ = ("decisions", "mean", "rewards", "spread")

    def __init__(
        self, decisions: int = 0, rewards: int = 0, mean: float = 0.0, spread: float = 0.0
    ) -> None:
        """Begin with these counts."""
        self.decisions, self.rewards = decisions, rewards
        self.mean, self.spread = mean, spread  # spread: sum of squared distances from the mean

    def add(self, reward: float) -> None:
        """Count a reward (Welford 1962)."""
        self.rewards += 1
        off = reward - self.mean
        self.mean += off / self.rewards
        self.spread += off * (reward - self.mean)


class Counts:
    """The decisions and rewards of each arm, over time and beside a baseline."""

    def __init__(self) -> None:
        """Begin without events."""
        self.arms: list[ArmCounts] = []  # [arm]
        self.binary = True  # whether all rewards were the lowest or the highest there can be
        self.total = 0.0  # of all rewards
        self.agreement = 0.0  # sum of the policy's own probabilities of what was chosen
        self.alone = WeightedMean()  # rewards of the policy alone
        self.hours: dict[int, Counter[int]] = {}  # decisions of each arm in the last hours
        self.watch = Watch()
        self.tally = Tally()
        self.contrasts = Contrasts()
        self._noted: list[tuple[int, Any, Pending | None]] = []

    # -- events ------------------------------------------------------------------------------

    def decided(self, event: Decided, arm: int, setting: "Setting") -> None:
        """Note a decision for an arm."""
        self._noted.append((arm, event, None))
        if len(self._noted) >= _AT_ONCE:
            self.count(setting)

    def decided_all(self, events: Sequence[Decided], setting: "Setting") -> None:
        """Count decisions for arms with numbers, together those of the same minutes."""
        self.count(setting)
        first, last = min(event.time for event in events), max(event.time for event in events)
        if not (self.watch.is_one_bin(first, last) and self.tally.is_one_stretch(first, last)):
            for event in events:
                self._count_decision(event.arm, event)
            return
        arms = [event.arm for event in events]
        for event in events:
            if event.own >= 0.0:
                self.agreement += event.own
        for arm, n in Counter(arms).items():
            self.arms[arm].decisions += n
            self.tally.decided(arm, first, n)
        self._hour_of(first).update(arms)
        self.watch.decided_all(events)

    def rewarded(self, event: Rewarded, decision: Pending, arm: int, setting: "Setting") -> None:
        """Note a reward of an arm, -1 if that has no number any more."""
        self._noted.append((arm, event, decision))
        if len(self._noted) >= _AT_ONCE:
            self.count(setting)

    def reported(self, time: float, setting: "Setting") -> None:
        """Count a report of a reward that is not settled yet."""
        self.count(setting)
        self.watch.rewarded(time)

    def count(self, setting: "Setting") -> None:
        """Count all that was noted, which happened under this setting."""
        noted, self._noted = self._noted, []
        for arm, event, decision in noted:
            if decision is None:
                self._count_decision(arm, event)
            else:
                self._count_reward(arm, event, decision, setting)

    def _count_decision(self, arm: int, event: Decided) -> None:
        self.arms[arm].decisions += 1
        if event.own >= 0.0:  # it is NaN where it is not known
            self.agreement += event.own
        self._hour_of(event.time)[arm] += 1
        self.watch.decided(event)
        self.tally.decided(arm, event.time)

    def _hour_of(self, time: float) -> Counter[int]:
        hour = int(time // _HOUR)
        in_hour = self.hours.get(hour)
        if in_hour is None:
            in_hour = self.hours[hour] = Counter()
            if len(self.hours) > _HOURS + 2:  # the first that came: a clock may have been wrong
                del self.hours[next(iter(self.hours))]
        return in_hour

    def _count_reward(
        self, arm: int, event: Rewarded, decision: Pending, setting: "Setting"
    ) -> None:
        value, lowest = event.value, setting.reward_range[0]
        if not (event.expired or setting.collects_reports):
            self.watch.rewarded(event.time)
        self.binary = self.binary and value in setting.reward_range
        self.total += value
        if arm >= 0:
            self.arms[arm].add(value)
        self.alone.add(decision.weight, value)
        delay = None if event.expired else event.time - decision.time
        place = arm if arm >= 0 else MOST_ARMS
        self.tally.rewarded(place, decision.time, value - lowest, delay)
        self.contrasts.add(decision, value - lowest, setting.share)

    def forget(self, arm: int, setting: "Setting") -> None:
        """Count the past of an arm with the others, because another arm gets its number."""
        self.count(setting)
        self.arms[arm] = ArmCounts()
        for counts in self.hours.values():
            counts.pop(arm, None)
        self.tally.forget(arm)

    # -- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return plain data and arrays for `restored`, once all is counted."""
        tally, arrays = self.tally.snapshot()
        about = {
            "counts": [[c.decisions, c.rewards, c.mean, c.spread] for c in self.arms],
            "binary": self.binary,
            "total": self.total,
            "agreement": self.agreement,
            "alone": self.alone.to_json(),
            "hours": [[hour, sorted(counts.items())] for hour, counts in self.hours.items()],
            "watch": self.watch.to_json(),
            "tally": tally,
            "contrasts": self.contrasts.to_json(),
        }
        return about, arrays

    @classmethod
    def restored(cls, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> "Counts":
        """Return the counts in a snapshot."""
        counts = cls()
        counts.arms = [ArmCounts(*each) for each in about["counts"]]
        counts.binary, counts.total = bool(about["binary"]), float(about["total"])
        counts.agreement = float(about["agreement"])
        counts.alone = WeightedMean.restored(about["alone"])
        counts.hours = {int(hour): Counter(dict(each)) for hour, each in about["hours"]}
        counts.watch = Watch(about.get("watch", ()), is_restored=True)
        if "tally" in about:  # snapshots of earlier versions have none
            counts.tally = Tally.restored(about["tally"], arrays)
            counts.contrasts = Contrasts(about["contrasts"])
        return counts
