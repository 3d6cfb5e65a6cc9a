"""Uplift: the rewards of the policy compared with those of its baseline, from sums of weights.

Rewards are weighted by how much likelier the policy, or the baseline, would have taken the arm than
it was taken (self-normalised inverse-propensity weights, SNIPS). The sums are kept up to date with
each event, so nothing is scanned.
"""

import math
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from giro.estimates import Estimate, normal_estimate, ratio_error

if TYPE_CHECKING:
    from giro.bandit.counts import Pending
    from giro.bandit.state import BanditState

_SAME = 1e-9  # difference of a weight from 1 that rounding makes


@dataclass(slots=True)
class Contrast:
    """Sums over rewarded decisions of two weights, `w` and `v`, and the reward `r`."""

    n: float = 0.0
    w: float = 0.0
    wr: float = 0.0
    ww: float = 0.0
    wwr: float = 0.0
    wwrr: float = 0.0
    v: float = 0.0
    vr: float = 0.0
    vv: float = 0.0
    vvr: float = 0.0
    vvrr: float = 0.0
    wv: float = 0.0
    wvr: float = 0.0
    wvrr: float = 0.0

    def add(self, w: float, v: float, r: float) -> None:
        """Take in a reward."""
        self.n += 1.0
        if w:
            wr = w * r
            self.w += w
            self.wr += wr
            self.ww += w * w
            self.wwr += w * wr
            self.wwrr += wr * wr
        if v:
            vr = v * r
            self.v += v
            self.vr += vr
            self.vv += v * v
            self.vvr += v * vr
            self.vvrr += vr * vr
            self.wv += w * v
            self.wvr += w * vr
            self.wvrr += w * r * vr


class Contrasts:
    """The sums for the two kinds of baselines there are."""

    def __init__(self, plain: Any = None) -> None:
        """Begin with the sums of plain data, or without events."""
        self.shared, self.first = (Contrast(*sums) for sums in plain or ((), ()))

    def add(self, decision: "Pending", value: float, share: float) -> None:
        """Take in a reward, given above the lowest there can be.

        With a share below 1 the baseline is the arm that was likelier than the policy had it.
        Otherwise nobody knows of another one than the first arm on offer.
        """
        inverse, weight = decision.inverse, decision.weight
        if inverse == 0.0:
            return
        if share < 1.0:
            self.shared.add(weight, inverse if weight <= 1.0 + _SAME else 0.0, value)
        else:
            self.first.add(weight, inverse if decision.is_first else 0.0, value)

    def to_json(self) -> list[list[float]]:
        """Return plain data."""
        return [list(astuple(self.shared)), list(astuple(self.first))]


class Uplift(NamedTuple):
    """How much more the policy earns for each decision than its baseline, an estimate.

    See `Bandit.uplift`. Intervals are at 95 %.
    """

    is_shared: bool  # whether the baseline takes a share of the decisions; else the first arm
    decisions: int  # that got a reward, and whose probabilities are known
    policy: Estimate  # mean reward of the policy by itself
    policy_sample: float  # effective size of the sample behind it
    baseline: Estimate
    baseline_sample: float
    uplift: Estimate  # policy less baseline


def uplift(state: "BanditState") -> Uplift | None:
    """Return the estimate, or None while nothing is known of the policy or of the baseline."""
    contrasts = state.counts.contrasts
    is_shared = contrasts.shared.n > 0
    c = contrasts.shared if is_shared else contrasts.first
    if not (c.w and c.v):
        return None
    least = state.setting.reward_range[0]
    m, b = c.wr / c.w, c.vr / c.v
    own = c.wwrr - 2 * m * c.wwr + m * m * c.ww  # sum of (w (r - m))²
    other = c.vvrr - 2 * b * c.vvr + b * b * c.vv
    both = c.wvrr - (m + b) * c.wvr + m * b * c.wv  # sum of w (r - m) v (r - b)
    of_both = own / c.w**2 + other / c.v**2 - 2 * both / (c.w * c.v)
    samples = round(c.w**2 / c.ww, 6), round(c.v**2 / c.vv, 6)
    return Uplift(
        is_shared,
        int(c.n),
        _estimate(least + m, own / c.w**2, samples[0]),
        samples[0],
        _estimate(least + b, other / c.v**2, samples[1]),
        samples[1],
        _estimate(m - b, of_both, min(samples)),
    )


def _estimate(value: float, squares: float, sample: float) -> Estimate:
    """Return an estimate by the delta method, from the sum of squared parts of its error.

    With equal weights this is the mean of as many rewards as the effective sample has.
    """
    se = ratio_error(max(squares, 0.0), 1.0, sample)
    if math.isnan(se):
        return Estimate(value, se, -math.inf, math.inf)
    return normal_estimate(value, se)
