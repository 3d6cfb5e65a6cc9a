"""Learners: a state for each set of arms among which decisions are made."""

from collections import OrderedDict

from giro.bandit.learner import Learner
from giro.bandit.log import Log
from giro.bandit.setting import Setting
from giro.bandit.voting import pick

_KEPT = 16  # sets whose states are kept


class Learners:
    """The learners of the sets of arms used last; others are made again by replaying the log.

    A policy's state is made for a number of arms, and arms come and go. As policies treat arms
    alike, the state for a set of arms is one that has learned just their rewards. A set seen for
    the first time costs a replay of all rewards; after that, only what came since it was last used.
    """

    def __init__(self, setting: Setting, log: Log, n_features: int) -> None:
        """Keep no learner yet."""
        self._setting, self._log, self._n_features = setting, log, n_features
        self._learners: OrderedDict[int, Learner] = OrderedDict()

    def ready(self, among: int) -> Learner:
        """Return the learner of a set of arms (its number), having learned all rewards."""
        learner = self._learners.get(among)
        if learner is None:
            learner = self._new(among)
            if self._setting.policy.choosing_leaves_traces:
                self._repeat_choices(learner, among)
        else:
            self._learners.move_to_end(among)
        if learner.learned < self._log.n_rewards:
            self._learn(learner, among, self._log.n_rewards)
        return learner

    def at(self, among: int, seen: int) -> Learner | None:
        """Return the learner of a set if it has learned just the first `seen` rewards."""
        learner = self._learners.get(among)
        return learner if learner is not None and learner.learned == seen else None

    def as_of(self, among: int, seen: int) -> Learner:
        """Return the learner of a set, having learned the first `seen` rewards.

        Choices are not repeated: for probabilities, which no trace of them changes.
        """
        learner = self._learners.get(among)
        if learner is None or learner.learned > seen:
            learner = self._new(among)
        self._learn(learner, among, seen)
        return learner

    def _new(self, among: int) -> Learner:
        learner = Learner(
            self._setting.policy,
            self._log.sets[among],
            self._n_features,
            seed=self._setting.seed,
            room=self._setting.room,
        )
        self._learners[among] = learner
        self._learners.move_to_end(among)
        if len(self._learners) > _KEPT:
            self._learners.popitem(last=False)
        return learner

    def _learn(self, learner: Learner, among: int, up_to: int) -> None:
        try:
            learner.learn(self._log, up_to)
        except BaseException:
            self._learners.pop(among, None)  # half learned: made anew when needed
            raise

    def _repeat_choices(self, learner: Learner, among: int) -> None:
        """Make the decisions of this set again, each after the rewards that it knew."""
        for decision in range(self._log.n_decisions):
            if self._log.among[decision] == among:
                self._learn(learner, among, self._log.seen[decision])
                pick(learner, self._setting, self._log, decision, self._log.context_of(decision))
