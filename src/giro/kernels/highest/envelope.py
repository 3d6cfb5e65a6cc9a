"""The probability of each arm to have the highest mean + u width, with one u = |N(0, 1)| for all.

As u grows from 0, the highest of the lines mean + u width changes along their upper envelope, from
an arm to one with a larger width. An arm's probability is that of u falling into its stretch.
"""

import math

import numpy as np

from giro.compiling import kernel


@kernel
def envelope_probabilities(
    means: np.ndarray, widths: np.ndarray, ranking: np.ndarray
) -> np.ndarray:
    """Return the probability [i] that line i is the highest; equal lines as `ranking` says.

    Each step goes from one line of the envelope to the next, in O(arms); widths are >= 0.
    """
    found, line, low = np.zeros(means.size), 0, 0.0
    for i in range(1, means.size):
        if means[i] > means[line] or (means[i] == means[line] and widths[i] > widths[line]):
            line = i
    while line >= 0:
        following, high = -1, math.inf
        for i in range(means.size):
            if widths[i] > widths[line]:
                crossing = (means[line] - means[i]) / (widths[i] - widths[line])
                if crossing < high or (
                    crossing == high and following >= 0 and widths[i] > widths[following]
                ):
                    following, high = i, crossing
        stretch = math.erfc(low / math.sqrt(2.0)) - math.erfc(high / math.sqrt(2.0))
        _share(found, stretch, means, widths, line, ranking)
        line, low = following, high
    return found


@kernel
def _share(
    found: np.ndarray,
    stretch: float,
    means: np.ndarray,
    widths: np.ndarray,
    line: int,
    ranking: np.ndarray,
) -> None:
    """Add a stretch to the lines that equal this one, or to the one of them with most rank."""
    best, tied = line, 0
    for i in range(means.size):
        if means[i] == means[line] and widths[i] == widths[line]:
            tied += 1
            if ranking.size > 0 and ranking[i] > ranking[best]:
                best = i
    if ranking.size > 0:
        found[best] += stretch
        return
    for i in range(means.size):
        if means[i] == means[line] and widths[i] == widths[line]:
            found[i] += stretch / tied
