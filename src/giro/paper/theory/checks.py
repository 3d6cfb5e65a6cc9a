"""A statement with numbers put in: both sides, by how much it holds, whether it does."""

from dataclasses import dataclass, field

import numpy as np

SLACK = 1e-9  # what rounding may take from a statement that holds with equality


@dataclass(frozen=True)
class Check:
    """One statement at one place; `margin` is negative by as much as the statement fails."""

    claim: str
    lhs: float
    rhs: float
    margin: float
    at: dict[str, float] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Tell whether the statement is true up to rounding."""
        finite = [abs(side) for side in (self.lhs, self.rhs) if abs(side) != float("inf")]
        return self.margin >= -SLACK * max([1.0, *finite])


def at_most(claim: str, lhs: float, rhs: float, **at: float) -> Check:
    """Return the check of lhs <= rhs."""
    return Check(claim, float(lhs), float(rhs), _difference(rhs, lhs), _plain(at))


def at_least(claim: str, lhs: float, rhs: float, **at: float) -> Check:
    """Return the check of lhs >= rhs."""
    return Check(claim, float(lhs), float(rhs), _difference(lhs, rhs), _plain(at))


def equals(claim: str, lhs: float, rhs: float, **at: float) -> Check:
    """Return the check of lhs = rhs."""
    return Check(claim, float(lhs), float(rhs), -abs(_difference(lhs, rhs)), _plain(at))


def _difference(larger: float, smaller: float) -> float:
    return 0.0 if larger == smaller else float(larger - smaller)


def _plain(at: dict[str, float]) -> dict[str, float]:
    return {name: np.asarray(value).item() for name, value in at.items()}
