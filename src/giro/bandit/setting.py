"""Setting: the parameters of a bandit, as plain data."""

import contextlib
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from giro.checks import POSITIVE, SHARE, WORD, check, finite_range, optional, whole
from giro.errors import BadParameter, GiroError
from giro.features import Columns, Schema, declared
from giro.features.schema import MAX_COLUMNS, checked_interactions
from giro.policy import Policy, policies_with_arm_features
from giro.version import __version__

AGGREGATIONS = ("only", "first", "last", "sum")


@dataclasses.dataclass(frozen=True)
class Setting:
    """The parameters of a bandit: with its log, they decide everything.

    See `Bandit` for their meaning.
    """

    policy: Policy
    seed: int = 0
    reward_range: tuple[float, float] = (0.0, 1.0)
    rounds: int | None = None
    propensities: bool = True
    votes: int | None = None
    floor: float | None = None
    features: Mapping[str, Any] | None = None
    name: str | None = None
    first_decisions: int | None = 10
    standardise: bool = True
    share: float = 1.0
    reward_wait: float | None = None
    default_reward: float | None = None
    reward_aggregation: str = "only"
    interactions: Sequence[str] | None = None
    open_arms: bool = False  # whether arms come with each decision, and are known by features alone
    max_columns: int = MAX_COLUMNS
    retain_rewards: int | None = None
    retain_seconds: float | None = None

    default_votes: ClassVar[int] = 100

    def __post_init__(self) -> None:
        """Check everything."""
        object.__setattr__(self, "policy", Policy.parse(self.policy))
        object.__setattr__(self, "reward_range", finite_range(self.reward_range))
        check("a bandit", whole(0), seed=self.seed)
        for name in ("seed", "votes", "rounds", "first_decisions"):  # NumPy's integers as well
            if isinstance(getattr(self, name), np.integer):
                object.__setattr__(self, name, int(getattr(self, name)))
        check(
            "a bandit",
            optional(whole(1)),
            votes=self.votes,
            first_decisions=self.first_decisions,
            rounds=self.rounds,
            retain_rewards=self.retain_rewards,
        )
        check("a bandit", optional(POSITIVE), retain_seconds=self.retain_seconds)
        if self.retains and not self.policy_has_text:
            raise BadParameter(
                "with retain= a snapshot takes the place of events, and there is none of "
                f"{self.policy}, which holds Python objects"
            )
        check("a bandit", whole(1), max_columns=self.max_columns)
        check("a bandit", optional(SHARE), floor=self.floor)
        check("a bandit", SHARE, share=self.share)
        self._check_rewards()
        if self.rounds is None and self.policy.needs_rounds:
            raise BadParameter(
                f"{self.policy} plans for a number of rounds: give the bandit rounds=..., "
                "or the policy parameters that need none"
            )
        self._check_features()
        check("a bandit", optional(WORD), name=self.name)

    def _check_features(self) -> None:
        policy = self.policy.resolved(contextual=True)
        if self.features is not None:
            declared(self.features)
            if policy.hashes_features:
                raise BadParameter(f"{self.policy} hashes all features: leave out features=...")
        if self.interactions is not None:
            object.__setattr__(self, "interactions", checked_interactions(self.interactions))
            if not policy.uses_arm_features:
                raise BadParameter(f"{self.policy} has no use for interactions")
        if self.open_arms and not policy.uses_arm_features:
            raise BadParameter(
                f"{self.policy} tells arms apart by their names: give the bandit its arms, or a "
                f"policy that knows them by features, as {', '.join(policies_with_arm_features())}"
            )

    def _check_rewards(self) -> None:
        check("a bandit", optional(POSITIVE), reward_wait=self.reward_wait)
        if self.default_reward is not None:
            object.__setattr__(self, "default_reward", self.checked_reward(self.default_reward))
        if self.reward_aggregation not in AGGREGATIONS:
            raise BadParameter(
                f"reward_aggregation is one of {', '.join(AGGREGATIONS)}, "
                f"got {self.reward_aggregation!r}"
            )
        if self.collects_reports and self.reward_wait is None:
            raise BadParameter(
                f"reward_aggregation={self.reward_aggregation} needs reward_wait=...: "
                "the seconds after which a reward is complete"
            )

    def empty_schema(self) -> Schema:
        """Return the schema before the first request: all that the parameters say of it."""
        interactions = checked_interactions(self.interactions)
        if self.policy.resolved(contextual=True).hashes_features:
            return Schema.of_hashes(interactions, standardise=self.standardise)
        columns = Columns() if self.features is None else Columns(0, declared(self.features))
        is_known = self.features is not None
        return Schema(columns, None, interactions, self.standardise, is_known, self.max_columns)

    @property
    def policy_has_text(self) -> bool:
        """Whether the policy can be made again from its text."""
        with contextlib.suppress(GiroError):
            return Policy.parse(self.policy.text) == self.policy
        return False

    @property
    def retains(self) -> bool:
        """Whether older events leave the log."""
        return self.retain_rewards is not None or self.retain_seconds is not None

    @property
    def collects_reports(self) -> bool:
        """Whether a reward is known only when the waiting ends."""
        return self.reward_aggregation in ("last", "sum")

    def checked_reward(self, value: Any) -> float:
        """Return a reward as a number in the range."""
        low, high = self.reward_range
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if isinstance(value, str) or not low <= number <= high:
            raise BadParameter(f"a reward is a number in [{low:g}, {high:g}], got {value!r}")
        return number

    def aggregated(self, reports: Sequence[float]) -> float:
        """Return the reward that reports, in their order, amount to."""
        low, high = self.reward_range
        if not reports:
            return min(max(0.0, low), high) if self.default_reward is None else self.default_reward
        return (
            min(max(sum(reports), low), high) if self.reward_aggregation == "sum" else reports[-1]
        )

    def to_unit(self, value: Any) -> Any:
        """Return a reward, or an array of them, mapped to [0, 1]."""
        low, high = self.reward_range
        return (value - low) / (high - low)

    def to_json(self) -> dict[str, Any]:
        """Return plain data from which `from_json` makes an equal setting."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        features = None
        if self.features is not None:  # words as a list, which JSON has
            kinds = self.features.items()
            features = {n: k if isinstance(k, str | int) else list(k) for n, k in kinds}
        return plain | {
            "policy": self.policy.text,
            "policy_has_text": self.policy_has_text,
            "reward_range": list(self.reward_range),
            "features": features,
            "interactions": None if self.interactions is None else list(self.interactions),
            "giro": __version__,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], policy: Policy | str | None = None) -> "Setting":
        """Return the setting.

        If `policy` is given, it takes the place of the one described.
        """
        known = {field.name for field in dataclasses.fields(cls)}
        given = {key: value for key, value in plain.items() if key in known}
        if policy is None and not plain.get("policy_has_text"):
            raise BadParameter(
                f"the policy {plain.get('policy')} holds Python objects, which are not stored: "
                "give policy=... again"
            )
        given["policy"] = plain["policy"] if policy is None else policy
        given["reward_range"] = tuple(plain["reward_range"])
        return cls(**given)
