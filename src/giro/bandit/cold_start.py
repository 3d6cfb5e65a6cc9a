"""ColdStart: leaves out arms of which enough decisions wait for a first reward."""

import math
from collections import Counter
from typing import Any

import numpy as np


class ColdStart:
    """Leaves out arms with `first` unrewarded decisions.

    Most policies choose an untried arm before all others. If rewards take long, a new arm would
    get every decision until its first reward is known. So an arm without a reward is left out when
    it was chosen `first` times and another arm has a reward. This follows from the log alone, and
    costs the same whatever the number of arms, but for the first decision after a change.
    """

    def __init__(self, first: int | None) -> None:
        """Begin without decisions.

        If `first` is None, no arm is left out.
        """
        self._first = math.inf if first is None else first
        self._tried: set[int] = set()  # arms with a reward
        self._unrewarded: Counter[int] = Counter()  # decisions of the others
        self._waiting: set[int] = set()  # arms that are left out
        self._eligible: dict[bytes, np.ndarray] = {}  # until a change

    def eligible(self, arms: np.ndarray) -> np.ndarray:
        """Return these arms without those that wait, or all of them if none has a reward."""
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

    def is_over(self, arms: np.ndarray) -> bool:
        """Return whether decisions for these arms change nothing any more."""
        return self._first == math.inf or self._tried.issuperset(arms.tolist())

    def decided(self, arm: int) -> None:
        """Count a decision for this arm."""
        if arm in self._tried:
            return
        self._unrewarded[arm] += 1
        if self._unrewarded[arm] == self._first:
            self._waiting.add(arm)
            self._eligible.clear()

    def undo(self, arm: int) -> None:
        """Undo `decided`: the append failed."""
        if arm not in self._tried:
            self._unrewarded[arm] -= 1
            if self._unrewarded[arm] < self._first:
                self._waiting.discard(arm)
                self._eligible.clear()

    def rewarded(self, arm: int) -> None:
        """Include an arm again, now that it has a reward."""
        if arm in self._tried:
            return
        self._tried.add(arm)
        self._unrewarded.pop(arm, None)
        self._waiting.discard(arm)
        self._eligible.clear()

    def to_json(self) -> dict[str, Any]:
        """Return plain data for `restore`."""
        return {"tried": sorted(self._tried), "unrewarded": sorted(self._unrewarded.items())}

    def restore(self, plain: dict[str, Any]) -> None:
        """Go on from plain data."""
        self._tried = set(plain["tried"])
        self._unrewarded = Counter(dict(plain["unrewarded"]))
        self._waiting = {arm for arm, n in self._unrewarded.items() if n >= self._first}
