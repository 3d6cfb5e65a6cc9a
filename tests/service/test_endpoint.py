"""What endpoints refuse, whatever the door."""

import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from service.conftest import SECRET, Client

from giro import StoreError
from giro.service.endpoint import _is_deeper
from giro.service.settings import Limits

Served = Callable[..., None]
D = "/v1/bandits/b/decisions"


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b'{"context": NaN}', 400),
        (b"[" * 100_000, 422),
        (b'{"context": {"a": ' + b"[" * 30 + b"]" * 30 + b"}}", 422),
        (b'{"contxt": 1}', 422),
        (b'{"context": 1}', 422),
        (b'{"id": ""}', 422),
        (b'{"id": "' + b"x" * 257 + b'"}', 422),
        (b'{"arms": ["' + b'","'.join([b"a"] * 1001) + b'"]}', 422),
        (b" " * 1_048_577, 413),
    ],
)
def test_bodies_that_are_wrong_are_refused(served: Served, content: bytes, status: int) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", {"name": "b", "arms": ["a", "b"], "policy": "ucb1"})
        answer = await ask("POST", D, content=content)
        assert (answer.status_code, answer.json()["status"]) == (status, status)
        assert answer.headers["content-type"] == "application/problem+json"

    served(game)


def test_brackets_in_words_are_not_deep(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", {"name": "b", "arms": ["a", "b"], "policy": "lin-ucb"})
        text = b'{"context": {"a": "' + b'[{\\"' * 50 + b'"}}'
        assert (await ask("POST", D, content=text)).status_code == 200

    served(game)


WORDS = st.text(alphabet='[]{}"\\aé', max_size=6)
PLAIN = st.recursive(
    WORDS | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
)


def depth_of(value: Any) -> int:
    """Return how deep lists and objects are nested."""
    parts = value.values() if isinstance(value, dict) else value
    return 1 + max(map(depth_of, parts), default=0) if isinstance(value, list | dict) else 0


@given(PLAIN, st.booleans())
def test_the_depth_of_a_body_is_that_of_its_value(value: Any, is_ascii: bool) -> None:
    raw, depth = json.dumps(value, ensure_ascii=is_ascii).encode(), depth_of(value)
    assert not _is_deeper(raw, depth)
    assert depth == 0 or _is_deeper(raw, depth - 1)


def test_a_body_without_a_length_is_measured(served: Served) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 10

    async def game(ask: Client) -> None:
        assert (await ask("POST", D, content=parts())).status_code == 413

    served(game, limits=Limits(body=100))


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PATCH", "PURGE"])
@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1/bandits", "GET, HEAD, POST"),
        ("/v1/decisions/a/b/reward", "POST"),
        ("/personalizer/v1.0/rank", "POST"),
        ("/ofrep/v1/evaluate/flags/a", "POST"),
        ("/v1/page", "POST"),
        ("/", "GET, HEAD"),
        ("/livez", "GET, HEAD"),
        ("/nowhere", None),
        ("/v1/bandits/", None),
    ],
)
def test_other_paths_and_methods_are_refused_and_counted_whatever_the_door(
    served: Served, method: str, path: str, allowed: str | None
) -> None:
    async def game(ask: Client) -> None:
        answer = await ask(method, path, key=None)
        status, reason = (404, "missing") if allowed is None else (405, "method")
        assert (answer.status_code, answer.json()["status"]) == (status, status)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers.get("allow") == allowed
        counts = (await ask("GET", "/metrics")).text
        refused = [line for line in counts.splitlines() if f'reason="{reason}"' in line]
        assert [line.rpartition(" ")[2] for line in refused] == ["1"]
        assert ('route="-"' in counts) == (allowed is None)

    served(game)


def test_both_headers_carry_a_key(served: Served) -> None:
    async def game(ask: Client) -> None:
        for headers in ({"X-API-Key": SECRET}, {"Authorization": f"bearer  {SECRET}"}):
            answer = await ask.http.get("/v1/bandits", headers=headers)
            assert answer.status_code == 200
        basic = await ask.http.get("/v1/bandits", headers={"Authorization": f"Basic {SECRET}"})
        assert (basic.status_code, basic.headers["www-authenticate"]) == (401, "Bearer")

    served(game)


@pytest.mark.parametrize(
    ("error", "status"), [(StoreError("secret"), 503), (OSError("secret"), 500)]
)
def test_a_failure_within_is_not_shown(
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    status: int,
) -> None:
    async def fail() -> Any:
        raise error from sqlite3.OperationalError("secret")

    async def game(ask: Client) -> None:
        monkeypatch.setattr(ask.service.bandits, "names", fail)
        answer = await ask("GET", "/v1/bandits")
        assert answer.status_code == status
        assert "secret" not in answer.text + caplog.text
        assert "OperationalError\n" in caplog.text, "whoever runs the service learns why"

    served(game)
