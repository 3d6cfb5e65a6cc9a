"""Compile all that a bandit needs before somebody waits for it."""

import gc
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from giro.bandit.sampling import sampled
from giro.live import LivePolicy, Scored
from giro.offer import Offer

if TYPE_CHECKING:
    from giro.bandit.deciding import Encoded
    from giro.bandit.event import Decided
    from giro.bandit.setting import Setting
    from giro.bandit.state import BanditState

_LOGGER = logging.getLogger("giro")
_READY: set[type] = set()  # classes of states whose kernels this process has


def make_ready(state: "BanditState", part: "Encoded") -> None:
    """Compile choice and reward together, before the first decision of a kind of policy.

    Otherwise the first reward would compile while all decisions wait.
    """
    live = state.live
    if live is None or type(live.state) in _READY or not live.compiled:
        return
    _READY.add(type(live.state))
    _LOGGER.info("%s is made ready: compiling may take a minute", live.policy)
    _try_out(state.fresh(live.schema), state.setting, part.offer(), rewards=(1.0, 0.0))


def compile_for(decision: "Decided", state: "BanditState") -> None:
    """Compile the policy for decisions like this one, while another policy stands in."""
    assert state.schema is not None  # there is none without a schema
    live = state.fresh(state.schema)
    if live.compiled and type(live.state) not in _READY:
        offer = Offer(decision.arms, decision.context, decision.features)
        _try_out(live, state.setting, offer, rewards=(1.0, 0.0))
        _READY.add(type(live.state))


def _try_out(
    live: LivePolicy, setting: "Setting", offer: Offer, *, rewards: Sequence[float]
) -> None:
    """Choose and learn with a state that nobody needs.

    With rewards other than 0 and 1 some policies choose in another way, which takes longer.
    """
    live.grow_to(0, n_arms=offer.arms.size)
    for number, reward in enumerate(rewards):
        sampled(live, setting, offer, number=number, baseline=0)
        live.learn(live.case_of(offer, 0), int(offer.arms[0]), reward)


def warm_up(live: LivePolicy, setting: "Setting", offer: Offer) -> None:
    """Compile all that a bandit does with a policy, by doing it to a state that nobody needs."""
    _try_out(live, setting, offer, rewards=(1.0, 0.0, 0.5))
    sampled(live, setting, offer, number=9, baseline=0)
    scores = live.scores(offer, slots=2) if setting.propensities else None
    if scores is not None:  # of a ranking
        scored = Scored(scores, np.arange(offer.arms.size))
        sampled(live, setting, offer, number=9, baseline=0, scored=scored)
    live.snapshot()  # the first one plays a little, to tell versions of giro apart
    gc.collect()  # or Python looks through all that was loaded while somebody waits
