"""Decision: an arm to use now, and how likely it was to be chosen."""

from collections.abc import Callable, Mapping


class Decision:
    """An arm that a `Bandit` chose; report what came of it with `bandit.reward(decision.id, ...)`.

    The probabilities are worked out when first read: from the bandit as it was when it decided,
    however much it has learned since.
    """

    __slots__ = ("_propensities", "_source", "arm", "id", "number", "time")

    id: str  # what to report the reward under
    arm: str  # what to do
    number: int  # of the decision, from 0
    time: float  # by the bandit's clock, seconds

    def __init__(
        self,
        id: str,
        arm: str,
        number: int,
        time: float,
        source: Callable[[int], Mapping[str, float] | None],
    ) -> None:
        """Note what was decided; `source(number)` gives the probabilities when they are read."""
        self.id = id
        self.arm = arm
        self.number = number
        self.time = time
        self._source = source
        self._propensities: Mapping[str, float] | None = None

    @property
    def propensities(self) -> Mapping[str, float] | None:
        """The probability of each arm that could be chosen, given all that was known then.

        None if the bandit does not keep them (`propensities=False`), and for decisions of a
        policy whose place another has taken, unless they were read before.
        """
        if self._propensities is None:
            self._propensities = self._source(self.number)
        return self._propensities

    @property
    def propensity(self) -> float | None:
        """The probability with which the chosen arm was chosen; None like `propensities`."""
        known = self.propensities
        return None if known is None else known[self.arm]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and (self.id, self.arm, self.number, self.time) == (
            other.id,
            other.arm,
            other.number,
            other.time,
        )

    def __hash__(self) -> int:
        return hash((self.id, self.number))

    def __repr__(self) -> str:
        return f"Decision(id={self.id!r}, arm={self.arm!r})"
