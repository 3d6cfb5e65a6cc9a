"""What a problem is: what it must say, and problems made of other problems."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from giro import Problem
from giro.offer import Offer, offer_of
from giro.problem import Wrapping, reveal, reward, start
from giro.seeds import stream


class _Instance(NamedTuple):
    means: np.ndarray  # [arm]


@dataclass(frozen=True)
class InPython(Problem):
    """Pays its means."""

    n_arms: int = 2

    def start(self, rng: np.random.Generator) -> _Instance:
        return _Instance(rng.random(self.n_arms))

    @staticmethod
    def reveal(instance: Any, t: int, rng: Any) -> tuple[Offer, np.ndarray, float]:
        return offer_of(instance.means.size), instance.means, float(instance.means.max())

    @staticmethod
    def reward(instance: Any, means: np.ndarray, arm: int, rng: Any) -> float:
        return float(means[arm])


@dataclass(frozen=True)
class Both(Wrapping):
    """Two problems."""

    wrapped = ("first", "second")

    first: Any
    second: Any


def test_a_problem_that_says_nothing_is_told_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match="Problem does not say how it starts"):
        Problem().start(stream(0))
    with pytest.raises(NotImplementedError, match="needs a function reveal"):
        Problem.reveal(None, 0, stream(0))
    with pytest.raises(NotImplementedError, match="needs a function reward"):
        Problem.reward(None, np.zeros(1), 0, stream(0))


def test_functions_of_an_instance_are_those_of_its_problem() -> None:
    instance = start(InPython(3), stream(1))
    offer, means, highest = reveal(instance, 0, stream(2))
    assert offer.arms.tolist() == [0, 1, 2]
    assert means.tolist() == stream(1).random(3).tolist()
    assert highest == means.max()
    assert reward(instance, means, 1, stream(2)) == means[1]


def test_a_problem_in_python_has_an_instance_that_kernels_do_not_know() -> None:
    assert not InPython().compiled
    assert type(start(InPython(), stream(0))) is not _Instance
    assert start(InPython(), stream(0)).is_in_python


def test_a_wrapping_reads_its_problems_and_has_their_sizes() -> None:
    both = Both("bernoulli:n_arms=3", "linear:n_arms=3,dimension=4")
    assert isinstance(both.first, Problem)
    assert (both.n_arms, both.n_features, both.n_arm_features) == (3, 4, 0)
    shared = Both("bernoulli:n_arms=3", "linear:n_arms=3,dimension=4,shared=true")
    assert (shared.n_features, shared.n_arm_features) == (0, 4)


def test_a_wrapping_compiles_if_all_its_problems_do() -> None:
    assert Both("bernoulli", "beta").compiled
    assert not Both("bernoulli", InPython()).compiled
    assert not Both(InPython(), "bernoulli").compiled
