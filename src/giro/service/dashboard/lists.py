"""The list of bandits: a line of each, with sparklines."""

from typing import Any

import numpy as np

from giro import Bandit
from giro.service.bandits import Running
from giro.service.dashboard import shapes

_STRETCHES = 40
_LATELY = 0.25  # of the decisions


def line_of(running: Running) -> dict[str, Any]:
    """Return the figures of a bandit in the list."""
    bandit = running.bandit
    timeline = bandit.timeline(arms=6, stretches=_STRETCHES)
    decisions = timeline.decisions[:, -1] if timeline.begin.size else np.empty(0)
    middle = (timeline.begin + timeline.end) / 2.0
    mean = timeline.mean[:, -1] if timeline.begin.size else np.empty(0)
    return {
        "name": running.name,
        "policy": bandit.policy.text,
        "retired": running.about.retired,
        "n_arms": None if bandit.setting["open_arms"] else len(bandit.arms),
        "decisions": bandit.n_decisions,
        "rewards": bandit.n_rewards,
        "alarms": [alarm.text for alarm in bandit.alarms()],
        "mean": mean_of_all(bandit),
        "leader": _shown_most_lately(timeline),
        "traffic": shapes.bars(timeline.begin.tolist(), timeline.end.tolist(), decisions.tolist()),
        "reward": shapes.sparkline(middle.tolist(), mean.tolist()),
    }


def mean_of_all(bandit: Bandit) -> dict[str, Any]:
    """Return the mean of all rewards with its interval, None for each where there are none."""
    whole = bandit.timeline(arms=0, stretches=1)
    if whole.begin.size == 0 or not np.isfinite(whole.mean[0, -1]):
        return {"mean": None, "low": None, "high": None}
    return {key: float(getattr(whole, key)[0, -1]) for key in ("mean", "low", "high")}


def _shown_most_lately(timeline: Any) -> tuple[str, float] | None:
    """Return the arm that was taken most in the last quarter of the decisions, and its share."""
    if timeline.n_arms == 0:
        return None
    shares = np.cumsum(timeline.decisions[:, -1])
    first = min(np.searchsorted(shares, (1.0 - _LATELY) * shares[-1]) + 1, shares.size - 1)
    lately = timeline.decisions[first:].sum(axis=0)
    arm = int(np.argmax(lately[: timeline.n_arms]))
    return timeline.names[arm], float(lately[arm] / lately[-1])
