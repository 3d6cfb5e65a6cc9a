"""Change the parameters of a bandit at work."""

import dataclasses
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from giro.bandit.event import Began
from giro.bandit.opening import retained, seconds
from giro.bandit.rewarding import settled
from giro.bandit.setting import Setting
from giro.errors import BadParameter

if TYPE_CHECKING:
    from giro.bandit.follower import Follower

CHANGEABLE = (
    "policy",
    "share",
    "floor",
    "votes",
    "reward_wait",
    "default_reward",
    "reward_aggregation",
    "retain_rewards",
    "retain_seconds",
)


def change(follower: "Follower", parameters: Mapping[str, Any]) -> None:
    """Go on with other parameters, as `Bandit.change` says."""
    with follower.lock:
        state = follower.state
        old, new = state.setting, changed(state.setting, _plain(parameters))
        if state.schema is not None and new.policy != old.policy:
            state.fresh(state.schema, new.policy)  # refuses what the policy cannot use
    if old.collects_reports and not new.collects_reports:
        due = follower.store.waiting(np.inf)
        rewards = settled(due, old, follower.store, follower.clock())
        follower.append_waiting([reward for reward in rewards if not reward.expired])
    if new != old:
        follower.append([Began(follower.clock(), json.dumps(new.to_json()))])


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a setting has them."""
    plain = dict(parameters)
    if isinstance(plain.get("reward_wait"), timedelta):
        plain["reward_wait"] = seconds(plain["reward_wait"])
    if "retain" in plain:
        retain = plain.pop("retain")
        plain |= {"retain_rewards": None, "retain_seconds": None}
        plain |= {} if retain is None else retained(retain)
    return plain


def changed(setting: Setting, parameters: Mapping[str, Any]) -> Setting:
    """Return a setting with other parameters, of those that can change."""
    for name in parameters:
        if name not in CHANGEABLE:
            raise BadParameter(
                f"of a bandit {', '.join(CHANGEABLE)} can change, got {name}: make another bandit, "
                "which may learn from this one's log"
            )
    return dataclasses.replace(setting, **parameters)
