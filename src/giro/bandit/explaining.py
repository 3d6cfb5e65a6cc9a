"""Why an arm was chosen: the numbers that its decision has written down, in words."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from giro.tables import Column, table_html, table_text

if TYPE_CHECKING:
    from giro.bandit.event import Decided

_SHOWN = 10  # arms, the likeliest first
_SAME = 1e-9  # difference of probabilities that rounding makes


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why an arm was chosen: it prints as text, and a notebook shows it as a table."""

    heading: str  # the arm and its probability
    arms: tuple[tuple[str, str, str], ...]  # on offer: name, probability, remark
    remarks: tuple[str, ...]

    def __str__(self) -> str:
        """Return the explanation as text."""
        return "\n".join([self.heading, "", self._table(), "", *self.remarks])

    __repr__ = __str__

    def _table(self) -> str:
        return table_text(_COLUMNS, self._records())

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        return table_html(
            _COLUMNS, self._records(), heading=self.heading, notes=self.remarks, bar=None
        )

    def _records(self) -> list[dict[str, str]]:
        return [dict(zip(("arm", "probability", "remark"), arm, strict=True)) for arm in self.arms]


_COLUMNS = (Column("arm"), Column("probability", right=True), Column("remark", ""))


def explained(event: "Decided", names: tuple[str, ...]) -> Explanation:
    """Return the explanation of a decision among arms of these names."""
    known = event.propensities.size == len(names)
    chances = event.propensities if known else np.full(len(names), np.nan)
    order = np.argsort(-chances, kind="stable")
    shown = sorted({*order[: _SHOWN - 1].tolist(), event.position}, key=order.tolist().index)
    arms = [
        (names[i], _percent(chances[i]), "chosen" if i == event.position else "") for i in shown
    ]
    left = np.delete(chances, shown)
    if left.size:
        arms.append(
            (f"{left.size:,} other arms", _percent(left.sum()), "together" if known else "")
        )
    return Explanation(
        _heading(event, names, known=known), tuple(arms), tuple(_remarks(event, names, chances))
    )


def _heading(event: "Decided", names: tuple[str, ...], *, known: bool) -> str:
    arm, p = names[event.position], event.propensity
    among = "the only arm on offer" if len(names) == 1 else f"one of {len(names):,} arms on offer"
    if p is None:
        return f"'{arm}' was chosen, {among}. Its probability was not kept."
    if not known:
        return f"'{arm}' was chosen, {among}. One estimate of its probability: {_percent(p)}."
    return f"'{arm}' was chosen, {among}, with probability {_percent(p)}."


def _remarks(event: "Decided", names: tuple[str, ...], chances: np.ndarray) -> list[str]:
    own, remarks = event.own, list[str]()
    if len(names) > 1:
        remarks.append(_exploration(event, names, chances))
    p = event.propensity
    if p is not None and own >= 0.0 and abs(own - p) > _SAME:
        remarks.append(f"The policy itself gave it {_percent(own)}: a baseline was mixed in.")
    if event.policy is not None:
        remarks.append(f"Policy: {event.policy.text}, after {event.seen:,} rewards.")
    elif event.seen:
        remarks.append(f"The policy had learned {event.seen:,} rewards.")
    return remarks


def _exploration(event: "Decided", names: tuple[str, ...], chances: np.ndarray) -> str:
    """Return whether a likelier arm was passed over."""
    if not np.isfinite(chances).all():
        return "Other arms' probabilities were not kept: whether it was exploration is not known."
    best, own = int(np.argmax(chances)), float(chances[event.position])
    if own >= 1.0 - _SAME:
        return "No other arm had a chance."
    if chances[best] - own > _SAME:
        return f"Exploration: '{names[best]}' was likelier, with {_percent(chances[best])}."
    if int(np.sum(chances > own - _SAME)) > 1:
        return "No arm was likelier, but others were as likely."
    return "It was the likeliest arm."


def _percent(p: float) -> str:
    """Return a probability in per cent, with two digits or more.

    >>> _percent(0.7912), _percent(0.00031), _percent(1.0), _percent(float("nan"))
    ('79.1 %', '0.031 %', '100 %', 'unknown')
    """
    if not np.isfinite(p):
        return "unknown"
    if p in (0.0, 1.0):
        return f"{100 * p:.0f} %"
    return f"{100 * p:.1f} %" if p >= 0.01 else f"{100 * p:.2g} %"
