"""OpenFeature's remote evaluation protocol (OFREP 0.3): a bandit is a flag, and an arm a variant.

Programs read a flag many times for one visitor, so a decision stays for a while: it is remembered
under the visitor's targetingKey, and others get it without an event. Each decision begins deferred.
Of those that are made at the same moment, for the same visitor, the one that is remembered first
counts, and only that one may enter the log.

Who reads one flag shows it, and then its decision is in the log. Who reads all flags may show none,
so those decisions stay deferred until one is rewarded, activated or read alone.
"""

import hashlib
import http
import time
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType
from starlette.routing import Route

from giro import Ask
from giro.service.api import gathered
from giro.service.bandits import Running
from giro.service.endpoint import Answer, Call, Door, Endpoint, route
from giro.service.errors import Problem
from giro.service.service import DAY, Service

_TARGETING_KEY = "targetingKey"
_LONGEST = 1024  # characters of a targetingKey
_KNOWN = 100_000  # decisions that this process remembers as being in the log


class Evaluation(Struct):
    """A request: all that is known about a visitor, with the targetingKey among it."""

    context: dict[str, Any] | None = None


class Flag(Struct, omit_defaults=True):
    """The value of a flag, or why it has none. Then the program takes its default."""

    key: str
    reason: str | UnsetType = UNSET
    variant: str | UnsetType = UNSET
    value: Any = UNSET
    metadata: dict[str, str | float] | UnsetType = UNSET
    errorCode: str | UnsetType = UNSET  # noqa: N815  # the protocol's name
    errorDetails: str | UnsetType = UNSET  # noqa: N815


class Flags(Struct):
    """All flags."""

    flags: list[Flag]


class FlagFailure(Struct, omit_defaults=True):
    """Why there is no answer."""

    errorCode: str  # noqa: N815  # the protocol's name
    errorDetails: str  # noqa: N815
    key: str | UnsetType = UNSET


class Sticky(Struct):
    """A decision as it is remembered for a visitor."""

    id: str
    arm: str
    propensity: float | None
    text: str  # with which it enters the log
    until: float  # seconds since 1970; rewards may come later


class _NoTargetingKey(Problem):
    """A request that does not say for whom."""

    def __init__(self) -> None:
        super().__init__(400, "the context needs a targetingKey: a text that stands for a visitor")


def _written(problem: Problem) -> Answer:
    """Return a problem that is none of a flag's."""
    details = {"errorCode": _code(problem), "errorDetails": problem.detail}
    status = 400 if problem.status == http.HTTPStatus.UNPROCESSABLE_ENTITY else problem.status
    return Answer(details, status, problem.headers)


DOOR = Door(_written, FlagFailure)


class _FlagEndpoint(Endpoint):
    """An endpoint of one flag, which its refusals name."""

    def refusal(self, problem: Problem, path: Mapping[str, Any]) -> Answer:
        answer = super().refusal(problem, path)
        return answer._replace(content={"key": path["key"], **answer.content})


def routes(service: Service) -> list[Route]:
    """Return the routes of this protocol."""
    flags, path = _Flags(service), "/ofrep/v1/evaluate/flags"
    more: dict[str, Any] = {"body": Evaluation, "door": DOOR}
    one = _FlagEndpoint(service, flags.evaluate, answer=Flag, **more)
    each = Endpoint(service, flags.evaluate_all, answer=Flags, **more)
    return [route("POST", f"{path}/{{key:path}}", one), route("POST", path, each)]


class _Flags:
    """The handlers."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._logged: set[str] = set()  # decisions

    async def evaluate(self, call: Call) -> Flag:
        """Choose the value of a flag, or return the one that the visitor has.

        The decision is in the log then. The metadata have its id, for rewards, and its propensity.
        """
        running = await self._service.bandit(call.path["key"], call.key, "decide")
        if running.bandit.setting["open_arms"]:
            raise Problem(404, f"'{running.name}' is no flag: its arms come with each decision")
        if running.about.retired:
            return _disabled(running)
        visitor, context = _visitor(call.body)
        decision = await self._decision(running, visitor, context, is_shown=True)
        if decision.id not in self._logged:
            await running.activate(decision.text)
            if len(self._logged) >= _KNOWN:
                self._logged.clear()
            self._logged.add(decision.id)
        return _flag(running, decision)

    async def evaluate_all(self, call: Call) -> Answer:
        """Choose the values of all flags that the key may decide. They count when they are used.

        A decision counts from its reward on, or when it is activated or the flag is read alone.
        """
        call.key.check("decide")
        visitor, context = _visitor(call.body)
        names = [n for n in await self._service.bandits.names() if call.key.may("decide", n)]
        most = self._service.settings.limits.batch
        if len(names) > most:
            raise Problem(422, f"{len(names)} flags are more than {most}: use a key for fewer")
        answers = await gathered(
            [self._read(name, visitor, context) for name in names], lambda p: p
        )
        flags = [
            Flag(name, errorCode=_code(flag), errorDetails=flag.detail)
            if isinstance(flag, Problem)
            else flag
            for name, flag in zip(names, answers, strict=True)
            if flag is not None
        ]
        body = msgspec.json.encode(Flags(flags))
        headers = {"etag": f'"{hashlib.sha256(body).hexdigest()[:32]}"'}
        if headers["etag"] in call.headers.get("if-none-match", ""):
            return Answer(None, http.HTTPStatus.NOT_MODIFIED, headers)
        return Answer(body, headers=headers)

    async def _read(self, name: str, visitor: str, context: Mapping[str, Any]) -> Flag | None:
        """Return a flag that may not be shown, None for a bandit that is no flag."""
        running = await self._service.bandits.get(name)
        if running.bandit.setting["open_arms"]:
            return None
        if running.about.retired:
            return _disabled(running)
        return _flag(running, await self._decision(running, visitor, context, is_shown=False))

    async def _decision(
        self, running: Running, visitor: str, context: Mapping[str, Any], *, is_shown: bool
    ) -> Sticky:
        """Return the decision that the visitor has, or a new one.

        Whoever else makes one at the same moment, in any process, gets the same.
        """
        service, sticky = self._service, running.about.sticky
        while True:
            record = await service.stuck(running.name, visitor)
            if record is not None:
                known = msgspec.convert(record.value, Sticky)
                if known.until > time.time() and known.arm in running.bandit.arms:
                    return known
            ask = Ask(context, deferred=True)
            deciding = (
                running.decide(ask) if is_shown else service.decide(running, ask, activates=True)
            )
            (new,) = await deciding
            own = Sticky(new.id, new.arm, new.propensity, new.text, time.time() + sticky)
            seconds = max(sticky, running.bandit.setting["reward_wait"] or DAY)
            value, version = msgspec.to_builtins(own), 0 if record is None else record.version
            if await service.stick(running.name, visitor, value, seconds=seconds, expected=version):
                return own


def _visitor(asked: Evaluation) -> tuple[str, dict[str, Any]]:
    """Return the targetingKey, and the rest of the context."""
    context = dict(asked.context or {})
    visitor = context.pop(_TARGETING_KEY, None)
    if visitor is None or visitor == "":
        raise _NoTargetingKey
    if not isinstance(visitor, str) or len(visitor) > _LONGEST:
        raise Problem(422, f"a targetingKey is a text of at most {_LONGEST} characters")
    return visitor, context


def _flag(running: Running, decision: Sticky) -> Flag:
    payloads, arm = running.about.payloads, decision.arm
    metadata: dict[str, str | float] = {"decision": decision.id}
    if decision.propensity is not None:
        metadata["propensity"] = decision.propensity
    value = arm if payloads is None else payloads.get(arm, UNSET)
    return Flag(running.name, "SPLIT", arm, value, metadata)


def _disabled(running: Running) -> Flag:
    """Return a flag without a value. One client fails if there is no variant."""
    return Flag(running.name, "DISABLED", "")


def _code(problem: Problem) -> str:
    """Return the protocol's word for a problem."""
    if isinstance(problem, _NoTargetingKey):
        return "TARGETING_KEY_MISSING"
    codes = {400: "PARSE_ERROR", 404: "FLAG_NOT_FOUND", 422: "INVALID_CONTEXT"}
    return codes.get(problem.status, "GENERAL")
