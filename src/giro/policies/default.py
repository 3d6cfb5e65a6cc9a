"""Default: the policy to use without choosing one."""

from dataclasses import dataclass

from giro.models.auto import Auto
from giro.policies.giro import Giro
from giro.policies.rand_ucb import RandUcb
from giro.policy import Functions, Policy

_WITHOUT_CONTEXTS = Giro()
_WITH_CONTEXTS = RandUcb(model=Auto())


@dataclass(frozen=True)
class Default(Policy, name="default"):
    """Giro without contexts and features of arms, otherwise RandUCB around several models.

    With contexts or features of arms it is `rand-ucb:model=auto` with its defaults, which were
    chosen on one half of the data sets of the bake-off and judged on the other (docs/bakeoff.md).
    """

    source = "Kveton et al. 2019, Algorithm 1; Vaswani et al. 2020, Section 3"
    uses_arm_features = True
    choose_mutates_state = True  # as Giro's does

    def resolved(self, *, contextual: bool) -> Policy:
        """Return the policy that decides: one of the two."""
        return _WITH_CONTEXTS if contextual else _WITHOUT_CONTEXTS

    def functions(self) -> Functions:
        """Raise, because the functions of the two policies differ."""
        raise NotImplementedError(
            "the functions of default depend on the shape of a state: use `functions_for`"
        )

    def has_propensities(self, *, binary: bool, shared: bool) -> bool:
        """Return whether both policies know their probabilities."""
        both = (_WITH_CONTEXTS, _WITHOUT_CONTEXTS)
        return all(each.has_propensities(binary=binary, shared=shared) for each in both)
