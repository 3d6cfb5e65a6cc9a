"""The gaps of a problem."""

import math

import pytest

from giro.errors import BadParameter
from giro.paper.theory.gaps import check_rounds, checked_means, suboptimal_arms


def test_the_best_arm_may_stand_anywhere() -> None:
    assert suboptimal_arms([0.25, 0.75, 0.5]) == [(0, 0.25, 0.5), (2, 0.5, 0.25)]


@pytest.mark.parametrize("means", [[], [[0.1, 0.2]], [0.1, 1.1], [-0.1, 0.5], [math.nan, 0.5]])
def test_means_that_are_none_are_refused(means: list[float]) -> None:
    with pytest.raises(BadParameter, match="means"):
        checked_means(means)


def test_two_best_arms_are_refused() -> None:
    with pytest.raises(BadParameter, match="only one"):
        suboptimal_arms([0.5, 0.5, 0.1])


def test_too_few_rounds_are_refused() -> None:
    with pytest.raises(BadParameter, match="rounds must be >= 2, got rounds=1"):
        check_rounds(1, at_least=2)
