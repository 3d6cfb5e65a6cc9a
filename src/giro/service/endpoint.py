"""Endpoint: from a request to a handler and back, the same for all doors.

A door is a module with a function `routes(service)` that returns Starlette's routes, and makes them
of endpoints. An endpoint finds the key, reads and checks the body, and writes the answer, or the
problem, as its door wants it. `Elsewhere` answers what no endpoint is for: other paths, and other
methods.
"""

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route
from starlette.types import Message, Receive, Scope, Send

from giro import StoreError
from giro.service.errors import Problem, problem_of
from giro.service.keys import Key
from giro.service.logs import NO_ROUTE, log_request, place_of
from giro.service.messages import ProblemAnswer
from giro.service.service import Service
from giro.service.tracing import note_answer, request_span

_LOGGER = logging.getLogger("giro.service")
_JSON, _PROBLEM = "application/json", "application/problem+json"
_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_encode = msgspec.json.Encoder().encode


class Answer(NamedTuple):
    """An answer: plain data or a struct, text of another type, or parts of such a text."""

    content: Any = None
    status: int = 200
    headers: Mapping[str, str] = {}
    media_type: str = _JSON


class Call(NamedTuple):
    """A request, after its key was found and its body was read."""

    key: Key
    path: Mapping[str, Any]  # parameters of the path
    query: Mapping[str, str]
    headers: Mapping[str, str]  # in lower case
    body: Any


Handler: TypeAlias = Callable[[Call], Awaitable[Any]]


PREFLIGHT = {
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": "authorization, content-type, x-api-key",
    "access-control-max-age": "7200",
}


def header_of(scope: Scope, name: bytes) -> str:
    """Return a header of a request, or nothing."""
    lines: dict[bytes, bytes] = dict(scope["headers"])
    return lines.get(name, b"").decode("latin-1")


def for_page(answer: Answer, scope: Scope, origins: Container[str]) -> Answer:
    """Return an answer that a page may read, if it is of one of these origins."""
    origin = header_of(scope, b"origin")
    if origin not in origins:
        return answer
    own = {"access-control-allow-origin": origin, "vary": "Origin"}
    return answer._replace(headers={**answer.headers, **own})


class Door(NamedTuple):
    """The manners of a door: how it writes problems, and where it finds keys.

    `scheme` is the header for keys beside `Authorization: Bearer KEY`. `problem` is the type of
    what is `written`, and `problem_type` its media type, for the document of the API.
    """

    written: Callable[[Problem], Answer]
    problem: Any = ProblemAnswer
    problem_type: str = _JSON
    scheme: str = "X-API-Key"

    def key_in(self, headers: Mapping[str, str]) -> str | None:
        """Return the key in the headers of a request, whose names are in lower case."""
        kind, _, key = headers.get("authorization", "").partition(" ")
        bearer = key.strip() if kind.lower() == "bearer" else None
        return headers.get(self.scheme.lower()) or bearer


def problem_json(problem: Problem) -> Answer:
    """Return a problem as RFC 9457 has it."""
    return Answer(problem.to_json(), problem.status, problem.headers, _PROBLEM)


OWN = Door(problem_json, problem_type=_PROBLEM)
_NOBODY = Key("", "", scopes=())


class _Application:
    """An ASGI application that counts its answers, and turns errors into problems."""

    def __init__(self, service: Service) -> None:
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and count it."""
        method, path, begun = scope["method"], _route_of(scope), time.perf_counter()
        with request_span(method, path, scope["headers"]) as span:
            answer = await self._answered_or_refused(scope, receive)
            if self.service.keys.origins:
                answer = for_page(answer, scope, self.service.keys.origins)
            note_answer(span, scope.get("path_params", {}), answer.content, answer.status)
            seconds = time.perf_counter() - begun
            self.service.metrics.answered(method, path, answer.status, seconds)
            log_request(method, path, answer.status, seconds)
            await _send(answer, send)

    async def _answered_or_refused(self, scope: Scope, receive: Receive) -> Answer:
        try:
            return await self._answered(scope, receive)
        except Exception as error:
            problem = problem_of(error)
            if problem.status == 500 or isinstance(error, StoreError):
                path = _route_of(scope)
                _LOGGER.error("%s %s failed:\n%s", scope["method"], path, place_of(error))
            return self.refusal(problem, scope.get("path_params", {}))

    async def _answered(self, scope: Scope, receive: Receive) -> Answer:
        raise NotImplementedError

    def refusal(self, problem: Problem, path: Mapping[str, Any]) -> Answer:
        """Return the answer that says so."""
        return problem_json(problem)


class Endpoint(_Application):
    """An ASGI application for one method of one path."""

    def __init__(
        self,
        service: Service,
        handler: Handler,
        *,
        body: Any = None,
        answer: Any = None,
        status: int = 200,
        door: Door = OWN,
        needs_key: bool = True,
        also: int | None = None,
        parameters: Mapping[str, dict[str, Any]] | None = None,
    ) -> None:
        """Call `handler`, with a body of the type `body` if there is one, or as it is (`bytes`).

        `answer`, its `status`, another one that it may `also` have, and `parameters`, by their
        name, are for the document of the API.
        """
        super().__init__(service)
        self.handler, self.door, self.needs_key = handler, door, needs_key
        self.body, self.answer, self.status = body, answer, status
        self.also, self.parameters = also, dict(parameters or {})
        self._decoder = None if body in (None, bytes) else msgspec.json.Decoder(body)

    def refusal(self, problem: Problem, path: Mapping[str, Any]) -> Answer:
        """Return the answer that says so, as the door does."""
        return self.door.written(problem)

    async def _answered(self, scope: Scope, receive: Receive) -> Answer:
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        key = self.service.keys.key_of(self.door.key_in(headers)) if self.needs_key else _NOBODY
        key.check_origin(headers.get("origin"))
        try:
            raw = await self._read(headers, receive)
        except ClientDisconnect:
            raise Problem(scope.get("giro.refused", 400), "the body ended early") from None
        body = self._decoded(raw) if self._decoder else raw if self.body is bytes else None
        query = (
            dict(parse_qsl(scope["query_string"].decode("latin-1")))
            if scope["query_string"]
            else {}
        )
        result = await self.handler(Call(key, scope["path_params"], query, headers, body))
        if isinstance(result, Answer):
            return result
        return Answer(result, 204 if result is None else self.status)

    async def _read(self, headers: Mapping[str, str], receive: Receive) -> bytes:
        limits = self.service.settings.limits
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > limits.body:
            raise Problem(413, f"a body has at most {limits.body} bytes, got {length}")
        message = await receive()
        if message.get("more_body"):
            return await _rest(message, receive, limits.body)
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body: bytes = message.get("body", b"")
        return body

    def _decoded(self, raw: bytes) -> Any:
        if not raw:
            raise Problem(400, "the body is empty: send JSON, {} if there is nothing to say")
        most = self.service.settings.limits.depth
        if raw.count(b"[") + raw.count(b"{") > most and _is_deeper(raw, most):
            raise Problem(422, f"JSON is nested at most {most} levels deep here")
        assert self._decoder is not None
        try:
            return self._decoder.decode(raw)
        except msgspec.ValidationError as error:
            raise Problem(422, f"the body is not as wanted: {error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Problem(400, f"the body is not JSON: {error}") from None


def _route_of(scope: Scope) -> str:
    """Return the route of a request, for metrics and logs, which should not have its path."""
    route: str = scope.get("giro.route", NO_ROUTE)
    return route


async def _rest(message: Message, receive: Receive, most: int) -> bytes:
    """Return a body that comes in parts. `Connection` sees to it that they come in time."""
    parts, size = [message.get("body", b"")], len(message.get("body", b""))
    while message.get("more_body"):
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise Problem(413, f"a body has at most {most} bytes")
    return b"".join(parts)


def _is_deeper(raw: bytes, most: int) -> bool:
    """Return whether brackets outside of strings are nested deeper than this.

    >>> _is_deeper(b'[{"[[": []}]', 3), _is_deeper(b'[{"[[": []}]', 2)
    (False, True)
    """
    unescaped = raw.replace(rb"\\", b"").replace(rb"\"", b"")
    left = b"".join(unescaped.split(b'"')[::2]).translate(_SQUARE, _NO_BRACKETS)
    for _ in range(most):
        left = left.replace(b"[]", b"")  # the innermost
    return bool(left)


async def _send(answer: Answer, send: Send) -> None:
    content, status, headers, media_type = answer
    lines = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    if isinstance(content, AsyncIterator):
        lines.append((b"content-type", media_type.encode()))
        await send({"type": "http.response.start", "status": status, "headers": lines})
        async for part in content:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        return await send({"type": "http.response.body", "body": b""})
    body = b"" if content is None else content if isinstance(content, bytes) else _encode(content)
    if body:
        lines.append((b"content-type", media_type.encode()))
    if status not in (204, 304):
        lines.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body})


class _Route(Route):
    """A route for its own methods only. All others are those of `Elsewhere`."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        if match is Match.FULL:
            return match, {**child, "giro.route": self.path}
        return Match.NONE, {}


def route(method: str, path: str, endpoint: Endpoint) -> Route:
    """Return a route to an endpoint."""
    return _Route(path, endpoint, methods=[method])


class Elsewhere(_Application):
    """Answers all that no route is for: paths that there are not, and methods that a path lacks.

    Among these is the question of a browser whether a page may ask here (a preflight).
    """

    def __init__(self, service: Service, routes: Sequence[Route]) -> None:
        """Know the routes that there are."""
        super().__init__(service)
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and count it under the first route that its path has."""
        there = [each for each in self._routes if each.path_regex.match(scope["path"])]
        more = {"giro.route": there[0].path} if there else {}
        await super().__call__({**scope, **more, "giro.routes": there}, receive, send)

    async def _answered(self, scope: Scope, receive: Receive) -> Answer:
        if not scope["giro.routes"]:
            raise Problem(404, f"there is nothing at {scope['path']}")
        method, origins = scope["method"], self.service.keys.origins
        if method == "OPTIONS" and header_of(scope, b"origin") in origins:
            return Answer(status=204, headers=PREFLIGHT)
        methods = set[str]().union(*(each.methods for each in scope["giro.routes"]))
        answer = problem_json(Problem(405, f"{method} is not possible here"))
        return answer._replace(headers={"allow": ", ".join(sorted(methods))})
