"""Setting: the parameters of a bandit. Forms: how what it is given becomes numbers. Plain data."""

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from giro.checks import POSITIVE, SHARE, WORD, check, finite_range, optional, whole
from giro.errors import BadParameter, GiroError
from giro.features import Encoder, Given, Hasher, declared
from giro.offer import NO_CONTEXT, NO_FEATURES
from giro.policy import Policy, policies_with_arm_features
from giro.standardising import Numbers
from giro.version import __version__

Arms: TypeAlias = Sequence[str] | Mapping[str, Given] | None  # names, or their features by name
AGGREGATIONS = ("only", "first", "last", "sum")
FIRST_CAPACITY = 1024  # rewards that a state can hold at first


@dataclasses.dataclass(frozen=True)
class Setting:
    """Everything besides its log that decides what a bandit does; see `Bandit` for the meaning."""

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
        )
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
            object.__setattr__(self, "interactions", Hasher(self.interactions).interactions)
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
        has_text = False
        with contextlib.suppress(GiroError):
            has_text = Policy.parse(self.policy.text) == self.policy
        features = None
        if self.features is not None:  # words as a list, which JSON has
            kinds = self.features.items()
            features = {n: k if isinstance(k, str | int) else list(k) for n, k in kinds}
        return plain | {
            "policy": self.policy.text,
            "policy_has_text": has_text,
            "reward_range": list(self.reward_range),
            "features": features,
            "interactions": None if self.interactions is None else list(self.interactions),
            "giro": __version__,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], policy: Policy | str | None = None) -> "Setting":
        """Return the setting; `policy` takes the place of the one described."""
        known = {field.name for field in dataclasses.fields(cls)}
        given = {key: value for key, value in plain.items() if key in known}
        if policy is None and not plain.get("policy_has_text"):
            raise BadParameter(
                f"the policy {plain.get('policy')} holds Python objects, which are not stored: "
                "give policy=... again"
            )
        given["policy"] = plain["policy"] if policy is None else policy
        given["reward_range"] = tuple(plain["reward_range"])
        given.setdefault("standardise", False)  # as giro 0.1.0 plays
        return cls(**given)


class Forms(NamedTuple):
    """How contexts, and features of arms, become numbers."""

    context: Encoder
    arm: Encoder | None  # None if arms have no features
    hasher: Hasher | None = None  # in place of both, where the policy hashes features

    @classmethod
    def fitted(cls, context: Given, arms: Arms, setting: Setting) -> "Forms":
        """Return the forms that a first request has."""
        if setting.policy.resolved(contextual=True).hashes_features:
            return cls(Encoder(0, ()), None, Hasher(setting.interactions, setting.standardise))
        encoder = Encoder.fitted(context, setting.features)
        if not isinstance(arms, Mapping):
            return cls(encoder, None)
        return cls(encoder, Encoder.fitted_to_arm(*next(iter(arms.items()))))

    def to_json(self) -> dict[str, Any]:
        """Return plain data for `from_json`."""
        arm = None if self.arm is None else self.arm.to_json()
        plain = {"encoder": self.context.to_json(), "arm_encoder": arm}
        return plain if self.hasher is None else plain | {"hasher": dataclasses.asdict(self.hasher)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Forms":
        """Return the forms described by plain data."""
        arm, hasher = plain.get("arm_encoder"), plain.get("hasher")
        return cls(
            Encoder.from_json(plain["encoder"]),
            arm and Encoder.from_json(arm),
            None if hasher is None else Hasher(**hasher),
        )

    def row(self, context: Given) -> np.ndarray:
        """Return what is known of a round."""
        if self.hasher is not None:
            return self.hasher.context(context)
        is_empty = self.context.is_empty and context is None
        return NO_CONTEXT if is_empty else self.context.encode(context)

    def rows(self, arms: Mapping[str, Given] | Sequence[str]) -> np.ndarray:
        """Return what is known of each of these arms, in this order."""
        if self.hasher is not None:
            return self.hasher.arms(arms)
        if self.arm is None:
            if isinstance(arms, Mapping):
                raise BadParameter("the arms of this bandit have no features: name them in a list")
            return NO_FEATURES
        if not isinstance(arms, Mapping):
            raise BadParameter(
                "every decision of this bandit needs features of its arms: "
                "give arms={name: features, ...}"
            )
        return np.array([self.arm.encode_arm(*each) for each in arms.items()])

    def numbers(self, *, standardised: bool) -> Numbers:
        """Return which columns of contexts and of features of arms are standardised."""
        encoders = (self.context, self.arm)
        return Numbers(
            *(np.empty(0, bool) if e is None else e.is_number & standardised for e in encoders)
        )

    def crossed(self, interactions: Sequence[str] | None) -> tuple[tuple[int, int], ...] | None:
        """Return which columns of the context and of the arm these interactions multiply."""
        if interactions is None or self.hasher is not None:
            return None
        if interactions and self.arm is None:
            raise BadParameter(
                "interactions multiply features of arms: give arms={name: features, ...}"
            )
        found = set[tuple[int, int]]()
        for left, right in (text.split("*") for text in interactions):
            of_arm = () if self.arm is None else self.arm.columns(right, "arm")
            found |= set(itertools.product(self.context.columns(left, "context"), of_arm))
        return tuple(sorted(found))

    def absent(self, context: Given, arms: Arms) -> list[str]:
        """Return the parts of interactions that name nothing here, but might later."""
        if self.hasher is None:
            return []
        return self.hasher.absent(context, arms.values() if isinstance(arms, Mapping) else ())

    @property
    def widths(self) -> tuple[int, int]:
        """How many numbers a context and the features of an arm become."""
        return self.context.n_features, 0 if self.arm is None else self.arm.n_features
