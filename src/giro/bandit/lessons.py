"""Lessons: rewards that a policy learns while decisions go on.

An estimator in Python may be fitted for seconds. It is fitted in a copy of the policy, and nobody
holds the lock of the state meanwhile. Then the copy takes the policy's place.
"""

from collections.abc import Sequence

from giro.bandit.counts import Pending
from giro.errors import warn_of_model
from giro.live import LivePolicy


class Lessons:
    """Rewards, and a copy of a policy to learn them."""

    def __init__(self, live: LivePolicy, rewards: Sequence[tuple[Pending, float]]) -> None:
        """Copy the policy, under the lock."""
        self._live, self._rewards = live, rewards
        self._shape, self._learned = live.shape, live.learned
        self.taught = live.copy()

    def learn(self) -> None:
        """Teach the copy, without the lock."""
        for decision, unit in self._rewards:
            learn_or_warn(self.taught, decision, unit)

    def fit(self, live: LivePolicy | None) -> bool:
        """Return whether this is the policy that was copied, and has not changed since."""
        return live is self._live and live.shape == self._shape and live.learned == self._learned


def learn_or_warn(live: LivePolicy, decision: Pending, unit: float) -> None:
    """Learn a reward: whatever a model does, the log goes on."""
    try:
        live.learn(decision.case, decision.arm, unit)
    except Exception as error:
        live.learned += 1
        warn_of_model(f"{live.policy} could not learn a reward, and goes on without it: {error}")
