"""Wheel: a rim on which one of four arms pays much, and the more rarely, the thinner it is."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.checks import Level
from giro.compiling import kernel
from giro.kernels.draws.continuous import standard_normal
from giro.offer import NO_FEATURES, Offer
from giro.problem import Means, Problem

_ARMS = 5  # four for the quarters of the rim, and the last one
_WHOLE = 51.0  # rewards are divided by this
_MEAN, _LAST, _RIM, _SD = 1.0 / _WHOLE, 1.2 / _WHOLE, 50.0 / _WHOLE, 0.01 / _WHOLE


class _Instance(NamedTuple):
    context: np.ndarray  # [coordinate] of the present round
    means: np.ndarray  # [arm] of the present round
    arms: np.ndarray  # [arm] all of them
    features: np.ndarray  # of arms: none
    delta: float


@kernel
def _reveal(instance: _Instance, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    context, means, square = instance.context, instance.means, 2.0
    while square > 1.0:  # a uniform point of the square, until it is in the disk
        context[0], context[1] = 2.0 * rng.random() - 1.0, 2.0 * rng.random() - 1.0
        square = context[0] * context[0] + context[1] * context[1]
    for arm in range(means.size - 1):
        means[arm] = _MEAN
    highest = _LAST
    if square >= instance.delta * instance.delta:
        quarter = (0 if context[0] > 0.0 else 2) + (0 if context[1] > 0.0 else 1)
        means[quarter] = highest = _RIM
    return Offer(instance.arms, context, instance.features), means, highest


@kernel
def _reward(instance: _Instance, means: Means, arm: int, rng: np.random.Generator) -> float:
    reward = float(means[arm]) + _SD * standard_normal(rng)
    return min(max(reward, 0.0), 1.0)  # 0 and 1 are a hundred deviations away


@dataclass(frozen=True)
class Wheel(Problem, name="wheel"):
    """Contexts in a disk, on whose rim one of four arms pays 50, and all else pays about 1.

    The context x is a uniform point of the unit disk, drawn in each round. The last arm has mean
    1.2. The other four have mean 1, except that on the rim, |x| >= `delta`, the arm of x's quarter
    (by the signs of both coordinates) has mean 50. Rewards are normal with deviation 0.01. All this
    is divided by 51, so that rewards lie in [0, 1]: means are 1/51, 1.2/51 and 50/51. Regret as a
    share of that of `uniform` does not depend on it. A share 1 - `delta`² of rounds is on the rim.
    """

    source = "Riquelme et al. 2018, Section 5.4"
    reveal = staticmethod(_reveal)
    reward = staticmethod(_reward)
    n_features = 2

    delta: Level = 0.95
    n_arms: int = field(init=False, repr=False, compare=False, default=_ARMS)

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the wheel, which is the same in every run."""
        means = np.full(_ARMS, _LAST)
        return _Instance(np.empty(2), means, np.arange(_ARMS), NO_FEATURES, float(self.delta))
