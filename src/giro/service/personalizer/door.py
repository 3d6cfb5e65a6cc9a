"""The door: Personalizer's paths, and the requests that decide and reward."""

import contextlib
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from starlette.routing import Route

from giro import Ask, Contradiction, Decision, Slot, UnknownDecision
from giro.service.bandits import Running
from giro.service.endpoint import Call, Endpoint, Handler, route
from giro.service.personalizer import messages as m
from giro.service.personalizer.configuration import Configuration
from giro.service.personalizer.evaluations import Judging
from giro.service.personalizer.history import History
from giro.service.personalizer.loop import Refusal, door_with, loop_of
from giro.service.service import Service

_MOST = 50  # actions, and slots
VERSIONS = ("v1.0", "v1.1", "v1.1-preview.1", "v1.1-preview.2", "v1.1-preview.3")
_VERSION = f"(?:/+(?P<version>{'|'.join(map(re.escape, VERSIONS))}))?"
_RANK, _REWARD, _ACTIVATE = "InvalidRankRequest", "InvalidRewardRequest", "InvalidEventIdToActivate"


def routes(service: Service) -> list[Route]:
    """Return the routes of this API, those that are asked most often first."""
    deciding, settings, history = _Deciding(service), Configuration(service), History(service)
    event, of_slots = "/events/{id:path}", "/multislot/events/{id:path}"
    config, policy = "/configurations/service", "/configurations/policy"
    whole = m.ServiceConfiguration
    at = _routes_of(service)
    return [
        at("POST", "/rank", deciding.rank, _RANK, body=m.RankRequest, answer=m.RankAnswer),
        at("POST", f"{event}/reward", deciding.reward, _REWARD, body=m.EventReward),
        at("POST", f"{event}/activate", deciding.activate, _ACTIVATE),
        at(
            "POST",
            "/multislot/rank",
            deciding.rank_slots,
            _RANK,
            body=m.SlotsRequest,
            answer=m.SlotsAnswer,
        ),
        at(
            "POST",
            f"{of_slots}/reward",
            deciding.reward_slots,
            _REWARD,
            body=m.SlotsRewardRequest,
        ),
        at("POST", f"{of_slots}/activate", deciding.activate, _ACTIVATE),
        at("GET", config, settings.show, "InvalidServiceConfiguration", answer=whole),
        at("PUT", config, settings.put, "InvalidServiceConfiguration", body=whole, answer=whole),
        *(
            at(method, policy, handler, "InvalidPolicyConfiguration", **more)
            for method, handler, more in (
                ("GET", settings.show_policy, {"answer": m.LearningSettings}),
                (
                    "PUT",
                    settings.put_policy,
                    {"body": m.LearningSettings, "answer": m.LearningSettings},
                ),
                ("DELETE", settings.reset_policy, {"answer": m.LearningSettings}),
            )
        ),
        at("GET", "/model", history.model, "ModelRankingError", answer=bytes),
        at("PUT", "/model", history.put_model, "InvalidModelImportFormat", body=bytes),
        at("DELETE", "/model", history.reset_model, "ModelResetFailed"),
        at("GET", "/model/properties", history.model_properties, "", answer=m.ModelProperties),
        at("GET", "/logs/properties", history.logs_properties, "", answer=m.LogsProperties),
        at("DELETE", "/logs", history.delete_logs, "OperationNotAllowed"),
        *_judging(at, Judging(service, settings)),
    ]


def _judging(at: Callable[..., Route], judging: Judging) -> Iterator[Route]:
    """Yield the routes of evaluations."""
    all_of, code = "/evaluations", "InvalidEvaluationContract"
    one, asked, shown = f"{all_of}/{{id}}", {"body": m.OfflineEvaluation}, dict[str, Any]
    yield at("GET", all_of, judging.list, code, answer=dict[str, Any] | list[dict[str, Any]])
    yield at("POST", all_of, judging.create, code, answer=shown, **asked)
    yield at("PUT", one, judging.put, code, status=200, **asked)
    yield at("GET", one, judging.show, code, answer=shown)
    yield at("DELETE", one, judging.delete, code)
    apply = "/configurations/applyFromEvaluation"
    yield at("POST", apply, judging.apply, "InvalidPolicyConfiguration", body=m.PolicyOfEvaluation)


def _routes_of(service: Service) -> Callable[..., Route]:
    def at(method: str, path: str, handler: Handler, code: str, **more: Any) -> Route:
        makes = method == "POST" and (path.endswith("rank") or path == "/evaluations")
        status = 201 if makes else 200 if "answer" in more else 204
        version = {"in": "path", "required": True, "schema": {"type": "string", "enum": VERSIONS}}
        more = {
            "status": status,
            **more,
            "door": door_with(code),
            "parameters": {"version": version},
        }
        endpoint = Endpoint(service, handler, **more)
        made = route(method, f"/personalizer/{{version}}{path}", endpoint)
        inner = re.escape(path).replace(r"\{id:path\}", "(?P<id>.+)")
        inner = inner.replace(r"\{id\}", "(?P<id>[^/]+)")
        made.path_regex = re.compile(f"^/+personalizer{_VERSION}/+{inner.lstrip('/')}$")
        return made

    return at


class _Deciding:
    """The handlers of requests that decide, reward and activate."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def _loop(self, call: Call, scope: str) -> Running:
        return await loop_of(self._service, call, scope)

    async def rank(self, call: Call) -> m.RankAnswer:
        """Choose an action.

        The same event id and request get the same answer.
        """
        asked: m.RankRequest = call.body
        _check_actions(asked.actions)
        excluded = set(asked.excluded_actions or ())
        arms = {a.id: features_of(a.features) for a in asked.actions if a.id not in excluded}
        if not arms:
            raise Refusal(_RANK, "all actions are excluded: leave at least one")
        running = await self._loop(call, "decide")
        context, is_deferred = features_of(asked.context_features), bool(asked.defer_activation)
        ask = Ask(context, arms, asked.event_id or None, deferred=is_deferred)
        (decision,) = await self._service.decide(running, ask)
        return m.RankAnswer(_ranking(asked.actions, decision), decision.id, decision.arm)

    async def reward(self, call: Call) -> None:
        """Report the reward of an event.

        Rewards that come late or again, or of events that nobody knows, are counted and change
        nothing.
        """
        running = await self._loop(call, "reward")
        await self._reward(running, call.path["id"], call.body.value)

    async def _reward(self, running: Running, id: str, value: float) -> None:
        with contextlib.suppress(UnknownDecision, Contradiction):  # the service counts them
            await self._service.reward_in(running, id, value)

    async def activate(self, call: Call) -> None:
        """Make a deferred event count, with the rewards that it got.

        Others stay as they are.
        """
        running = await self._loop(call, "reward")
        with contextlib.suppress(UnknownDecision, Contradiction):  # its time is over
            await self._service.activate_in(running, call.path["id"])

    async def rank_slots(self, call: Call) -> m.SlotsAnswer:
        """Choose an action for each slot, none of them twice."""
        asked: m.SlotsRequest = call.body
        _check_actions(asked.actions)
        check_slots(asked)
        running = await self._loop(call, "decide")
        ask = Ask(
            features_of(asked.context_features),
            {action.id: features_of(action.features) for action in asked.actions},
            asked.event_id or str(uuid.uuid4()),
            slots=slots_of(asked.slots),
            deferred=bool(asked.defer_activation),
        )
        decisions = await self._service.decide(running, ask)
        pairs = zip(asked.slots, decisions, strict=True)
        slots = [m.FilledSlot(slot.id, decision.arm) for slot, decision in pairs]
        return m.SlotsAnswer(slots, str(ask.id))

    async def reward_slots(self, call: Call) -> None:
        """Report the rewards of slots, in one call or several."""
        running = await self._loop(call, "reward")
        for each in call.body.reward:
            await self._reward(running, f"{call.path['id']}/{each.slot_id}", each.value)


def features_of(given: m.Features) -> dict[str, Any]:
    """Return a list of objects as one mapping. What has the same name is a list there.

    >>> features_of([{"taste": "salty", "price": None}, {"taste": "hot"}])
    {'taste': ['salty', 'hot'], 'price': 'null'}
    """
    features: dict[str, Any] = {}
    for each in given or ():
        for name, value in each.items():
            plain = value if type(value) is str else _without_null(value)
            if name not in features:
                features[name] = plain
            elif isinstance(features[name], list):
                features[name].append(plain)
            else:
                features[name] = [features[name], plain]
    return features


def _without_null(value: Any) -> Any:
    """Return a value with the word null in the place of nothing."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return {name: _without_null(part) for name, part in value.items()}
    return [_without_null(part) for part in value] if isinstance(value, list) else value


def _check_actions(actions: Sequence[m.Action]) -> None:
    if not 1 <= len(actions) <= _MOST:
        raise Refusal(_RANK, f"a request has 1 to {_MOST} actions, got {len(actions)}")
    if len({action.id for action in actions}) < len(actions):
        raise Refusal(_RANK, "two actions have the same id")


def _ranking(actions: Sequence[m.Action], decision: Decision) -> list[m.RankedAction]:
    """Return the chosen action, then the others by probability, and excluded ones at their places.

    >>> from types import SimpleNamespace
    >>> chances = {"b": 0.1, "c": 0.1, "d": 0.8}
    >>> chosen = SimpleNamespace(arm="c", arms="bcd", propensities=chances, propensity=0.1)
    >>> [each.id for each in _ranking([m.Action(word) for word in "abcd"], chosen)]
    ['a', 'c', 'd', 'b']
    """
    chances: dict[str, float | None] = {decision.arm: decision.propensity}
    chances |= decision.propensities or {}
    on_offer = set(decision.arms)
    others = [each.id for each in actions if each.id in on_offer and each.id != decision.arm]
    others.sort(key=lambda id: -(chances.get(id) or 0.0))
    order = iter([decision.arm, *others])
    return [
        m.RankedAction(id, chances.get(id)) if id in on_offer else m.RankedAction(id, 0.0)
        for id in (next(order) if each.id in on_offer else each.id for each in actions)
    ]


def check_slots(asked: m.SlotsRequest) -> None:
    """Check that each slot can be filled, and has a baseline of its own."""
    actions, slots = {action.id for action in asked.actions}, asked.slots
    if not 1 <= len(slots) <= _MOST:
        raise Refusal(_RANK, f"a request has 1 to {_MOST} slots, got {len(slots)}")
    if len(slots) > len(actions):
        raise Refusal(_RANK, f"there are {len(slots)} slots for {len(actions)} actions")
    if len({slot.id for slot in slots}) < len(slots):
        raise Refusal(_RANK, "two slots have the same id")
    baselines = [slot.baseline_action for slot in slots]
    if len(set(baselines)) < len(slots):
        raise Refusal(_RANK, "two slots have the same baselineAction")
    for slot in slots:
        if slot.baseline_action not in actions:
            raise Refusal(_RANK, f"the baselineAction of slot '{slot.id}' is not an action")
        if slot.baseline_action in (slot.excluded_actions or ()):
            raise Refusal(_RANK, f"slot '{slot.id}' excludes its baselineAction")


def slots_of(slots: Sequence[m.SlotRequest]) -> list[Slot]:
    """Return the slots of a ranking.

    A slot that excludes actions may be left with its baseline only. So that is kept for it, and the
    slots before do not get it: then every slot can be filled.
    """
    result = []
    for number, slot in enumerate(slots):
        later = [each.baseline_action for each in slots[number + 1 :] if each.excluded_actions]
        features = {"slot": features_of(slot.features)} if slot.features else None
        excluded = sorted({*(slot.excluded_actions or ()), *later})
        result.append(Slot(slot.id, features, excluded, slot.baseline_action))
    return result
