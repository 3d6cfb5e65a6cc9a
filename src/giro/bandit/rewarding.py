"""From reports to events: rewards that are new, that repeat others or that contradict them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from giro.bandit.event import Decided, Reported, Rewarded
from giro.bandit.stores import Store, Taken, check_ids
from giro.errors import BadParameter, Contradiction, GiroError, UnknownDecision
from giro.named import text_of

if TYPE_CHECKING:
    from giro.bandit.follower import Follower
    from giro.bandit.setting import Setting
    from giro.bandit.stores.store import FoundDecision

Report: TypeAlias = Reported | Rewarded
GivenReward: TypeAlias = tuple[str, float] | tuple[str, float, str | None]
"""The id of a decision, a value, and a name if the report has one."""


def append_reports(given: Sequence[GivenReward], follower: "Follower") -> None:
    """Append the reports of these values for decisions, all or none."""
    setting = follower.state.setting
    events = reports(given, setting, follower.clock())
    while events:
        try:
            return follower.append(events)
        except Taken:
            decisions = follower.store.find([event.id for event in events])
            events = still_wanted(events, decisions, setting, follower.store)


def report_each(given: Sequence[GivenReward], follower: "Follower") -> list[GiroError | None]:
    """Append reports of many callers together, and return the error of each or None."""
    setting, now = follower.state.setting, follower.clock()
    answers: list[GiroError | None] = [None] * len(given)
    left: dict[int, Report] = {}
    for number, each in enumerate(given):
        try:
            (left[number],) = reports([each], setting, now)
        except GiroError as error:
            answers[number] = error
    while left:
        group = _of_each_once(left)
        try:
            follower.append(list(group.values()))
            left = {number: left[number] for number in left.keys() - group.keys()}
        except Taken:
            decisions = follower.store.find([event.id for event in left.values()])
            for number, event in sorted(left.items()):
                try:
                    is_wanted = bool(still_wanted([event], decisions, setting, follower.store))
                except GiroError as error:
                    answers[number], is_wanted = error, False
                if not is_wanted:
                    del left[number]
    return answers


def _of_each_once(events: Mapping[int, Report]) -> dict[int, Report]:
    """Return the first reward of each decision and the first report of each name, and the rest."""
    first = {_key(event, number): number for number, event in sorted(events.items(), reverse=True)}
    return {number: events[number] for number in sorted(first.values())}


def _key(event: Report, number: int) -> tuple[str, str | int]:
    """Return a key that is the same for two events of which only one can be in the log."""
    if isinstance(event, Rewarded):
        return event.id, ""
    return event.id, event.name or number


def reports(given: Sequence[GivenReward], setting: "Setting", now: float) -> list[Report]:
    """Return the events that report these values, each reward and each named report once."""
    if len(given) == 1:
        return [_report(given[0], setting, now)]
    events = dict[tuple[str, str | int], Report]()
    for number, each in enumerate(given):
        event = _report(each, setting, now)
        first = events.setdefault(_key(event, number), event)
        if first.value != event.value and setting.reward_aggregation != "first":
            raise BadParameter(f"two different rewards for the decision '{event.id}'")
    return list(events.values())


def _report(given: GivenReward, setting: "Setting", now: float) -> Report:
    """Return the event that reports a value. Only where reports are collected has it a name."""
    id, value = given[:2]
    name = given[2] if len(given) > 2 else None
    checked = setting.checked_reward(value)
    if not isinstance(id, str):
        raise UnknownDecision(id)
    if name is not None:
        check_ids([name])
    return (
        Reported(id, now, checked, name or "")
        if setting.collects_reports
        else Rewarded(id, now, checked)
    )


def still_wanted(
    events: Sequence[Report],
    decisions: Mapping[str, "FoundDecision"],
    setting: "Setting",
    store: Store,
) -> list[Report]:
    """Return the reports of decisions that wait, after checking that the others repeat rewards."""
    wanted = []
    for event in events:
        decision = decisions.get(event.id)
        if decision is None:
            raise UnknownDecision(event.id)
        reward = decision.reward
        if isinstance(event, Reported) and event.name and _is_there(event, store):
            continue
        if reward is None:
            wanted.append(event)
            continue
        counts_first = setting.reward_aggregation == "first" and not reward.expired
        if isinstance(event, Rewarded) and (counts_first or reward.value == event.value):
            continue
        since = " since it expired" if reward.expired else ""
        raise Contradiction(
            f"decision '{event.id}' already has the reward {text_of(reward.value)}{since}, "
            f"got {text_of(event.value)}",
            is_late=reward.expired,
        )
    return wanted


def _is_there(event: Reported, store: Store) -> bool:
    """Return whether the log has this report, after checking that it has the same value there."""
    for other in store.reports(event.id):
        if other.name == event.name:
            if other.value != event.value:
                raise Contradiction(
                    f"the report '{event.name}' of decision '{event.id}' already has the value "
                    f"{text_of(other.value)}, got {text_of(event.value)}"
                )
            return True
    return False


def settled(due: Sequence[Decided], setting: "Setting", store: Store, now: float) -> list[Rewarded]:
    """Return the rewards of decisions whose waiting is over: their reports, or the default."""
    rewards = []
    for decision in due:
        reports = store.reports(decision.id) if setting.collects_reports else []
        values = [report.value for report in reports]
        rewards.append(Rewarded(decision.id, now, setting.aggregated(values), not values))
    return rewards
