"""From a request to a decision: encode it once, find the arms on offer, draw one of them.

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

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from giro.bandit.event import UNKNOWN, Decided
from giro.errors import BadParameter, warn_of_model
from giro.features import Arms, Given, RawOffer, Schema
from giro.features.walk import leaves, number_row
from giro.kernels.draws.uniform import integer_below
from giro.live import Drawn, LivePolicy, mixed_draw
from giro.offer import Offer, position_of, rows_at

if TYPE_CHECKING:
    from giro.bandit.setting import Setting
    from giro.bandit.state import BanditState

MOST_TRIES: Final = 1000
_ONE: Final = np.ones(1)


class Request(NamedTuple):
    """The request for one decision, as the caller made it."""

    id: str | None
    context: Given
    arms: Arms
    baseline: str | None = None
    follows: bool = False  # another arm than those of the decisions made together before it

    def digest(self) -> bytes:
        """Return a digest of everything but the id, the same whatever the schema is then."""
        arms = self.arms
        features = {}
        if isinstance(arms, Mapping):
            features = {name: _plain(given) for name, given in arms.items()}
        names = None if arms is None else list(arms)
        text = json.dumps([_plain(self.context), names, features, self.baseline])
        return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _plain(given: Given) -> Any:
    """Return a context as JSON has it."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return sorted(leaves(given), key=str)
    return number_row(given, "a context").tolist()


class Encoded(NamedTuple):
    """A request with its arms as numbers, and everything known as rows."""

    request: Request
    asked: np.ndarray  # [i] arms, ascending
    names: tuple[str, ...]  # [i] of arms without numbers
    rows: RawOffer


def encoded(request: Request, state: "BanditState", schema: Schema) -> Encoded:
    """Return a request as numbers.

    Raises an error if it cannot be answered.
    """
    arms, is_open = request.arms, state.setting.open_arms
    asked = state.asked(arms)
    names = tuple(arms or ()) if is_open else ()
    if schema.arms is None and not isinstance(arms, Mapping):
        return Encoded(request, asked, names, schema.encode(request.context))
    of_arms: Mapping[str, Given] | Sequence[str]
    of_arms = names if is_open else state.names(asked)
    if isinstance(arms, Mapping):
        of_arms = {name: arms[name] for name in of_arms}
    return Encoded(request, asked, names, schema.encode(request.context, of_arms))


def decided(
    encoded: Encoded, state: "BanditState", id: str, time: float, *, taken: Sequence[Decided] = ()
) -> Decided:
    """Return the decision for a request.

    It cannot have the arms of the decisions `taken`.
    """
    request, asked, names, rows = encoded
    live, setting = state.live, state.setting
    assert live is not None
    among, features = state.cold_start.eligible(asked), rows.features
    if taken:
        among = among[~np.isin(among, _taken_arms(taken, names))]
    if among.size < asked.size:
        left = np.flatnonzero(np.isin(asked, among))
        features = rows_at(features, left)
        if setting.open_arms:
            names, among = tuple(map(names.__getitem__, left.tolist())), np.arange(left.size)
    if setting.open_arms:
        live.grow_to(live.learned, n_arms=among.size)
    offer = Offer(among, rows.context, features)
    place = _baseline(state, request, among, names)
    chosen = sampled(live, setting, offer, number=_number(id), baseline=place)
    return Decided(
        id,
        time,
        int(among[chosen.position]),
        among,
        chosen.propensities,
        chosen.own,
        live.learned,
        rows.context,
        features,
        b"" if request.id is None else request.digest(),
        names,
        chosen.position,
    )


def _taken_arms(taken: Sequence[Decided], names: Sequence[str]) -> list[int]:
    """Return the arms of decisions: their numbers, or their places among these names."""
    if not names:
        return [event.arm for event in taken]
    return [names.index(event.names[event.position]) for event in taken]


def _number(id: str) -> int:
    """Return the number of the stream from which a decision draws, of 63 bits."""
    digest = hashlib.blake2b(id.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def _baseline(
    state: "BanditState", request: Request, among: np.ndarray, names: Sequence[str]
) -> int:
    """Return the position of the baseline among the arms on offer."""
    baseline, arms = request.baseline, request.arms
    if baseline is None and state.setting.share == 1.0:
        return 0
    if state.setting.open_arms:
        if baseline is not None and baseline not in names:
            raise BadParameter(f"the baseline '{baseline}' is not one of the arms on offer")
        return 0 if baseline is None else names.index(baseline)
    if baseline is None:
        baseline = state.arms[int(state.active[0])] if arms is None else next(iter(arms))
    arm = state.active_arm(baseline)
    position = int(among.searchsorted(arm))
    if position < among.size and among[position] == arm:
        return position
    if arms is not None and baseline not in arms:
        raise BadParameter(f"the baseline '{baseline}' is not one of the arms {list(arms)}")
    return 0  # it waits for its first reward, or another slot has it


class Sampled(NamedTuple):
    """The position of an arm in the offer, and how likely it was."""

    position: int
    propensities: np.ndarray  # [i] of arms on offer; of the arm alone if estimated; or UNKNOWN
    own: float  # the policy's own probability of the arm, NaN if not known


def sampled(
    live: LivePolicy, setting: "Setting", offer: Offer, *, number: int, baseline: int
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
            drawn = live.draw(offer, number, floor=floor, share=setting.share, baseline=baseline)
            if drawn is not None:
                return drawn
        return _without_law(live, setting, offer, live.stream_of(number), baseline)
    except Exception as error:
        warn_of_model(f"{setting.policy} cannot choose, so an arm was taken at random: {error}")
        position = integer_below(k, live.stream_of(number))
        return Sampled(position, np.full(k, 1.0 / k), 1.0 / k)


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
