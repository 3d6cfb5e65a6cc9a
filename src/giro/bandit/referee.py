"""Referee: the probabilities of past decisions, worked out when somebody asks."""

from typing import Any

import numpy as np

from giro.bandit.learners import Learners
from giro.bandit.log import Log
from giro.bandit.setting import Setting
from giro.bandit.voting import mixed


class Referee:
    """Knows, or finds out, how likely each arm of a decision was.

    A vote's probabilities are in the log. The others follow exactly from what the bandit knew when
    it decided: the referee has learners of its own that are as far in the past as the decision
    asked for, so going through the log in order costs learning each reward once more.
    """

    def __init__(self, setting: Setting, log: Log, n_features: int, live: Learners) -> None:
        """Keep no learner yet; `live` are those that decide, good for what was decided just now."""
        self._setting, self._log, self._live = setting, log, live
        self._learners = Learners(setting, log, n_features)
        self._last: tuple[Any, np.ndarray] | None = None  # decisions before a reward share one law

    def law_of(self, decision: int) -> np.ndarray | None:
        """Return the probability of each arm of the decision's set, None if not kept."""
        if decision in self._log.propensities:
            return self._log.propensities[decision]
        if not self._setting.propensities or decision < self._log.made_elsewhere:
            return None
        law = self._log.propensities[decision] = self._found(decision)
        return law

    def _found(self, decision: int) -> np.ndarray:
        among, seen = self._log.among[decision], self._log.seen[decision]
        if len(self._log.sets[among]) == 1:
            return np.ones(1)
        context = self._log.context_of(decision)
        key = (among, seen, context.tobytes())
        if self._last is None or self._last[0] != key:
            learner = self._live.at(among, seen) or self._learners.as_of(among, seen)
            law = self._law(learner.state, context)
            self._last = (key, mixed(law, self._setting.floor_if(voted=False)))
        return self._last[1]

    def _law(self, state: Any, context: np.ndarray) -> np.ndarray:
        law = type(self._setting.policy).propensities
        if law is None:
            raise TypeError(f"{self._setting.policy} decided without a vote and has no law")
        found = np.asarray(law(state, context), float)
        if found.size == 0:
            raise TypeError(f"{self._setting.policy} has no law where it said it has one")
        return found
