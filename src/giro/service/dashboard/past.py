"""The newest decisions, one decision, and the events: pages about single things in the log."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from giro import Bandit, UnknownDecision
from giro.service.dashboard.formats import percent
from giro.service.errors import Problem

if TYPE_CHECKING:
    import polars as pl

_DECISIONS, _EVENTS = 50, 100
_ARMS = 50  # with their features on the page of one decision
KINDS = (
    "decision",
    "reward",
    "expired",
    "report",
    "arm_added",
    "arm_retired",
    "setting",
    "form",
    "erased",
    "rebuilt",
    "left",
)


def latest_decisions(bandit: Bandit, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of the page of the newest decisions."""
    before = position_in(query)
    pairs = bandit.latest(_DECISIONS, before=before)
    older = pairs[-1][0] if len(pairs) == _DECISIONS else None
    return {"decisions": decision_rows(pairs), "before": before, "older": older}


def decision_rows(pairs: Iterable[tuple[int, Any]]) -> list[dict[str, Any]]:
    """Return a row for each decision that was found."""
    return [_row(number, known) for number, known in pairs]


def _row(number: int, known: Any) -> dict[str, Any]:
    decision = known.decision
    chances = decision.propensities
    likeliest = max(chances, key=chances.__getitem__) if chances else None
    return {
        "number": number,
        "id": decision.id,
        "arm": decision.arm,
        "time": decision.time,
        "propensity": decision.propensity,
        "n_arms": len(decision.arms),
        "likeliest": likeliest,
        "likeliest_chance": chances[likeliest] if chances and likeliest else None,
        "is_even": bool(chances) and max(chances.values()) - min(chances.values()) < 1e-9,
        "explored": bool(
            chances and likeliest and chances[likeliest] > chances[decision.arm] + 1e-9
        ),
        "reward": known.reward,
        "rewarded": known.rewarded,
        "expired": known.expired,
        "n_reports": len(known.reports),
    }


def one_decision(bandit: Bandit, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of the page of one decision."""
    id = query.get("id", "").strip()
    try:
        known = bandit.look_up(id)
    except UnknownDecision:
        raise Problem(404, f"the bandit has no decision '{id}'") from None
    decision = known.decision
    chances = decision.propensities
    order = sorted(decision.arms, key=lambda arm: -chances[arm]) if chances else decision.arms
    shown = [arm for place, arm in enumerate(order) if place < _ARMS or arm == decision.arm]
    return {
        "known": known,
        "decision": decision,
        "explanation": decision.explain(),
        "chances": [(arm, chances[arm] if chances else None) for arm in shown],
        "n_left": len(decision.arms) - len(shown),
        "left": percent(1.0 - sum(chances[arm] for arm in shown)) if chances else "",
        "context": None if known.context is None else sorted(known.context.items()),
        "features": _features(known.features, shown),
    }


def _features(features: Mapping[str, Any] | None, arms: Sequence[str]) -> Any:
    """Return the names of features and the row of each arm, nothing where there are none."""
    if not features:
        return None
    names = sorted({name for arm in arms for name in features.get(arm, {})})
    return names, [(arm, [features.get(arm, {}).get(name) for name in names]) for arm in arms]


def latest_events(bandit: Bandit, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of the page of events, of one kind if one is asked for."""
    before, kind = position_in(query), query.get("kind", "")
    if kind and kind not in KINDS:
        raise Problem(422, f"a kind of event is one of {', '.join(KINDS)}, got '{kind}'")
    table = bandit.latest_events(_EVENTS, before=before, kinds=[kind] if kind else [])
    rows = table.select(
        "number", "kind", "id", "time", "arm", "reward", "report", "propensity", "seen", "setting"
    ).to_dicts()
    older = rows[-1]["number"] if len(rows) == _EVENTS else None
    return {"events": rows, "kinds": KINDS, "kind": kind, "before": before, "older": older}


def position_in(query: Mapping[str, str]) -> int | None:
    """Return the position in the log before which is looked, if one is asked for."""
    text = query.get("before", "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 18 and int(text) > 0):
        raise Problem(422, f"before is the number of an event, got '{text}'")
    return int(text)


def json_lines(part: "pl.DataFrame", *, first: bool) -> bytes:
    """Return a part of the log with an event on each line."""
    return part.write_ndjson().encode()


def comma_separated(part: "pl.DataFrame", *, first: bool) -> bytes:
    """Return a part of the log as comma-separated values. Lists are written as JSON.

    A text that a table program would take for a formula gets an apostrophe before it.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    if first:
        writer.writerow(part.columns)
    for row in part.iter_rows():
        writer.writerow([_cell(value) for value in row])
    return text.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return json.dumps(value)
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value
