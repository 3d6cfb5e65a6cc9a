"""Decision: an arm to use now, and how likely it was to be chosen."""

from typing import Any

import numpy as np

from giro.bandit.event import Decided


class Decision:
    """An arm that a `Bandit` chose; report what came of it with `bandit.reward(decision.id, ...)`.

    It is plain data, and can be pickled and sent to other processes.
    """

    __slots__ = ("_names", "_p", "arm", "id", "propensity", "time")

    id: str  # what to report the reward under
    arm: str  # what to do
    time: float  # by the bandit's clock, seconds
    propensity: float | None
    """The probability with which the arm was chosen, given all that was known then.

    None with `propensities=False`. Of a policy whose probabilities are not known it is an estimate
    by geometric resampling, whose inverse is unbiased (see `giro.bandit.propensity`).
    """

    def __init__(self, event: Decided, names: tuple[str, ...]) -> None:
        """Note what was decided; `names` are those of the arms on offer."""
        self.id, self.time = event.id, event.time
        self.arm = names[event.position]
        self.propensity = event.propensity
        self._names, self._p = names, event.propensities

    @property
    def propensities(self) -> dict[str, float] | None:
        """The probability of each arm that could be chosen; None if only `propensity` is known."""
        if self._p.size < len(self._names):
            return None
        return dict(zip(self._names, self._p.tolist(), strict=True))

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that could be chosen."""
        return self._names

    def __getstate__(self) -> tuple[Any, ...]:
        p = np.asarray(self._p).tolist()
        return (self.id, self.arm, self.time, self.propensity, self._names, p)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.id, self.arm, self.time, self.propensity, self._names, p = state
        self._p = np.array(p)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Decision(id={self.id!r}, arm={self.arm!r})"
