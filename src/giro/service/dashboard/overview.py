"""The page of one bandit, and that of all its arms: shares and rewards."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from giro import Bandit
from giro.service.dashboard import formats, shapes
from giro.service.dashboard.lists import mean_of_all
from giro.service.dashboard.past import decision_rows

_MOST_LINES = 6
_OF_SHARES, _OF_REWARDS = 60, 24  # stretches: means need more decisions than shares
_ARMS, _ARMS_OF_A_PAGE = 8, 100
_ENOUGH, _OF_A_POINT = 10, 20  # rewards of an arm that may lead, and of a point in a chart


def overview(bandit: Bandit, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of the page of a bandit."""
    arms, timeline = arm_rows(bandit), bandit.timeline(arms=_MOST_LINES, stretches=_OF_SHARES)
    colours = {name: line for line, name in enumerate(timeline.names[: timeline.n_arms])}
    shown = sorted(arms, key=lambda row: -row["decisions"])[:_ARMS]
    with_scale(shown)
    uplift, places = bandit.uplift(), 3
    if uplift is not None:
        places = formats.decimals([uplift.uplift.high - uplift.uplift.low])
    return {
        "shares": _lines(timeline),
        "rewards": _lines(bandit.timeline(arms=_MOST_LINES, stretches=_OF_REWARDS)),
        "enough": _OF_A_POINT,
        "arms": shown,
        "n_arms": len(arms),
        "colours": colours,
        "places": _places(shown),
        "mean": mean_of_all(bandit),
        "uplift": uplift,
        "uplift_places": places,
        "baseline": _baseline(bandit, uplift),
        "apprenticeship": bandit.apprenticeship(),
        "alarms": bandit.alarms(),
        "latest": decision_rows(bandit.latest(5)),
    }


def all_arms(bandit: Bandit, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of the page of all arms, those that hold a text, in parts."""
    wanted, rows = query.get("find", ""), arm_rows(bandit)
    rows = [row for row in rows if wanted.casefold() in row["arm"].casefold()]
    rows.sort(key=lambda row: -row["decisions"])
    text = query.get("page", "1")
    n_pages = max(1, math.ceil(len(rows) / _ARMS_OF_A_PAGE))
    page = min(max(1, int(text)) if text.isdecimal() and len(text) < 9 else 1, n_pages)
    shown = rows[(page - 1) * _ARMS_OF_A_PAGE : page * _ARMS_OF_A_PAGE]
    with_scale(shown)
    return {
        "arms": shown,
        "n_arms": len(rows),
        "find": wanted,
        "page": page,
        "n_pages": n_pages,
        "colours": {},
        "places": _places(shown),
    }


def arm_rows(bandit: Bandit) -> list[dict[str, Any]]:
    """Return the row of each arm, with a badge for the best one."""
    rows: list[dict[str, Any]] = bandit.summary().to_dicts()
    total = sum(row["decisions"] for row in rows) or 1
    for row in rows:
        row["share"] = row["decisions"] / total
        row["pending"] = max(0, row["decisions"] - row["rewards"])
        row["badge"] = ""
    known = [row for row in rows if row["active"] and row["rewards"] >= _ENOUGH]
    if len(known) > 1:
        best = max(known, key=lambda row: float(row["mean"]))
        rest = max(row["high"] for row in known if row is not best)
        best["badge"] = "best" if best["low"] > rest else "leads"
    return rows


def with_scale(rows: Sequence[dict[str, Any]]) -> None:
    """Give rows the place of their intervals on one scale."""
    for row, whisker in zip(rows, shapes.whiskers(rows), strict=True):
        row["whisker"] = whisker


def _places(rows: Sequence[dict[str, Any]]) -> int:
    return formats.decimals(row["high"] - row["low"] for row in rows if row["mean"] is not None)


def _baseline(bandit: Bandit, uplift: Any) -> str:
    """Return which arm the policy is compared with, in words."""
    if uplift is not None and uplift.is_shared:
        return "the arm taken where the policy does not decide"
    if bandit.setting["open_arms"] or not bandit.arms:
        return "the first arm on offer"
    return f"the first arm, {bandit.arms[0]}"


def _lines(timeline: Any) -> dict[str, Any]:
    """Return the lines and rows of the table behind a chart."""
    rows = [_stretch(timeline, i) for i in range(timeline.begin.size)]
    widths = [high - low for row in rows for _, _, low, high in row["rewards"]]
    return {
        "names": timeline.names,
        "n_arms": timeline.n_arms,
        "rows": rows,
        "places": formats.decimals(widths),
        "length": float(timeline.end[0] - timeline.begin[0]) if rows else 0.0,
    }


def _stretch(timeline: Any, i: int) -> dict[str, Any]:
    """Return the row of a stretch: shares of the decisions, and mean rewards with their ends."""
    total = max(1, int(timeline.decisions[i, -1]))
    parts = (timeline.rewards, timeline.mean, timeline.low, timeline.high)
    return {
        "begin": float(timeline.begin[i]),
        "middle": float(timeline.begin[i] + timeline.end[i]) / 2.0,
        "decisions": int(timeline.decisions[i, -1]),
        "shares": (timeline.decisions[i, :-1] / total).tolist(),
        "rewards": list(zip(*(part[i].tolist() for part in parts), strict=True)),
    }
