"""Discrete arms: a few possible rewards with their probabilities (ratings, revenue steps)."""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from giro.compiling import kernel
from giro.errors import BadParameter
from giro.offer import Offer, offer_of
from giro.problem import Law, Means, Problem
from giro.problems.bernoulli import reveal_means

Row: TypeAlias = tuple[float, ...]
Rows: TypeAlias = tuple[Row, ...]

_SUM_TO_ONE = 1e-9  # tolerance of the sum of probabilities
_DIGITS = 12  # of a mean: arms that are equal on paper are equal here, despite rounding


class _Instance(NamedTuple):
    means: np.ndarray  # [arm]
    best: float
    offer: Offer  # of all arms
    values: np.ndarray  # [arm, i] possible rewards
    cumulative: np.ndarray  # [arm, i] probability of the first i + 1 of them, ends with 1


@kernel
def _reward(instance: _Instance, means: Means, arm: int, rng: np.random.Generator) -> float:
    i, u = 0, rng.random()
    while instance.cumulative[arm, i] <= u:
        i += 1
    return float(instance.values[arm, i])


@dataclass(frozen=True)
class Discrete(Problem, name="discrete"):
    """Rewards from given `values`, with probabilities for each arm.

    `probabilities` has a row for each arm. `values` is one row for all arms, or a row for each.
    """

    source = "ratings or revenue steps scaled to [0, 1]"
    reveal = staticmethod(reveal_means)
    reward = staticmethod(_reward)

    values: Row | Rows = (0.0, 0.5, 1.0)
    probabilities: Rows = ((0.2, 0.3, 0.5), (0.4, 0.4, 0.2))
    n_arms: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        for key in ("values", "probabilities"):
            object.__setattr__(self, key, _tuples(key, getattr(self, key)))
        if not _are_rows(self.probabilities):
            raise BadParameter("discrete needs a row of probabilities for each arm")
        object.__setattr__(self, "n_arms", len(self.probabilities))
        rows = self._values_by_arm()
        if not _are_rows(rows) or len(rows) != self.n_arms:
            raise BadParameter(
                f"discrete needs one row of values, or one for each of the {self.n_arms} arms"
            )
        for arm, (values, probabilities) in enumerate(zip(rows, self.probabilities, strict=True)):
            _check_arm(arm, values, probabilities)

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the distributions of the arms, the same in every run."""
        values = _rectangle(self._values_by_arm())
        cumulative = np.cumsum(_rectangle(self.probabilities), axis=1)
        cumulative /= cumulative[:, -1:]
        shares = np.diff(cumulative, axis=1, prepend=0.0)
        means = np.round((values * shares).sum(axis=1), _DIGITS)
        return _Instance(means, float(means.max()), offer_of(means.size), values, cumulative)

    def law(self, instance: Any, arm: int) -> Law:
        """Return the values and their probabilities."""
        shares = np.diff(instance.cumulative[arm], prepend=0.0)
        return Law(instance.values[arm], shares)

    def _values_by_arm(self) -> Rows:
        """Return a row of values for each arm."""
        shared = _is_row(self.values)
        return cast(Rows, (self.values,) * self.n_arms if shared else self.values)


def _tuples(key: str, numbers: Any) -> Any:
    """Return nested lists or arrays as nested tuples, which are comparable and hashable."""
    if isinstance(numbers, tuple | list | np.ndarray):
        return tuple(_tuples(key, inner) for inner in numbers)
    try:
        return float(numbers)
    except (TypeError, ValueError):
        raise BadParameter(f"discrete needs numbers as {key}, got {numbers!r}") from None


def _is_row(numbers: Any) -> bool:
    return isinstance(numbers, tuple) and all(isinstance(number, float) for number in numbers)


def _are_rows(rows: Any) -> bool:
    return isinstance(rows, tuple) and len(rows) > 0 and all(map(_is_row, rows))


def _check_arm(arm: int, values: Row, probabilities: Row) -> None:
    if len(values) != len(probabilities):
        raise BadParameter(
            f"discrete needs as many probabilities as values, "
            f"got {len(probabilities)} and {len(values)} for arm {arm}"
        )
    for key, row in (("values", values), ("probabilities", probabilities)):
        for number in row:
            if not 0.0 <= number <= 1.0:
                raise BadParameter(f"discrete needs {key} in [0, 1], got {number} for arm {arm}")
    total = math.fsum(probabilities)
    if abs(total - 1.0) > _SUM_TO_ONE:
        raise BadParameter(
            f"discrete needs probabilities that add up to 1, got {total} for arm {arm}"
        )


def _rectangle(rows: Rows) -> np.ndarray:
    """Return the rows as one array, with short rows padded with zeros."""
    table = np.zeros((len(rows), max(map(len, rows))))
    for row, numbers in zip(table, rows, strict=True):
        row[: len(numbers)] = numbers
    return table
