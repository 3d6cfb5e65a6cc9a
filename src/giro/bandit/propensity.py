"""Among which arms a bandit decides, with which probabilities, and how it knows them.

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

import math
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from giro.bandit.event import UNKNOWN
from giro.errors import GiroError, ModelWarning
from giro.kernels.draws.uniform import integer_below
from giro.live import LivePolicy
from giro.offer import Offer

if TYPE_CHECKING:
    from giro.bandit.setting import Setting

MOST_TRIES: Final = 1000
_ONE: Final = np.ones(1)


class Sampled(NamedTuple):
    """An arm, and how likely it was."""

    arm: int
    propensities: np.ndarray  # [i] of arms on offer; of the arm alone if estimated; or UNKNOWN
    own: float  # the policy's own probability of the arm, NaN if not known


def sampled(
    live: LivePolicy, setting: "Setting", offer: Offer, *, number: int, baseline: int
) -> Sampled:
    """Return the arm of a decision; draws depend on the seed and the decision's number alone.

    `baseline` is the position of the arm that is taken where the policy does not decide. A policy
    that fails is replaced by chance, with a warning: who asked must have an answer.
    """
    rng = live.stream_of(number)
    if offer.arms.size == 1:
        return Sampled(int(offer.arms[0]), _ONE if setting.propensities else UNKNOWN, 1.0)
    try:
        return _by_policy(live, setting, offer, rng, baseline)
    except Exception as error:
        warn(f"{setting.policy} cannot choose, so an arm was taken at random: {error}")
        k = offer.arms.size
        return Sampled(int(offer.arms[integer_below(k, rng)]), np.full(k, 1.0 / k), 1.0 / k)


def _by_policy(
    live: LivePolicy, setting: "Setting", offer: Offer, rng: np.random.Generator, baseline: int
) -> Sampled:
    exact = live.propensities(offer) if setting.propensities else None
    floor, mixes = setting.floor or 0.0, bool(setting.floor) or setting.share < 1.0
    if exact is None and setting.propensities and (mixes or setting.votes is not None):
        exact = live.vote(offer, setting.votes or setting.default_votes)
    if exact is not None:
        return _drawn(exact, floor, setting.share, baseline, offer.arms, rng)
    if mixes and rng.random() >= setting.share:
        return Sampled(int(offer.arms[baseline]), UNKNOWN, np.nan)
    if mixes and rng.random() < floor:
        return Sampled(int(offer.arms[integer_below(offer.arms.size, rng)]), UNKNOWN, np.nan)
    arm = live.choose(offer)
    if not setting.propensities:
        return Sampled(arm, UNKNOWN, np.nan)
    p = 1.0 / live.tries(offer, arm, MOST_TRIES)
    return Sampled(arm, np.array([p]), p)


def _drawn(
    policy: np.ndarray,
    floor: float,
    share: float,
    baseline: int,
    arms: np.ndarray,
    rng: np.random.Generator,
) -> Sampled:
    ends = np.cumsum(policy)
    if not ends[-1] > 0.5:  # also if it is not a number
        raise GiroError(f"its probabilities add up to {ends[-1]}")
    own = probabilities = policy / ends[-1]
    if floor > 0.0:
        own = probabilities = (1.0 - floor) * own + floor / own.size
    if share < 1.0:
        probabilities = share * own
        probabilities[baseline] += 1.0 - share
    if probabilities is not policy:
        ends = np.cumsum(probabilities)
    position = int(ends.searchsorted(rng.random() * ends[-1], side="right"))
    position = min(position, arms.size - 1)
    return Sampled(int(arms[position]), probabilities, float(own[position]))


def warn(message: str) -> None:
    """Warn of something that a policy or model did, and that the bandit goes on without."""
    warnings.warn(ModelWarning(message), stacklevel=3)


class ColdStart:
    """Knows which arms to leave out because enough decisions of theirs wait for a first reward.

    Most policies choose an untried arm before all others. If rewards take long, a new arm would
    get every decision until its first reward is known. So an arm without a reward is left out when
    it was chosen `first` times and another arm has a reward. This follows from the log alone, and
    costs the same whatever the number of arms, but for the first decision after a change.
    """

    def __init__(self, first: int | None) -> None:
        """Begin without decisions; None for `first` leaves out nobody."""
        self._first = math.inf if first is None else first
        self._tried: set[int] = set()  # arms with a reward
        self._under_way: Counter[int] = Counter()  # decisions of the others
        self._waiting: set[int] = set()  # arms that are left out
        self._eligible: dict[bytes, np.ndarray] = {}  # until a change

    def eligible(self, arms: np.ndarray) -> np.ndarray:
        """Return these arms without those that wait; all of them if none has a reward."""
        if not self._waiting:
            return arms
        key = arms.tobytes()
        left = self._eligible.get(key)
        if left is None:
            left = arms
            if not self._tried.isdisjoint(arms.tolist()):
                left = arms[[arm not in self._waiting for arm in arms.tolist()]]
            self._eligible[key] = left
        return left

    def decided(self, arm: int) -> None:
        """Count a decision for this arm."""
        if arm in self._tried:
            return
        self._under_way[arm] += 1
        if self._under_way[arm] == self._first:
            self._waiting.add(arm)
            self._eligible.clear()

    def taken_back(self, arm: int) -> None:
        """Count a decision less: it came to nothing."""
        if arm not in self._tried:
            self._under_way[arm] -= 1
            if self._under_way[arm] < self._first:
                self._waiting.discard(arm)
                self._eligible.clear()

    def rewarded(self, arm: int) -> None:
        """Let an arm take part again that has a reward now."""
        if arm in self._tried:
            return
        self._tried.add(arm)
        self._under_way.pop(arm, None)
        self._waiting.discard(arm)
        self._eligible.clear()

    def to_json(self) -> dict[str, Any]:
        """Return plain data for `restore`."""
        return {"tried": sorted(self._tried), "under_way": sorted(self._under_way.items())}

    def restore(self, plain: dict[str, Any]) -> None:
        """Go on from plain data."""
        self._tried = set(plain["tried"])
        self._under_way = Counter(dict(plain["under_way"]))
        self._waiting = {arm for arm, n in self._under_way.items() if n >= self._first}
