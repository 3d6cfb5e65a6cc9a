"""Logs: JSON lines, without keys and contexts."""

import io
import json
import logging
import logging.config
from collections.abc import Callable, Iterator

import pytest
from service.conftest import SECRET, Client

from giro.service import logs

Served = Callable[..., None]
HIDDEN = "a secret place"


@pytest.fixture
def lines() -> Iterator[Callable[[str], str]]:
    """Return what sets logging up, and then the text that was logged."""
    stream, names = io.StringIO(), ("giro", "giro.service.requests", "uvicorn", "py.warnings")
    before = {n: (logging.getLogger(n).handlers[:], logging.getLogger(n).level) for n in names}
    propagates = {n: logging.getLogger(n).propagate for n in names}

    def configured(form: str) -> str:
        if form:
            plain = logs.configuration(form)
            plain["handlers"]["error"]["stream"] = stream
            logging.config.dictConfig(plain)
        return stream.getvalue()

    yield configured
    for name, (handlers, level) in before.items():
        logger = logging.getLogger(name)
        logger.handlers, logger.level, logger.propagate = handlers, level, propagates[name]


@pytest.mark.parametrize("form", logs.FORMS)
def test_no_log_has_a_key_or_a_context(
    served: Served, lines: Callable[[str], str], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines(form)

    async def game(ask: Client) -> None:
        body = {"context": {"city": HIDDEN}, "id": "d1"}
        await ask.post("/v1/bandits", {"name": "b", "arms": ["x", "y"], "policy": "uniform"})
        await ask.post("/v1/bandits/b/decisions", body)
        await ask("POST", "/v1/bandits/b/decisions", body | {"arms": [HIDDEN]})
        await ask("GET", f"/v1/bandits?key={SECRET}", key=f"{SECRET}x")
        (running,) = ask.service.bandits.running()

        def fail(asks: object) -> None:
            raise RuntimeError(f"what nobody expected: {asks}")

        monkeypatch.setattr(running._decisions, "_work", fail)
        assert (await ask("POST", "/v1/bandits/b/decisions", body)).status_code == 500

    served(game)
    text = lines("")
    assert "RuntimeError" in text and "test_logs" in text  # where it was raised
    assert HIDDEN not in text and SECRET not in text
    if form == "json":
        requests = [json.loads(line) for line in text.splitlines()]
        paths = [each["route"] for each in requests if each["message"] == "request"]
        assert paths.count("/v1/bandits/{name}/decisions") == 3
        assert all({"time", "level", "logger", "message"} <= each.keys() for each in requests)


def test_an_error_in_a_json_line_has_no_message() -> None:
    try:
        raise ValueError(HIDDEN)
    except ValueError as error:
        info = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("giro", logging.ERROR, "", 1, "it failed", (), info)
    line = logs.JsonLines().format(record)
    assert "\n" not in line and HIDDEN not in line
    assert json.loads(line)["error"].endswith("ValueError")
