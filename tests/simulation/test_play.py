"""The loop and its checks."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from giro import GiroError, Policy, Problem, simulate
from giro.offer import Case, Offer, Shape, offer_of
from giro.problems.bernoulli import reveal_means


class _State(NamedTuple):
    arm: int


class _Instance(NamedTuple):
    means: np.ndarray
    best: float
    offer: Offer
    reward: float


# not registered: classes without a name of their own are for these tests only
@dataclass(frozen=True)
class AlwaysArm(Policy):
    """Pulls one arm."""

    arm: int = 0

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        return _State(self.arm)

    @staticmethod
    def choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
        return state.arm

    @staticmethod
    def learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
        pass


@dataclass(frozen=True)
class AlwaysReward(Problem):
    """Gives one reward."""

    value: float = 0.5
    n_arms: int = 2
    reveal = staticmethod(reveal_means)

    def start(self, rng: np.random.Generator) -> _Instance:
        return _Instance(np.array([0.5, 0.25]), 0.5, offer_of(2), self.value)

    @staticmethod
    def reward(instance, means, arm, rng) -> float:
        return float(instance.reward)


def test_regret_and_reward_are_counted_by_the_loop() -> None:
    trace = simulate(AlwaysArm(1), AlwaysReward(), rounds=8, runs=1, points=8)
    assert trace.regret[0].tolist() == [0.25 * t for t in range(1, 9)]
    assert trace.reward[0].tolist() == [0.5 * t for t in range(1, 9)]
    assert trace.pulls.tolist() == [[0, 8]]
    assert trace.best[0, -1] == 0


@pytest.mark.parametrize("arm", [-1, 2, 99])
def test_an_arm_that_does_not_exist_is_refused(arm: int) -> None:
    with pytest.raises(
        GiroError, match=f"run 0, round 1: .* chose arm {arm}, which is not on offer"
    ):
        simulate(AlwaysArm(arm), AlwaysReward(), rounds=5, runs=1)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_reward_out_of_range_is_refused(value: float) -> None:
    with pytest.raises(GiroError, match=r"rewards lie in \[0, 1\]"):
        simulate(AlwaysArm(0), AlwaysReward(value), rounds=5, runs=1)
