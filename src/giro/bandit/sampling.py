"""Draw the arm of a decision, with the probability that it had.

A decision is worth most with the probability of its arm, for those who evaluate other policies on
the log. Where the policy's probabilities are known, the arm is drawn from them. Where they are not,
estimating them beside an arm that was drawn separately would give biased inverse-propensity
estimates; two ways do not:

- Geometric resampling (Neu and Bartók, 2013): the policy chooses the arm, and then again until it
  chooses the same arm. The number of tries has the mean 1/p, so the logged propensity 1/tries gives
  unbiased inverse-propensity weights, and as many choices are needed as arms have a chance. More
  than `MOST_TRIES` are not made: weights of arms less likely than that are too small by
  (1 - p)^MOST_TRIES of their size.
- A vote, where something is mixed in (a floor, a baseline): the policy chooses many times, the
  shares of its choices, so mixed, are the probabilities, and the arm is drawn from these.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from giro.bandit.event import UNKNOWN
from giro.errors import warn_of_model
from giro.kernels.draws.mixed import Drawn, mixed_draw
from giro.kernels.draws.uniform import integer_below
from giro.live import LivePolicy, Scored
from giro.offer import AnyRow, Offer, position_of

if TYPE_CHECKING:
    from giro.bandit.setting import Setting

MOST_TRIES: Final = 1000
_ONE: Final = np.ones(1)


class Sampled(NamedTuple):
    """The position of an arm in the offer, and how likely it was."""

    position: int
    propensities: np.ndarray  # [i] of arms on offer; of the arm alone if estimated; or UNKNOWN
    own: float  # the policy's own probability of the arm, NaN if not known


def sampled(
    live: LivePolicy,
    setting: "Setting",
    offer: Offer,
    *,
    number: int,
    baseline: int,
    scored: Scored | None = None,
) -> Sampled | Drawn:
    """Return the arm of a decision.

    Draws depend on the seed and the decision's number alone. `baseline` is the position of the arm
    that is taken where the policy does not decide. A policy that fails is replaced by chance, with
    a warning: the caller must have an answer.
    """
    k = offer.arms.size
    if k == 1:
        return Sampled(0, _ONE if setting.propensities else UNKNOWN, 1.0)
    try:
        if setting.propensities:
            floor = setting.floor or 0.0
            share = setting.share
            drawn = live.draw(
                offer, number, floor=floor, share=share, baseline=baseline, scored=scored
            )
            if drawn is not None:
                return drawn
        return _without_law(live, setting, offer, live.stream_of(number), baseline)
    except Exception as error:
        warn_of_model(f"{setting.policy} cannot choose, so an arm was taken at random: {error}")
        position = integer_below(k, live.stream_of(number))
        return Sampled(position, np.full(k, 1.0 / k), 1.0 / k)


def sampled_alike(
    live: LivePolicy, setting: "Setting", offer: Offer, numbers: Sequence[int]
) -> list[tuple[int, np.ndarray, float]] | None:
    """Return the arms that `sampled` draws for decisions with these numbers, on the same offer.

    The probabilities are worked out once. None where they are not known, or a baseline is mixed in.
    """
    if offer.arms.size == 1 or not setting.propensities or setting.share < 1.0:
        return None
    try:
        return live.draw_each(offer, numbers, floor=setting.floor or 0.0)
    except Exception:  # whoever asks for each alone warns
        return None


def sampled_rows(
    live: LivePolicy,
    setting: "Setting",
    offer: Offer,
    rows: Sequence[AnyRow],
    numbers: Sequence[int],
) -> list[tuple[int, np.ndarray, float]] | None:
    """Return the same for decisions on this offer that have rows of their own."""
    is_dense = {np.ndarray} == set(map(type, rows)) and len(set(map(len, rows))) == 1
    if offer.arms.size == 1 or not setting.propensities or setting.share < 1.0 or not is_dense:
        return None
    try:
        return live.draw_rows(offer, np.array(rows), numbers, floor=setting.floor or 0.0)
    except Exception:  # whoever asks for each alone warns
        return None


def _without_law(
    live: LivePolicy, setting: "Setting", offer: Offer, rng: np.random.Generator, baseline: int
) -> Sampled | Drawn:
    """Return an arm of a policy that does not know its probabilities."""
    floor, mixes = setting.floor or 0.0, bool(setting.floor) or setting.share < 1.0
    if setting.propensities and (mixes or setting.votes is not None):
        shares = live.vote(offer, setting.votes or setting.default_votes)
        return mixed_draw(shares, floor, setting.share, baseline, float(rng.random()))
    if mixes and rng.random() >= setting.share:
        return Sampled(baseline, UNKNOWN, np.nan)
    if mixes and rng.random() < floor:
        return Sampled(integer_below(offer.arms.size, rng), UNKNOWN, np.nan)
    arm = live.choose(offer)
    position = position_of(offer, arm)
    if not setting.propensities:
        return Sampled(position, UNKNOWN, np.nan)
    chance = 1.0 / live.tries(offer, arm, MOST_TRIES)
    return Sampled(position, np.array([chance]), chance)
