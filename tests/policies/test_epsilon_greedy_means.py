"""Means of rewards."""

import numpy as np

from giro.policies.epsilon_greedy import means_of


def test_an_arm_never_pulled_has_an_infinite_mean() -> None:
    means = means_of(np.array([2, 0, 4]), np.array([1.0, 0.0, 0.5]), np.arange(3))
    assert means.tolist() == [0.5, np.inf, 0.125]


def test_only_the_arms_asked_for_are_told() -> None:
    pulls, total = np.array([2, 0, 4]), np.array([1.0, 0.0, 0.5])
    assert means_of(pulls, total, np.array([1, 2])).tolist() == [np.inf, 0.125]
