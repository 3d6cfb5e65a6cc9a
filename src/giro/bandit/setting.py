"""Setting: the parameters of a bandit, as plain data."""

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from giro.checks import SHARE, check, finite_range, optional, whole
from giro.errors import BadParameter, GiroError
from giro.features import declared
from giro.offer import Offer
from giro.policy import Policy
from giro.version import __version__

_FLOOR_OF_VOTES = 0.01
FIRST_ROOM = 1024  # rewards that a state has room for at first


@dataclasses.dataclass(frozen=True)
class Setting:
    """Everything besides its log that decides what a bandit does; see `Bandit` for the meaning."""

    policy: Policy
    seed: int = 0
    reward_range: tuple[float, float] = (0.0, 1.0)
    rounds: int | None = None
    propensities: bool = True
    votes: int = 100
    floor: float | None = None
    features: Mapping[str, Any] | None = None
    name: str | None = None
    first_decisions: int | None = 10
    standardise: bool = True

    def __post_init__(self) -> None:
        """Check everything."""
        object.__setattr__(self, "policy", Policy.parse(self.policy))
        object.__setattr__(self, "reward_range", finite_range(self.reward_range))
        check("a bandit", whole(0), seed=self.seed)
        check("a bandit", whole(1), votes=self.votes)
        check(
            "a bandit",
            optional(whole(1)),
            first_decisions=self.first_decisions,
            rounds=self.rounds,
        )
        check("a bandit", optional(SHARE), floor=self.floor)
        if self.rounds is None and self.policy.needs_rounds:
            raise BadParameter(
                f"{self.policy} plans for a number of rounds: give the bandit rounds=..., "
                "or the policy parameters that need none"
            )
        if self.features is not None:
            declared(self.features)
        if self.name is not None and (not isinstance(self.name, str) or not self.name):
            raise BadParameter(f"the name of a bandit is a word, got {self.name!r}")

    def is_voted(self, offer: Offer, *, binary: bool) -> bool:
        """Tell whether the arm is drawn from a vote; see `Policy.has_propensities`."""
        shared = offer.features.size > 0
        policy = self.policy.resolved(contextual=shared or offer.context.size > 0)
        return self.propensities and not policy.has_propensities(binary=binary, shared=shared)

    def floor_if(self, *, voted: bool) -> float:
        """Return the probability of taking any arm."""
        if self.floor is None:
            return _FLOOR_OF_VOTES if voted else 0.0
        return self.floor

    def to_unit(self, value: Any) -> Any:
        """Return a reward, or an array of them, mapped to [0, 1]."""
        low, high = self.reward_range
        return (value - low) / (high - low)

    def prefix(self, arms: list[str]) -> str:
        """Return what ids start with: the name, or a digest of what makes this bandit special."""
        if self.name is not None:
            return f"{self.name}-"
        special = json.dumps([self.policy.text, self.seed, arms])
        return f"{hashlib.sha256(special.encode()).hexdigest()[:6]}-"

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
