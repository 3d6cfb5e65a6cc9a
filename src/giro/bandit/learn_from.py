"""A log of another system -> events of a bandit."""

import json
import secrets
from typing import TYPE_CHECKING

import numpy as np

from giro.bandit.event import UNKNOWN, ArmAdded, Decided, Event, Formed, Rewarded
from giro.bandit.setting import Forms
from giro.errors import BadParameter
from giro.features import Encoder, Hasher
from giro.offer import Offer, position_of

if TYPE_CHECKING:
    from giro.bandit.state import BanditState
    from giro.evaluation.log import Log


def events_of(log: "Log", state: "BanditState", now: float) -> tuple[list[Event], list[Event]]:
    """Return events that add arms and fix the form, and then a decision and its reward in turn."""
    if not hasattr(log, "arm_names"):
        raise BadParameter(f"a log is what giro.read_log returns, got {type(log).__name__}")
    new, number = _new_arms(log, state)
    formed = _formed(log, state, now)
    token, pairs = secrets.token_hex(8), list[Event]()
    for i, reward in enumerate(log.reward.tolist()):
        value = state.setting.checked_reward(reward)
        event = _decision(log, i, log.offer_of(i), number, f"log-{token}-{i}", now)
        pairs += [event, Rewarded(event.id, now, value)]
    return [*(ArmAdded(now, name) for name in new), *formed], pairs


def _new_arms(log: "Log", state: "BanditState") -> tuple[list[str], np.ndarray | None]:
    """Return the arms that are new to the bandit, and the numbers of the log's; None: places."""
    if state.setting.open_arms:
        return [], None
    if log.names is not None:
        raise BadParameter(
            "in this log other arms are on offer in each event: only a bandit made without arms "
            "can learn from it"
        )
    known = {name: arm for arm, name in enumerate(state.arms)}
    new = [name for name in log.arm_names if name not in known]
    known |= {name: arm for arm, name in enumerate(new, len(known))}
    return new, np.array([known[name] for name in log.arm_names])


def _formed(log: "Log", state: "BanditState", now: float) -> list[Event]:
    """Return the event that fixes the form, if none did; an error if the log has another."""
    setting, forms, widths = state.setting, state.forms, (log.n_features, log.n_arm_features)
    hashes = setting.policy.resolved(contextual=True).hashes_features
    if (setting.open_arms and hashes if forms is None else forms.hasher) and not log.hashed:
        raise BadParameter(
            "this bandit hashes features and the log has them in columns: a log of Vowpal Wabbit "
            "is read with giro.read_log(..., hashed=True)"
        )
    if forms is None:
        arm = Encoder(widths[1], (), "a row of features") if widths[1] else None
        hasher = Hasher(setting.interactions, setting.standardise) if log.hashed else None
        forms = Forms(Encoder(widths[0], ()), arm, hasher)
        state.fresh(forms)  # refuses what the policy cannot use
        return [Formed(now, json.dumps(forms.to_json()))]
    if log.hashed and forms.hasher is None:
        raise BadParameter("the log has hashed features, and this bandit has them in columns")
    if forms.widths != widths:
        raise BadParameter(
            f"the log has {widths[0]} features in a context and {widths[1]} of an arm, "
            f"this bandit {forms.widths[0]} and {forms.widths[1]}"
        )
    return []


def _decision(
    log: "Log", i: int, offer: Offer, number: np.ndarray | None, id: str, now: float
) -> Decided:
    place, names = position_of(offer, int(log.arm[i])), tuple[str, ...]()
    if number is None:
        arms = np.arange(offer.arms.size)
        names = tuple(log.arm_names[k] for k in offer.arms) if log.names is None else log.names[i]
    else:
        arms = number[offer.arms]
    order = np.argsort(arms)
    p = np.array([log.probability[i]])
    if log.probabilities is not None:
        p = log.probabilities[i][offer.arms][order]
        p = p / p.sum()
    features = offer.features[order] if offer.features.size else offer.features
    context = offer.context
    if log.hashed:  # without the zeros behind it
        context = context[: 2 * (np.flatnonzero(context).max(initial=-2) // 2 + 1)]
    own = float("nan")
    p = p if p.size else UNKNOWN
    return Decided(
        id, now, int(arms[place]), arms[order], p, own, 0, context, features, names=names
    )
