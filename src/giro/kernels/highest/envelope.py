"""The probability of each arm to have the highest mean + u width, with one u = |N(0, 1)| for all.

As u grows from 0, the highest of the lines mean + u width changes along their upper envelope, from
an arm to one with a larger width. An arm's probability is that of u falling into its stretch.
"""

import math

import numpy as np

from giro.kernels.highest.probabilities import argmax_probabilities


def envelope_probabilities(
    means: np.ndarray, widths: np.ndarray, ranking: np.ndarray
) -> np.ndarray:
    """Return the probability [i] that line i is the highest; equal lines as `ranking` says.

    Each step goes from one line of the envelope to the next, in O(arms); widths are >= 0.
    """
    found, low = np.zeros(means.size), 0.0
    height, slope = means.max(), widths[means == means.max()].max()
    while True:
        steeper = widths > slope
        crossings = (height - means[steeper]) / (widths[steeper] - slope)
        high = crossings.min() if crossings.size else math.inf
        alike = (means == height) & (widths == slope)
        among = ranking[alike] if ranking.size else ranking
        stretch = math.erfc(low / math.sqrt(2.0)) - math.erfc(high / math.sqrt(2.0))
        found[alike] += stretch * argmax_probabilities(np.zeros(alike.sum()), among)
        if high == math.inf:
            return found
        nearest = np.flatnonzero(steeper)[crossings == high]
        slope = widths[nearest].max()
        height = means[nearest[widths[nearest] == slope]].max()
        low = high
