"""Spans of OpenTelemetry, where that package is installed: one for each request.

A span has the method, the route, the status and the ids of decisions. It never has a context, a key
or anything else of the body.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from giro.service import messages as m

try:
    from opentelemetry import propagate, trace
except ImportError:  # it is not asked for
    trace = None  # type: ignore[assignment,unused-ignore]  # a module, otherwise
_MOST_IDS = 100  # of a span


@contextlib.contextmanager
def request_span(method: str, route: str, headers: Sequence[tuple[bytes, bytes]]) -> Iterator[Any]:
    """Yield the span of a request, or None without OpenTelemetry."""
    if trace is None:
        yield None
        return
    carrier = {k.decode("latin-1"): v.decode("latin-1") for k, v in headers if k in _PARENTS}
    tracer = trace.get_tracer("giro.service")
    with tracer.start_as_current_span(
        f"{method} {route}", context=propagate.extract(carrier), kind=trace.SpanKind.SERVER
    ) as span:
        span.set_attribute("http.request.method", method)
        span.set_attribute("http.route", route)
        yield span


_PARENTS = (b"traceparent", b"tracestate")


def note_answer(span: Any, path: Mapping[str, Any], content: Any, status: int) -> None:
    """Write the status and the ids of decisions to a span, if there is one."""
    if span is None:
        return
    span.set_attribute("http.response.status_code", status)
    ids = [*([str(path["id"])] if "id" in path else []), *decision_ids(content)]
    if ids:
        span.set_attribute("giro.decision_ids", ids[:_MOST_IDS])


def decision_ids(content: Any) -> list[str]:
    """Return the ids of the decisions in an answer of the own API."""
    match content:
        case m.DecisionAnswer():
            return [content.id]
        case m.BatchAnswer():
            return [] if content.decision is None else [content.decision.id]
        case m.RankingAnswer():
            return [each.id for each in content.decisions]
        case list():
            return [id for each in content for id in decision_ids(each)]
        case _:
            return []
