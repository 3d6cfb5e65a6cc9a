"""Spans, with a stand-in for OpenTelemetry that keeps them."""

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from service.conftest import SECRET, Client

from giro.service import tracing

Served = Callable[..., None]


class Span(dict[str, Any]):
    """A span that is its attributes."""

    def set_attribute(self, name: str, value: Any) -> None:
        self[name] = value


class Tracer:
    """Keeps the spans that were started."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, Span]] = []

    def get_tracer(self, name: str) -> "Tracer":
        return self

    @contextlib.contextmanager
    def start_as_current_span(self, name: str, **more: Any) -> Iterator[Span]:
        span = Span(parent=more["context"])
        self.spans.append((name, span))
        yield span

    SpanKind = SimpleNamespace(SERVER=1)


@pytest.fixture
def tracer(monkeypatch: pytest.MonkeyPatch) -> Tracer:
    own = Tracer()
    monkeypatch.setattr(tracing, "trace", own)
    monkeypatch.setattr(tracing, "propagate", SimpleNamespace(extract=dict), raising=False)
    return own


def test_each_request_has_a_span_with_ids_and_without_contexts_or_keys(
    served: Served, tracer: Tracer
) -> None:
    async def game(ask: Client) -> None:
        new = {"name": "b", "arms": ["x", "y"], "policy": "uniform"}
        await ask.post("/v1/bandits", new)
        body = {"context": {"city": "a secret place"}, "id": "d1"}
        await ask.post("/v1/bandits/b/decisions", body)
        await ask.post("/v1/bandits/b/decisions", [{"id": "d2"}, {"arms": ["z"]}])
        await ask.post("/v1/bandits/b/rankings", {"slots": 2, "id": "r"})
        await ask.post("/v1/decisions/d1/reward", {"value": 1})
        await ask("GET", "/v1/bandits/nobody")

    served(game)
    shown = [(name, span.get("giro.decision_ids")) for name, span in tracer.spans]
    decide = "POST /v1/bandits/{name}/decisions"
    assert shown == [
        ("POST /v1/bandits", None),
        (decide, ["d1"]),
        (decide, ["d2"]),
        ("POST /v1/bandits/{name}/rankings", ["r/0", "r/1"]),
        ("POST /v1/decisions/{id:path}/reward", ["d1"]),
        ("GET /v1/bandits/{name}", None),
    ]
    assert tracer.spans[-1][1]["http.response.status_code"] == 404
    assert "secret" not in str(tracer.spans) and SECRET not in str(tracer.spans)


def test_without_the_package_there_are_no_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "trace", None)
    with tracing.request_span("GET", "/", []) as span:
        assert span is None
    tracing.note_answer(None, {}, None, 200)
