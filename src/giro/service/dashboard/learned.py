"""The page of all that a bandit has learned, and that of rewards that are late."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from giro import BadParameter, Bandit
from giro.service.dashboard import formats, shapes

_STRONGEST = 8  # features of an arm
_DRIFTS = 20


def learned(bandit: Bandit, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of the page of all that the policy has learned."""
    influences = bandit.influences()
    by_arm = defaultdict[str | None, list[Any]](list)
    for each in influences:
        if len(by_arm[each.arm]) < _STRONGEST:
            by_arm[each.arm].append(each)
    drifts = bandit.drift()
    return {
        "influences": dict(by_arm),
        "largest": max((abs(each.change) for each in influences), default=0.0) or 1.0,
        "is_ready": bandit.is_ready,
        "drifts": drifts[:_DRIFTS],
        "n_drifts": len(drifts),
        "drift_places": formats.decimals(each.change.high - each.change.low for each in drifts),
        "collisions": _collisions(bandit),
        "apprenticeship": bandit.apprenticeship(),
    }


def _collisions(bandit: Bandit) -> Any:
    """Return the load of the table of hashed features, None where there is no such table."""
    try:
        return bandit.collisions()
    except BadParameter:
        return None


def late(bandit: Bandit, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of the page of pending and late rewards."""
    timeline = bandit.timeline(arms=0, stretches=60)
    has_any = timeline.begin.size > 0
    decisions = timeline.decisions[:, -1] if has_any else np.empty(0, int)
    rewards = timeline.rewards[:, -1] if has_any else np.empty(0, int)
    pending = np.maximum(decisions - rewards, 0)
    begin, end = timeline.begin.tolist(), timeline.end.tolist()
    rows = [
        {
            "begin": begin[i],
            "decisions": int(decisions[i]),
            "rewards": int(rewards[i] - timeline.expired[i]),
            "expired": int(timeline.expired[i]),
            "pending": int(pending[i]),
        }
        for i in reversed(range(len(begin)))
    ]
    return {
        "rows": rows,
        "bars": shapes.bars(begin, end, pending.tolist()),
        "begin": begin[0] if begin else None,
        "end": end[-1] if end else None,
        "expired": int(timeline.expired.sum()) if has_any else 0,
        "delays": _delays(timeline.delays),
    }


def _delays(delays: Any) -> list[dict[str, Any]]:
    """Return a row for each length of delay, with the share that came within it."""
    total, before, rows = sum(n for _, n in delays) or 1, 0, []
    most = max((n for _, n in delays), default=1)
    for seconds, n in delays:
        before += n
        rows.append(
            {
                "within": float(seconds),
                "rewards": n,
                "share": n / total,
                "together": before / total,
                "length": 100.0 * n / most,
            }
        )
    return rows
