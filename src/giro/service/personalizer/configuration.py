"""Configuration: the settings of a loop, and its policy, read and changed while it runs."""

import datetime
import math
import time
from typing import Any, Final

import msgspec

from giro import Bandit, GiroError
from giro.service.about import About
from giro.service.bandits import Running
from giro.service.endpoint import Call
from giro.service.personalizer import messages as m
from giro.service.personalizer.durations import iso_duration, net_duration, seconds_in
from giro.service.personalizer.learning import policy_of
from giro.service.personalizer.loop import DOOR, POLICY, Refusal, loop_of
from giro.service.service import Service

_SERVICE, _POLICY = "InvalidServiceConfiguration", "InvalidPolicyConfiguration"
_WAITS: Final = (5.0, 2 * 86400.0)  # seconds
_DAY = 86400.0
_MOST_DAYS = 100_000
_AGGREGATIONS: Final = {"earliest": "first", "sum": "sum"}
_SHARES: Final = {"Online": 1.0, "Apprentice": 0.0}
_REWARDS: Final = ("reward_wait", "default_reward", "reward_aggregation")


class Own(msgspec.Struct, omit_defaults=True):
    """The settings of a loop that its bandit has no place for. They are shown, and do nothing."""

    export_frequency: float = 300.0  # seconds
    retrain: int = 0  # days
    edited: float | None = None
    name: str = DOOR
    arguments: str = "--cb_explore_adf --epsilon 0.2 -q ::"


class Configuration:
    """The handlers of settings and of the policy."""

    def __init__(self, service: Service) -> None:
        """Serve the loops of a service."""
        self._service = service

    async def show(self, call: Call) -> m.ServiceConfiguration:
        """Show the settings."""
        return await _shown(await loop_of(self._service, call, "read"), call)

    async def put(self, call: Call) -> m.ServiceConfiguration:
        """Change the settings. They count from now on, and nothing is learned again."""
        running = await loop_of(self._service, call, "admin")
        asked: m.ServiceConfiguration = call.body
        wanted = checked(asked, running.bandit.setting)
        await running.change(**wanted)

        def change(own: Own) -> None:
            own.export_frequency = seconds_in(asked.model_export_frequency) or 0.0
            own.retrain = asked.model_retrain_days or 0

        await self._change(running, change)
        return await _shown(running, call)

    async def _change(self, running: Running, change: Any) -> None:
        def change_about(about: About) -> None:
            own = _own(about)
            change(own)
            own.edited = time.time()
            about.doors[DOOR] = msgspec.to_builtins(own)

        await self._service.bandits.change(running.name, change_about)

    async def show_policy(self, call: Call) -> m.LearningSettings:
        """Show the policy."""
        return learning_settings(await loop_of(self._service, call, "read"))

    async def put_policy(self, call: Call) -> m.LearningSettings:
        """Change to another policy. It learns all rewards of the past first."""
        return await self._put_policy(call, call.body.name, call.body.arguments)

    async def apply(self, call: Call, name: str, arguments: str) -> None:
        """Change to a policy of an evaluation."""
        await self._put_policy(call, name, arguments)

    async def reset_policy(self, call: Call) -> m.LearningSettings:
        """Change back to the first policy."""
        return await self._put_policy(call, Own().name, Own().arguments, POLICY)

    async def _put_policy(
        self, call: Call, name: str, arguments: str, policy: str | None = None
    ) -> m.LearningSettings:
        running = await loop_of(self._service, call, "admin")
        try:
            await running.change(policy=policy or policy_of(arguments))
        except GiroError as error:
            raise Refusal(_POLICY, str(error)) from None

        def change(own: Own) -> None:
            own.name, own.arguments = name, arguments

        await self._change(running, change)
        return learning_settings(running)


def _own(about: About) -> Own:
    return msgspec.convert(about.doors.get(DOOR, {}), Own)


def learning_settings(running: Running) -> m.LearningSettings:
    """Return the policy of a loop as it was given."""
    own = _own(running.about)
    return m.LearningSettings(own.name, own.arguments)


async def _shown(running: Running, call: Call) -> m.ServiceConfiguration:
    """Return the settings as the version in the path writes them."""
    setting, own = running.bandit.setting, _own(running.about)
    written = net_duration if call.path["version"] == "v1.0" else iso_duration
    names = {value: key for key, value in _AGGREGATIONS.items()}
    is_apprentice, kept = setting["share"] == 0.0, setting["retain_seconds"]
    metrics = await running.call(metrics_of, running.bandit) if is_apprentice else None
    return m.ServiceConfiguration(
        reward_wait_time=written(setting["reward_wait"] or 0.0),
        default_reward=setting["default_reward"] or 0.0,
        reward_aggregation=names.get(setting["reward_aggregation"], "earliest"),
        exploration_percentage=setting["floor"] or 0.0,
        model_export_frequency=written(own.export_frequency),
        log_retention_days=-1 if kept is None else round(kept / _DAY),
        model_retrain_days=own.retrain,
        learning_mode="Apprentice" if is_apprentice else "Online",
        log_mirror_enabled=False,
        is_auto_optimization_enabled=False,
        last_configuration_edit_date=None if own.edited is None else date_of(own.edited),
        latest_apprentice_mode_metrics=metrics,
    )


def date_of(seconds: float) -> str:
    """Return a time as RFC 3339 has it.

    >>> date_of(0.0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat().replace("+00:00", "Z")


def metrics_of(bandit: Bandit) -> dict[str, Any]:
    """Return how an apprentice does: its imitated events are those like the baseline's.

    Of the policy's own rewards there is an estimate only where it agrees now and then.
    """
    estimate = bandit.apprenticeship()
    rewards = estimate.earned or 0.0
    own = 0.0 if estimate.would_have_earned is None else estimate.would_have_earned
    imitated = round((estimate.agreement or 0.0) * estimate.decisions)
    return {
        "numberOfEvents": estimate.decisions,
        "numberOfImitatedEvents": imitated,
        "sumOfRewards": rewards * bandit.n_rewards,
        "sumOfImitatedRewards": own * imitated,
        "startTime": date_of(float(bandit.events(limit=1)["time"][0])),
        "lastProcessedEventTime": date_of(
            float(bandit.events(since=bandit.position - 1)["time"][0])
        ),
    }


def checked(asked: m.ServiceConfiguration, setting: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a bandit that its new settings are."""
    wait = seconds_in(asked.reward_wait_time)
    if wait is None or not _WAITS[0] <= wait <= _WAITS[1]:
        raise Refusal(
            "InvalidRewardWaitTime",
            f"rewardWaitTime is 5 seconds to 2 days, as 00:10:00 or PT10M, "
            f"got '{asked.reward_wait_time}'",
        )
    _check_days(asked, wait)
    if not (seconds_in(asked.model_export_frequency) or 0.0) > 0.0:
        raise Refusal(
            _SERVICE,
            f"modelExportFrequency is a time, as 00:05:00 or PT5M, "
            f"got '{asked.model_export_frequency}'",
        )
    _check_range("defaultReward", asked.default_reward, -1.0)
    _check_range("explorationPercentage", asked.exploration_percentage, 0.0)
    _check_one_of("rewardAggregation", asked.reward_aggregation, _AGGREGATIONS)
    days = asked.log_retention_days
    wanted = {
        "reward_wait": wait,
        "default_reward": asked.default_reward,
        "reward_aggregation": _AGGREGATIONS[asked.reward_aggregation],
        "floor": asked.exploration_percentage,
        "share": setting["share"],
        "retain": None if days == -1 else datetime.timedelta(days=days),
    }
    if asked.learning_mode is not None:
        _check_one_of("learningMode", asked.learning_mode, _SHARES)
        wanted["share"] = _SHARES[asked.learning_mode]
    changes_mode = (wanted["share"] == 0.0) != (setting["share"] == 0.0)
    if changes_mode and any(wanted[name] != setting[name] for name in _REWARDS):
        raise Refusal(
            "InvalidLearningModeServiceConfiguration",
            "change learningMode alone, and then defaultReward, rewardWaitTime or "
            "rewardAggregation",
        )
    if asked.log_mirror_enabled or asked.is_auto_optimization_enabled:
        raise Refusal(_SERVICE, "giro has no log mirror and no auto-optimization: turn them off")
    return wanted


def _check_days(asked: m.ServiceConfiguration, wait: float) -> None:
    days, least = asked.log_retention_days, math.ceil(wait / _DAY + 1.0)
    if days != -1 and not wait / _DAY + 1.0 <= days <= _MOST_DAYS:
        raise Refusal(
            "InvalidLogRetentionDays",
            f"logRetentionDays is -1 (for ever), or {least} and more with this rewardWaitTime, "
            f"got {days}",
        )
    if (asked.model_retrain_days or 0) < 0:
        raise Refusal(
            "InvalidModelRetrainDays",
            f"modelRetrainDays is 0 or more, got {asked.model_retrain_days}",
        )


def _check_range(name: str, value: float, least: float) -> None:
    if not least <= value <= 1.0:
        raise Refusal(_SERVICE, f"{name} is {least:g} to 1, got {value:g}")


def _check_one_of(name: str, value: str, words: Any) -> None:
    if value not in words:
        raise Refusal(_SERVICE, f"{name} is one of {', '.join(words)}, got '{value}'")
