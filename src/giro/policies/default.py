"""Default: the policy to use without choosing one."""

import math
from dataclasses import dataclass, field

from giro.models.auto import Auto
from giro.policies.giro import Giro
from giro.policies.rand_ucb import RandUcb
from giro.policy import Functions, Policy


@dataclass(frozen=True)
class Default(Policy, name="default"):
    """Giro without contexts and features of arms, otherwise RandUCB around several models.

    With contexts or features of arms it is `rand-ucb:model=auto` with its defaults, which were
    chosen on one half of the data sets of the bake-off and judged on the other (docs/bakeoff.md).

    For worlds that change, only the last `window` rewards of all arms count, or a reward counts
    half as much after every `half_life` further ones. Giro has no half-life. Instead it has the
    window in which as many rewards count as with the half-life in all, `half_life` / ln 2.
    """

    source = "Kveton et al. 2019, Algorithm 1; Vaswani et al. 2020, Section 3"
    uses_arm_features = True
    choose_mutates_state = True  # as Giro's does

    window: int | None = field(default=None, kw_only=True)
    half_life: float | None = field(default=None, kw_only=True)

    def resolved(self, *, contextual: bool) -> Policy:
        """Return the policy that decides: one of the two."""
        if contextual:
            return RandUcb(model=Auto(), window=self.window, half_life=self.half_life)
        if self.half_life is not None:
            return Giro(window=max(1, round(self.half_life / math.log(2.0))))
        return Giro(window=self.window)

    def functions(self) -> Functions:
        """Raise, because the functions of the two policies differ."""
        raise NotImplementedError(
            "the functions of default depend on the shape of a state: use `functions_for`"
        )

    def has_propensities(self, *, binary: bool, shared: bool) -> bool:
        """Return whether both policies know their probabilities."""
        both = (self.resolved(contextual=contextual) for contextual in (False, True))
        return all(each.has_propensities(binary=binary, shared=shared) for each in both)
