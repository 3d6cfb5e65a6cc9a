"""With what probability each arm has the highest value."""

import itertools
import math

import numpy as np

from giro.kernels.highest.probabilities import argmax_probabilities

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_STEPS = np.array([-9.0, -6.0, -4.0, -2.0, 0.0, 2.0, 4.0, 6.0, 9.0])  # beyond, a tail is < 1e-18


def normal_argmax_probabilities(means: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Return the probability that each of independent normal values is the highest.

    P(i) = ∫ f_i Π F_j over j ≠ i, by Gauss and Legendre's rule on pieces that end two or three
    deviations apart for every arm, so that no factor bends much within one: the error is below
    1e-12. Deviations are positive, or all zero: then the highest means share.
    """
    if not deviations.max() > 0.0:
        return argmax_probabilities(means, np.empty(0))
    floor = (means + deviations * _STEPS[0]).max()  # the highest value lies above
    chances = np.zeros(means.size)
    in_play = means + deviations * _STEPS[-1] >= floor
    means, deviations = means[in_play], deviations[in_play]
    ends = np.unique(means[:, None] + deviations[:, None] * _STEPS)
    total = np.zeros(means.size)
    for low, high in itertools.pairwise(ends[ends >= floor]):
        points = (low + high) / 2 + (high - low) / 2 * _NODES
        total += _densities_of_highest(points, means, deviations) @ _WEIGHTS * (high - low) / 2
    chances[in_play] = total / total.sum()
    return chances


def _densities_of_highest(
    points: np.ndarray, means: np.ndarray, deviations: np.ndarray
) -> np.ndarray:
    """Return f_i Π F_j over j ≠ i as [arm, point]; products of those before and those after i."""
    from scipy.special import ndtr  # noqa: PLC0415  # takes a quarter of a second to import

    z = (points - means[:, None]) / deviations[:, None]
    below = ndtr(z)
    before, after = np.ones_like(below), np.ones_like(below)
    np.cumprod(below[:-1], axis=0, out=before[1:])
    np.cumprod(below[:0:-1], axis=0, out=after[-2::-1])
    density = np.exp(-(z**2) / 2) / (deviations[:, None] * math.sqrt(2 * math.pi))
    return np.asarray(density * before * after)
