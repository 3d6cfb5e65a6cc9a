"""Runs of the simulator in steps, for which no loop has to be compiled.

`giro.simulation.play` compiles a loop for each pair of a policy and a problem, which takes seconds.
In steps, the same loop is plain Python and calls kernels that are compiled once for each policy,
those of a live policy, and once for each problem. Arms, regret and rewards are the same.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from live_kernels import law, learn_one, moments_for, position_chosen

from giro.compiling.held import hold
from giro.offer import Case, Offer
from giro.policy import Policy, Shape, start


def in_steps(policy: Policy) -> Policy:
    """Return a policy that plays the same arms in the simulator's loop in plain Python."""
    compiled = policy.resolved(contextual=True).functions().compiled
    return _InSteps(policy) if compiled else policy


class _State(NamedTuple):
    held: Any  # the policy's state; chooses and learns with the generator of the run
    whole: bool  # whether it learns from offers


def _choose_in_step(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    place = position_chosen(state.held, offer)
    return int(offer.arms[place]) if place >= 0 else -1


def _learn_in_step(
    state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator
) -> None:
    learn_one(state.held, case, arm, reward, whole=state.whole)


def _law_in_step(state: _State, offer: Offer) -> np.ndarray:
    return law(state.held, offer)


@dataclass(frozen=True)
class _InSteps(Policy):
    """Chooses and learns as another policy, whose kernels are called one at a time."""

    choose = staticmethod(_choose_in_step)
    learn = staticmethod(_learn_in_step)
    propensities = staticmethod(_law_in_step)  # asked only where a problem withholds offers

    policy: Policy

    @property
    def uses_arm_features(self) -> bool:  # type: ignore[override]  # known with the policy
        """Whether the other policy takes features of arms."""
        return self.policy.uses_arm_features

    @property
    def learns_from_offers(self) -> bool:  # type: ignore[override]  # likewise
        """Whether the other policy learns from offers."""
        return self.policy.learns_from_offers

    @property
    def text(self) -> str:
        """The other policy's text, for messages."""
        return f"{self.policy} in steps"

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return the other policy's first state, held together with the run's generator."""
        moments = moments_for(self.policy, shape)
        held = hold(start(self.policy, shape, rng), moments, rng, rng)
        return _State(held, self.policy.learns_from_offers)
