"""The bodies of Personalizer's API: requests and answers."""

from typing import Annotated, Any

from msgspec import Meta, Struct

Word = Annotated[str, Meta(min_length=1, max_length=256)]
MaybeWord = Annotated[str, Meta(max_length=256)] | None
Features = list[dict[str, Any]] | None
Reward = Annotated[float, Meta(ge=-1, le=1)]


class Action(Struct):
    """An action to choose from. It is known by its features."""

    id: Word
    features: Features = None


class RankRequest(Struct, rename="camel"):
    """A request for an action. The first that is not excluded is the baseline."""

    actions: list[Action]
    context_features: Features = None
    excluded_actions: list[str] | None = None
    event_id: MaybeWord = None
    defer_activation: bool | None = False


class RankedAction(Struct, omit_defaults=True):
    """An action, and the probability with which it was chosen."""

    id: str
    probability: float | None = None


class RankAnswer(Struct, rename="camel"):
    """The chosen action, and all of them."""

    ranking: list[RankedAction]
    event_id: str
    reward_action_id: str


class EventReward(Struct):
    """The reward of an event."""

    value: Reward


class SlotRequest(Struct, rename="camel"):
    """A slot to fill."""

    id: Word
    baseline_action: str
    features: Features = None
    excluded_actions: list[str] | None = None


class SlotsRequest(Struct, rename="camel"):
    """A request for an action for each slot."""

    actions: list[Action]
    slots: list[SlotRequest]
    context_features: Features = None
    event_id: MaybeWord = None
    defer_activation: bool | None = False


class FilledSlot(Struct, rename="camel"):
    """A slot with its action."""

    id: str
    reward_action_id: str


class SlotsAnswer(Struct, rename="camel"):
    """The slots with their actions."""

    slots: list[FilledSlot]
    event_id: str


class SlotReward(Struct, rename="camel"):
    """The reward of a slot."""

    slot_id: Word
    value: Reward


class SlotsRewardRequest(Struct):
    """The rewards of slots."""

    reward: list[SlotReward]


class ServiceConfiguration(Struct, rename="camel", omit_defaults=True):
    """The settings of a loop. Durations are `00:10:00` in version 1.0, later `PT10M`."""

    reward_wait_time: str
    default_reward: float
    reward_aggregation: str
    exploration_percentage: float
    model_export_frequency: str
    log_retention_days: int
    model_retrain_days: int | None = None
    learning_mode: str | None = None
    log_mirror_enabled: bool | None = None
    log_mirror_sas_uri: str | None = None
    is_auto_optimization_enabled: bool | None = None
    auto_optimization_frequency: str | None = None
    auto_optimization_start_date: str | None = None
    last_configuration_edit_date: str | None = None
    latest_apprentice_mode_metrics: dict[str, Any] | None = None


class LearningSettings(Struct):
    """The policy: options of VW, or the text of a policy of giro."""

    name: Word
    arguments: Annotated[str, Meta(min_length=1, max_length=1024)]


class ModelProperties(Struct, rename="camel"):
    """When the model was made, and when it learned last."""

    creation_time: str
    last_modified_time: str


class LogsProperties(Struct, rename="camel"):
    """The time between the first and the last event."""

    date_range: dict[str, str]


class OfflineEvaluation(Struct, rename="camel"):
    """Learning settings to judge by the log of a time."""

    name: Word
    start_time: str
    end_time: str
    policies: list[LearningSettings] | None = None


class PolicyOfEvaluation(Struct, rename="camel"):
    """Learning settings that an evaluation judged."""

    evaluation_id: Word
    policy_name: Word


class Failing(Struct):
    """A code of Personalizer, and a sentence."""

    code: str
    message: str


class Failure(Struct):
    """What is wrong with a request."""

    error: Failing
