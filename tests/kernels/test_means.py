"""Means of rewards."""

import numpy as np

from giro.kernels.means import means_of


def test_an_arm_never_pulled_has_an_infinite_mean() -> None:
    means = means_of(np.array([2, 0, 4]), np.array([1.0, 0.0, 0.5]))
    assert means.tolist() == [0.5, np.inf, 0.125]
