"""Cold start: arms whose first reward is still under way."""

import math
from collections import Counter

import numpy as np

from giro.bandit.log import Log, column


class ColdStart:
    """Knows which arms to leave out because enough decisions of theirs wait for a first reward.

    Most policies choose an untried arm before all others. If rewards take long, a new arm would
    get every decision until its first reward is known. So an arm without a reward is left out when
    it was chosen `first` times and another arm has a reward. This follows from the log alone, and
    costs the same whatever the number of arms, but for the first decision after a change.
    """

    def __init__(self, first: int | None, log: Log) -> None:
        """Begin with what the log says; None for `first` leaves out nobody."""
        chosen = column(log.chosen)
        self._first, self._log = math.inf if first is None else first, log
        self._tried = set(np.unique(chosen[column(log.rewarded)]).tolist())  # arms with a reward
        counts = enumerate(np.bincount(chosen).tolist())
        self._under_way = Counter({arm: n for arm, n in counts if n and arm not in self._tried})
        self._waiting = {arm for arm, n in self._under_way.items() if n >= self._first}
        self._reduced: dict[int, int] = {}  # numbers of sets: without those waiting; until a change

    def eligible(self, among: int) -> int:
        """Return the number of the set of arms without those that wait; itself if none is known."""
        if not self._waiting:
            return among
        reduced = self._reduced.get(among)
        if reduced is None:
            arms, reduced = self._log.sets[among], among
            if not self._tried.isdisjoint(arms.tolist()):
                left = [arm not in self._waiting for arm in arms.tolist()]
                reduced = self._log.set_number(arms[left])
            self._reduced[among] = reduced
        return reduced

    def decided(self, arm: int) -> None:
        """Count a decision for this arm."""
        if arm in self._tried:
            return
        self._under_way[arm] += 1
        if self._under_way[arm] == self._first:
            self._waiting.add(arm)
            self._reduced.clear()

    def rewarded(self, arm: int) -> None:
        """Let an arm take part again that has a reward now."""
        if arm in self._tried:
            return
        self._tried.add(arm)
        del self._under_way[arm]
        self._waiting.discard(arm)
        self._reduced.clear()
