"""The bodies of the own API: requests and answers."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from giro.service.about import About, checked_payloads

Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100)]
Id = Annotated[str, Meta(min_length=1, max_length=256)]
Features = dict[str, Any] | list[float | None]
Arms = list[str] | dict[str, Features | None]


class NewBandit(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """Every parameter of `giro.Bandit` that is plain data, and settings of the service."""

    name: Name
    arms: list[str] | None = None
    policy: str = "default"
    seed: int | UnsetType = UNSET
    reward_range: tuple[float, float] | UnsetType = UNSET
    rounds: int | UnsetType | None = UNSET
    propensities: bool | UnsetType = UNSET
    votes: int | UnsetType | None = UNSET
    floor: float | UnsetType | None = UNSET
    features: dict[str, str | int | list[str]] | UnsetType | None = UNSET
    interactions: list[str] | UnsetType | None = UNSET
    max_columns: int | UnsetType = UNSET
    standardise: bool | UnsetType = UNSET
    first_decisions: int | UnsetType | None = UNSET
    share: float | UnsetType = UNSET
    reward_wait: float | UnsetType | None = UNSET
    default_reward: float | UnsetType | None = UNSET
    reward_aggregation: str | UnsetType = UNSET
    payloads: dict[str, Any] | None = None
    sticky: Annotated[float, Meta(gt=0)] = 1800.0

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of `giro.Bandit` that are given, without the name."""
        own = {"name", "payloads", "sticky"}
        given = msgspec.structs.asdict(self).items()
        return {key: value for key, value in given if key not in own and value is not UNSET}

    def about(self) -> About:
        """Return the settings of the service."""
        payloads = None if self.payloads is None else checked_payloads(self.payloads, self.arms)
        return About(payloads=payloads, sticky=self.sticky)


class BanditInfo(Struct):
    """A bandit: its setting, and counts."""

    name: str
    arms: list[str]
    setting: dict[str, Any]
    decisions: int
    rewards: int
    position: int
    ready: bool
    retired: bool
    payloads: dict[str, Any] | None
    sticky: float


class BanditList(Struct):
    """The names of bandits that the key may read."""

    bandits: list[str]


class DecisionRequest(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """A request for a decision."""

    context: Features | None = None
    arms: Arms | None = None
    id: Id | None = None
    baseline: str | None = None
    deferred: bool = False
    taken: str | None = None


class DecisionAnswer(Struct):
    """A decision. `propensities` is null where only the one of the arm is known."""

    id: str
    arm: str
    propensity: float | None
    propensities: dict[str, float] | None


class ProblemAnswer(Struct):
    """A problem, as RFC 9457 has it."""

    title: str
    status: int
    detail: str
    type: str = "about:blank"


class BatchAnswer(Struct, omit_defaults=True):
    """The decision on one request of a list, or the problem with it."""

    decision: DecisionAnswer | None = None
    problem: ProblemAnswer | None = None


class RankingRequest(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """A request for a ranking: a number of slots, or their features."""

    slots: Annotated[int, Meta(ge=1)] | list[dict[str, Any]]
    context: Features | None = None
    arms: Arms | None = None
    id: Id | None = None
    deferred: bool = False


class RankingAnswer(Struct):
    """A decision for each slot."""

    decisions: list[DecisionAnswer]


class RewardRequest(Struct, forbid_unknown_fields=True):
    """The reward of the decision in the path. Sent again under its name `report` it counts once."""

    value: float
    report: Id | None = None


class RewardById(Struct, forbid_unknown_fields=True):
    """The reward of a decision. Sent again under its name `report` it counts once."""

    id: Id
    value: float
    report: Id | None = None


class PageRequest(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """Decisions and rewards of a page. The key names the bandit."""

    key: str
    decisions: list[DecisionRequest] = []
    rewards: list[RewardById] = []


class RewardByTargetingKey(
    Struct, forbid_unknown_fields=True, rename={"targeting_key": "targetingKey"}
):
    """The reward of the newest decision for a targetingKey."""

    targeting_key: Annotated[str, Meta(min_length=1, max_length=1024)]
    value: float


class Outcome(Struct):
    """Whether a reward of a list was taken, and why not."""

    status: int
    detail: str = ""


class PageAnswer(Struct):
    """The decision on each request or its problem, and whether each reward was taken."""

    decisions: list[BatchAnswer]
    rewards: list[Outcome]


class NewArm(Struct, forbid_unknown_fields=True):
    """The name of an arm to add, and its payload if those of the bandit have one."""

    arm: Annotated[str, Meta(min_length=1)]
    payload: Any = UNSET


class ArmSummary(Struct):
    """The decisions and rewards of an arm, with a 95 % interval of the mean."""

    arm: str
    active: bool
    decisions: int
    rewards: int
    mean: float | None
    low: float | None
    high: float | None
    last_day: float | None


class AlarmAnswer(Struct):
    """A sign that something is wrong with a bandit, and the way out."""

    kind: str
    text: str


class Summary(Struct):
    """The decisions and rewards of a bandit."""

    decisions: int
    rewards: int
    waiting: int
    ready: bool
    lag: int
    alarms: list[AlarmAnswer]
    arms: list[ArmSummary]


class EvaluationRequest(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """A policy to judge by the log of a bandit, and how: see `giro.evaluate`."""

    policy: Annotated[str, Meta(min_length=1)]
    estimators: list[str] | UnsetType = UNSET
    level: float | UnsetType = UNSET
    interval: str | UnsetType = UNSET
    clip: float | UnsetType | None = UNSET
    votes: int | UnsetType = UNSET
    seed: int | UnsetType = UNSET


class EvaluationAnswer(Struct):
    """An evaluation: running, done with rows, or failed."""

    id: str
    status: str
    policy: str
    created: float
    rows: list[dict[str, Any]] = []
    detail: str = ""


class EvaluationList(Struct):
    """The evaluations of a bandit."""

    evaluations: list[EvaluationAnswer]


class Erasure(Struct, forbid_unknown_fields=True):
    """The decisions to erase."""

    ids: list[Id]


class Erased(Struct):
    """The number of events that are gone."""

    events: int


class Status(Struct):
    """Whether the service lives, or is ready."""

    status: str
