"""A log of another system -> events of a bandit."""

import json
import secrets
from typing import TYPE_CHECKING

import numpy as np

from giro.bandit.event import UNKNOWN, ArmAdded, Decided, Event, Formed, Rewarded
from giro.bandit.state import Forms, State
from giro.errors import BadParameter
from giro.features import Encoder
from giro.offer import Offer

if TYPE_CHECKING:
    from giro.evaluation.log import Log


def events_of(log: "Log", state: State, now: float) -> tuple[list[Event], list[Event]]:
    """Return events that add arms and fix the form, and then a decision and its reward in turn."""
    if not hasattr(log, "arm_names"):
        raise BadParameter(f"a log is what giro.read_log returns, got {type(log).__name__}")
    known = {name: arm for arm, name in enumerate(state.arms)}
    new = [name for name in log.arm_names if name not in known]
    number = np.array(
        [
            known.get(name, len(known) + new.index(name) if name in new else 0)
            for name in log.arm_names
        ]
    )
    widths = (log.contexts.shape[1], log.n_arm_features)
    formed: list[Event] = []
    if state.forms is None:
        arm = Encoder(widths[1], (), "a row of features") if widths[1] else None
        forms = Forms(Encoder(widths[0], ()), arm)
        state.fresh(forms)  # refuses what the policy cannot use
        formed = [Formed(now, json.dumps(forms.to_json()))]
    elif state.forms.widths != widths:
        raise BadParameter(
            f"the log has {widths[0]} features in a context and {widths[1]} of an arm, "
            f"this bandit {state.forms.widths[0]} and {state.forms.widths[1]}"
        )
    token, pairs = secrets.token_hex(8), list[Event]()
    for i, reward in enumerate(log.reward.tolist()):
        value = state.setting.checked_reward(reward)
        event = _decision(log, i, log.offer_of(i), number, f"log-{token}-{i}", now)
        pairs += [event, Rewarded(event.id, now, value)]
    return [*(ArmAdded(now, name) for name in new), *formed], pairs


def _decision(log: "Log", i: int, offer: Offer, number: np.ndarray, id: str, now: float) -> Decided:
    arms = number[offer.arms]
    order = np.argsort(arms)
    p = np.array([log.probability[i]])
    if log.probabilities is not None:
        p = log.probabilities[i][offer.arms][order]
        p = p / p.sum()
    features = offer.features[order] if offer.features.size else offer.features
    own = float("nan")
    p = p if p.size else UNKNOWN
    return Decided(
        id, now, int(number[log.arm[i]]), arms[order], p, own, 0, offer.context, features
    )
