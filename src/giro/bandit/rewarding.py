"""From reports to events: rewards that are new, that repeat others or that contradict them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from giro.bandit.event import Decided, Reported, Rewarded
from giro.bandit.stores import Store, Taken
from giro.errors import BadParameter, Contradiction, GiroError, UnknownDecision
from giro.named import text_of

if TYPE_CHECKING:
    from giro.bandit.follower import Follower
    from giro.bandit.setting import Setting
    from giro.bandit.stores.store import FoundDecision

Report: TypeAlias = Reported | Rewarded


def report(pairs: Sequence[tuple[str, float]], follower: "Follower") -> None:
    """Append the reports of these values for decisions, all or none."""
    setting = follower.state.setting
    events = reports(pairs, setting, follower.clock())
    while events:
        try:
            return follower.append(events)
        except Taken:
            decisions = follower.store.find([event.id for event in events])
            events = still_wanted(events, decisions, setting)


def report_each(pairs: Sequence[tuple[str, float]], follower: "Follower") -> list[GiroError | None]:
    """Append reports of many callers together, and return the error of each or None."""
    setting, now = follower.state.setting, follower.clock()
    answers: list[GiroError | None] = [None] * len(pairs)
    left: dict[int, Report] = {}
    for number, pair in enumerate(pairs):
        try:
            (left[number],) = reports([pair], setting, now)
        except GiroError as error:
            answers[number] = error
    while left:
        group = left if setting.collects_reports else _of_each_once(left)
        try:
            follower.append(list(group.values()))
            left = {number: left[number] for number in left.keys() - group.keys()}
        except Taken:
            decisions = follower.store.find([event.id for event in left.values()])
            for number, event in sorted(left.items()):
                try:
                    is_wanted = bool(still_wanted([event], decisions, setting))
                except GiroError as error:
                    answers[number], is_wanted = error, False
                if not is_wanted:
                    del left[number]
    return answers


def _of_each_once(events: Mapping[int, Report]) -> dict[int, Report]:
    """Return the first report about each decision."""
    first = {event.id: number for number, event in sorted(events.items(), reverse=True)}
    return {number: events[number] for number in sorted(first.values())}


def reports(pairs: Sequence[tuple[str, float]], setting: "Setting", now: float) -> list[Report]:
    """Return the events that report these values for decisions, each decision's reward once."""
    if len(pairs) == 1 and not setting.collects_reports and isinstance(pairs[0][0], str):
        ((id, value),) = pairs
        return [Rewarded(id, now, setting.checked_reward(value))]
    events, values = list[Report](), dict[str, float]()
    for id, value in pairs:
        checked = setting.checked_reward(value)
        if not isinstance(id, str):
            raise UnknownDecision(id)
        if setting.collects_reports:
            events.append(Reported(id, now, checked))
        elif id not in values:
            events.append(Rewarded(id, now, checked))
            values[id] = checked
        elif values[id] != checked and setting.reward_aggregation == "only":
            raise BadParameter(f"two different rewards for the decision '{id}'")
    return events


def still_wanted(
    events: Sequence[Report], decisions: Mapping[str, "FoundDecision"], setting: "Setting"
) -> list[Report]:
    """Return the reports of decisions that wait, after checking that the others repeat rewards."""
    wanted = []
    for event in events:
        decision = decisions.get(event.id)
        if decision is None:
            raise UnknownDecision(event.id)
        reward = decision.reward
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


def settled(due: Sequence[Decided], setting: "Setting", store: Store, now: float) -> list[Rewarded]:
    """Return the rewards of decisions whose waiting is over: their reports, or the default."""
    rewards = []
    for decision in due:
        values = store.reports(decision.id) if setting.collects_reports else []
        rewards.append(Rewarded(decision.id, now, setting.aggregated(values), not values))
    return rewards
