"""Steps: the work of a client, call by call, the same for the one that waits and its twin.

Each method is a generator. It yields what is to be done and gets the result, so that nothing here
depends on how. Whoever plays the steps sends requests, sleeps, and calls functions that may wait
for a disk.
"""

import json
import logging
import math
import os
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar
from urllib.parse import quote

from giro.checks import is_word
from giro.client.answers import (
    BUSY,
    SUCCESS,
    Decision,
    Reply,
    content_of,
    decision_of,
    error_of,
)
from giro.client.breaker import Breaker, jitter
from giro.client.waiting import DECISION, REWARD, Item, Waiting
from giro.errors import BadParameter, GiroError, ServiceError, StoreError

_LOGGER = logging.getLogger("giro.client")
_GROUP = 200  # items that are sent together
_PAUSE = 0.05  # seconds before the first retry; twice as many before the next
_LONGEST_PREFIX = 200  # characters of a name that ids can begin with: they have 256 at most
_REFUSED_KEY = 30.0  # seconds until a key that was refused is tried again
_TASTES = (0.1, 2.0)  # seconds between looks at an evaluation: at first, and later
T = TypeVar("T")


class Send(NamedTuple):
    """A request to send. The answer is a `Reply`, or the error `Lost`."""

    method: str
    path: str
    body: bytes | None
    seconds: float


class Pause(NamedTuple):
    """Seconds to wait."""

    seconds: float


class Do(NamedTuple):
    """A function to call that may wait for a disk."""

    function: Callable[[], Any]


Steps: TypeAlias = Generator[Send | Pause | Do, Any, T]


class Lost(Exception):
    """A request got no answer. If it `was_sent`, the service may have acted on it."""

    def __init__(self, why: str, *, was_sent: bool) -> None:
        """Say why."""
        super().__init__(why)
        self.was_sent = was_sent


class _Away(ServiceError):
    """A service that does not answer now. `may_have` heard the request."""

    def __init__(self, message: str, *, may_have: bool, status: int | None = None) -> None:
        super().__init__(message, status=status)
        self.may_have = may_have


class Ask(NamedTuple):
    """A request for a decision."""

    id: str
    context: Any
    arms: Any
    baseline: str | None

    def body(self, **more: Any) -> dict[str, Any]:
        """Return it as the service wants it."""
        arms = self.arms if self.arms is None or isinstance(self.arms, Mapping) else list(self.arms)
        plain = {
            "id": self.id,
            "context": self.context,
            "arms": arms,
            "baseline": self.baseline,
            **more,
        }
        given = {name: value for name, value in plain.items() if value is not None}
        return dict(json.loads(encoded(given)))

    @property
    def first_arm(self) -> str | None:
        """The arm to take where nobody can be asked."""
        return self.baseline if self.baseline is not None else next(iter(self.arms or ()), None)


class Script:
    """All that a client does with a service at `url`."""

    def __init__(
        self, url: str, waiting: Waiting, *, timeout: float, patience: float, retries: int
    ) -> None:
        """Take how long decisions and rewards (`timeout`) and all else (`patience`) may last."""
        self.url, self.waiting, self.breaker = url, waiting, Breaker()
        self._timeout, self._patience, self._retries = timeout, patience, retries
        self.wake: Callable[[], None] = lambda: None  # tells whoever plays `tend` to look

    # -- requests ----------------------------------------------------------------------------

    def exchange(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        seconds: float | None = None,
        repeats: bool = True,
    ) -> Steps[Reply]:
        """Return the answer to a request. It is sent again if that helps.

        If it cannot be repeated (`repeats`), only where the service has not heard it.
        """
        content = None if body is None else encoded(body)
        seconds = self._patience if seconds is None else seconds
        until, pause, may_have = time.monotonic() + seconds, _PAUSE, False
        for left in range(self._retries, -1, -1):
            try:
                reply: Reply = yield Send(
                    method, path, content, max(until - time.monotonic(), 0.001)
                )
                if reply.status not in BUSY:
                    return reply
                away = _Away(reply.detail, may_have=may_have, status=reply.status)
                may_have, wait = may_have or reply.status not in (429,), reply.wait or 0.0
            except Lost as lost:
                away = _Away(f"no service answers at {self.url}: {lost}", may_have=False)
                may_have, wait = may_have or lost.was_sent, 0.0
            wait = max(pause * jitter(), wait)
            if left == 0 or time.monotonic() + wait >= until or (may_have and not repeats):
                break
            yield Pause(wait)
            pause *= 2.0
        away.may_have = may_have
        raise away

    def content(self, method: str, path: str, body: Any = None, **more: Any) -> Steps[Any]:
        """Return the content of an answer, or raise its error."""
        reply = yield from self.exchange(method, path, body, **more)
        return content_of(reply)

    def _tried(self, method: str, path: str, body: Any) -> Steps[Reply]:
        """Return the answer to a decision or a reward, or raise `_Away`, at once if it is known."""
        if not self.breaker.lets_through():
            raise _Away(f"the service at {self.url} did not answer lately", may_have=False)
        try:
            reply = yield from self.exchange(method, path, body, seconds=self._timeout)
        except _Away:
            self.breaker.failed()
            self.wake()
            raise
        self.breaker.succeeded()
        return reply

    # -- decisions ---------------------------------------------------------------------------

    def decide(self, bandit: str, asks: Sequence[Ask]) -> Steps[list[Decision]]:
        """Return a decision on each request: that of the service, or while it is away the baseline.

        A request whose decision still waits to be sent gets that one again.
        """
        if self.waiting.is_there and len(asks) == 1:
            ids = [asks[0].id, _other(asks[0].id)]
            kept = yield Do(partial(self.waiting.decision, bandit, ids))
            if kept is not None:
                return [_fallback(kept)]
        decisions = list[Decision]()
        for begin in range(0, len(asks), _GROUP):
            decisions += yield from self._decided(bandit, asks[begin : begin + _GROUP])
        return decisions

    def _decided(self, bandit: str, asks: Sequence[Ask]) -> Steps[list[Decision]]:
        bodies = [ask.body() for ask in asks]
        path = f"/v1/bandits/{quoted(bandit)}/decisions"
        try:
            if len(asks) == 1:
                reply = yield from self._tried("POST", path, bodies[0])
                return [decision_of(content_of(reply))]
            answers = content_of((yield from self._tried("POST", path, bodies)))
        except _Away as away:
            return (yield from self._without(bandit, asks, away))
        decisions = list[Decision]()
        for ask, each in zip(asks, answers, strict=True):
            status, detail = _outcome(each)
            if status in BUSY:
                busy = _Away(detail, may_have=True, status=status)
                decisions += yield from self._without(bandit, [ask], busy)
            elif status not in SUCCESS:
                raise error_of(status, detail)
            else:
                decisions.append(decision_of(each["decision"]))
        return decisions

    def rank(
        self, bandit: str, ask: Ask, slots: int | Sequence[Mapping[str, Any]]
    ) -> Steps[list[Decision]]:
        """Return a decision for each slot: while the service is away the first arms."""
        body = ask.body(slots=slots)
        try:
            path = f"/v1/bandits/{quoted(bandit)}/rankings"
            reply = yield from self._tried("POST", path, body)
            return [decision_of(each) for each in content_of(reply)["decisions"]]
        except _Away as away:
            of_slots = [None] * slots if isinstance(slots, int) else list(slots)
            arms = list(ask.arms or ())
            if len(arms) < len(of_slots):
                _without_arm(away, f"{len(of_slots)} arms in the order to take them: give arms=")
            asks = [
                Ask(f"{ask.id}/{place}", _joined(ask.context, slot), ask.arms, arm)
                for place, (slot, arm) in enumerate(zip(of_slots, arms, strict=False))
            ]
            return (yield from self._without(bandit, asks, away))

    def _without(self, bandit: str, asks: Sequence[Ask], away: _Away) -> Steps[list[Decision]]:
        """Return decisions for the baselines, and keep them to tell the service later.

        If the service may have decided already, theirs have another id: a reward of an arm that
        nobody saw would be false.
        """
        bodies = []
        for ask in asks:
            arm = ask.first_arm
            if arm is None:
                _without_arm(away, "an arm to take: give baseline= or arms=")
            own = ask._replace(id=_other(ask.id)) if away.may_have else ask
            bodies.append(own.body(taken=arm))
        items = [Item(bandit, DECISION, body["id"], body) for body in bodies]
        try:
            yield Do(partial(self.waiting.put, items))
        except StoreError as error:  # what a visitor sees goes on
            _LOGGER.warning("decisions are lost: %s", error)
        self.wake()
        return [_fallback(body) for body in bodies]

    # -- rewards -----------------------------------------------------------------------------

    def reward(self, bandit: str, rewards: Iterable[tuple[Any, ...]]) -> Steps[None]:
        """Report rewards, each an id, a value and perhaps the name of the report.

        Those that cannot be told now are kept. They stay behind what waits of their decision.
        """
        bodies = [_report(*each) for each in rewards]
        ids = [body["id"] for body in bodies]
        items = [Item(bandit, REWARD, body["id"], body) for body in bodies]
        is_held = self.waiting.is_there and (yield Do(partial(self.waiting.holds, bandit, ids)))
        if is_held:
            yield Do(partial(self.waiting.put, items))
            return self.wake()
        errors = list[GiroError]()
        for begin in range(0, len(items), _GROUP):
            errors += yield from self._rewarded(bandit, items[begin : begin + _GROUP])
        if errors:
            raise errors[0]

    def _rewarded(self, bandit: str, items: Sequence[Item]) -> Steps[list[GiroError]]:
        """Report these or keep them, and return the errors of those that were not taken."""
        bodies = [item.body for item in items]
        try:
            reply = yield from self._tried("POST", f"/v1/bandits/{quoted(bandit)}/rewards", bodies)
        except _Away:
            yield Do(partial(self.waiting.put, items))
            self.wake()
            return []
        outcomes = content_of(reply)
        late = [item for item, each in zip(items, outcomes, strict=True) if each["status"] in BUSY]
        if late:
            yield Do(partial(self.waiting.put, late))
            self.wake()
        return [
            error_of(each["status"], each["detail"], id=item.id)
            for item, each in zip(items, outcomes, strict=True)
            if each["status"] not in SUCCESS and each["status"] not in BUSY
        ]

    # -- what waits --------------------------------------------------------------------------

    def tend(self) -> Steps[float | None]:
        """Send all that waits. Return the seconds until the next try, or None if all is sent."""
        if self.breaker.wait > 0.0:
            return self.breaker.wait
        try:
            if self.breaker.is_open:
                yield from self.exchange("GET", "/livez", seconds=self._timeout)
                self.breaker.succeeded()
            yield from self._deliver()
        except _Away:
            self.breaker.failed()
            return self.breaker.wait
        except GiroError as error:  # as when the key was refused, or the disk is full
            _LOGGER.warning("decisions and rewards wait: %s", error)
            return _REFUSED_KEY
        return None

    def _deliver(self) -> Steps[None]:
        while self.waiting.is_there:
            items = yield Do(partial(self.waiting.first, _GROUP))
            if not items:
                return
            outcomes = yield from self._delivered(items)
            done = [(i, o) for i, o in zip(items, outcomes, strict=True) if o[0] not in BUSY]
            why = [None if status in SUCCESS else detail for _, (status, detail) in done]
            for (item, _), detail in zip(done, why, strict=True):
                if detail is not None:
                    _LOGGER.warning("the %s of '%s' is refused: %s", item.kind, item.id, detail)
            yield Do(partial(self.waiting.settle, [item for item, _ in done], why))
            if len(done) < len(items):
                raise _Away("the service is busy", may_have=True)

    def _delivered(self, items: Sequence[Item]) -> Steps[list[tuple[int, str]]]:
        """Return the status and the sentence for each item of one bandit and kind."""
        path = f"/v1/bandits/{quoted(items[0].bandit)}/{items[0].kind}s"
        bodies = [item.body for item in items]
        reply = yield from self.exchange("POST", path, bodies, seconds=self._patience)
        self.breaker.succeeded()
        if reply.status in SUCCESS:
            return [_outcome(each) for each in reply.json()]
        if reply.status in (401, 403):
            raise error_of(reply.status, reply.detail)
        if len(items) == 1:
            return [(reply.status, reply.detail)]
        outcomes = []
        for item in items:
            outcomes += yield from self._delivered([item])
        return outcomes

    # -- evaluations -------------------------------------------------------------------------

    def evaluate(self, bandit: str, policy: str, options: Mapping[str, Any]) -> Steps[Any]:
        """Return the rows of an evaluation, when it is done."""
        path, pause = f"/v1/bandits/{quoted(bandit)}/evaluations", _TASTES[0]
        asked = {"policy": policy, **options}
        record = yield from self.content("POST", path, asked, repeats=False)
        while record["status"] == "running":
            yield Pause(pause)
            pause = min(2.0 * pause, _TASTES[1])
            record = yield from self.content("GET", f"{path}/{record['id']}")
        if record["status"] != "done":
            raise BadParameter(record["detail"])
        return record["rows"]


def new_id(bandit: str) -> str:
    """Return an id that begins as those of the service do, by which it finds the bandit."""
    prefix = f"{bandit}." if len(bandit) <= _LONGEST_PREFIX else ""
    return prefix + os.urandom(12).hex()


def quoted(word: str) -> str:
    """Return a word as a part of a path."""
    return quote(word, safe="")


def encoded(body: Any) -> bytes:
    """Return JSON. Numbers and arrays of NumPy are numbers and lists."""
    try:
        return json.dumps(body, allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError) as error:
        raise BadParameter(
            f"a service takes finite numbers, words, None, lists and mappings: {error}"
        ) from None


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"got {type(value).__name__}")


def _report(id: str, value: float, report: str | None = None) -> dict[str, Any]:
    """Return a reward as the service wants it. It has a name, so that it can be sent again."""
    if not is_word(id):
        raise BadParameter(f"a reward is for the id of a decision, got {id!r}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise BadParameter(f"a reward is a finite number, got {value!r}")
    return {"id": id, "value": number, "report": report or os.urandom(12).hex()}


def _other(id: str) -> str:
    """Return the id of a decision that takes the place of one that the service may have made."""
    return f"{id}~"


def _outcome(plain: Mapping[str, Any]) -> tuple[int, str]:
    """Return the status and the sentence for one item of a list."""
    if "status" in plain:
        return plain["status"], plain.get("detail", "")
    problem = plain.get("problem")
    return (problem["status"], problem["detail"]) if problem else (200, "")


def _fallback(body: Mapping[str, Any]) -> Decision:
    arm = body["taken"]
    chances = {name: float(name == arm) for name in body.get("arms") or [arm]}
    return Decision(body["id"], arm, 1.0, chances, is_fallback=True)


def _without_arm(away: ServiceError, wanted: str) -> NoReturn:
    raise ServiceError(f"{away}; to go on without it, it needs {wanted}", status=away.status)


def _joined(context: Any, slot: Mapping[str, Any] | None) -> Any:
    return context if slot is None else {**(context or {}), **slot}
