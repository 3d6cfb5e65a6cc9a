"""Cold start: arms whose first reward is still under way."""

import math
from collections import Counter
from typing import Any

import numpy as np


class ColdStart:
    """Knows which arms to leave out because enough decisions of theirs wait for a first reward.

    Most policies choose an untried arm before all others. If rewards take long, a new arm would
    get every decision until its first reward is known. So an arm without a reward is left out when
    it was chosen `first` times and another arm has a reward. This follows from the log alone, and
    costs the same whatever the number of arms, but for the first decision after a change.
    """

    def __init__(self, first: int | None) -> None:
        """Begin without decisions; None for `first` leaves out nobody."""
        self._first = math.inf if first is None else first
        self._tried: set[int] = set()  # arms with a reward
        self._under_way: Counter[int] = Counter()  # decisions of the others
        self._waiting: set[int] = set()  # arms that are left out
        self._eligible: dict[bytes, np.ndarray] = {}  # until a change

    def eligible(self, arms: np.ndarray) -> np.ndarray:
        """Return these arms without those that wait; all of them if none has a reward."""
        if not self._waiting:
            return arms
        key = arms.tobytes()
        left = self._eligible.get(key)
        if left is None:
            left = arms
            if not self._tried.isdisjoint(arms.tolist()):
                left = arms[[arm not in self._waiting for arm in arms.tolist()]]
            self._eligible[key] = left
        return left

    def decided(self, arm: int) -> None:
        """Count a decision for this arm."""
        if arm in self._tried:
            return
        self._under_way[arm] += 1
        if self._under_way[arm] == self._first:
            self._waiting.add(arm)
            self._eligible.clear()

    def taken_back(self, arm: int) -> None:
        """Count a decision less: it came to nothing."""
        if arm not in self._tried:
            self._under_way[arm] -= 1
            if self._under_way[arm] < self._first:
                self._waiting.discard(arm)
                self._eligible.clear()

    def rewarded(self, arm: int) -> None:
        """Let an arm take part again that has a reward now."""
        if arm in self._tried:
            return
        self._tried.add(arm)
        self._under_way.pop(arm, None)
        self._waiting.discard(arm)
        self._eligible.clear()

    def to_json(self) -> dict[str, Any]:
        """Return plain data for `restore`."""
        return {"tried": sorted(self._tried), "under_way": sorted(self._under_way.items())}

    def restore(self, plain: dict[str, Any]) -> None:
        """Go on from plain data."""
        self._tried = set(plain["tried"])
        self._under_way = Counter(dict(plain["under_way"]))
        self._waiting = {arm for arm, n in self._under_way.items() if n >= self._first}
