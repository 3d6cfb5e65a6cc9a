"""What httpx raises and returns, as the script of a client sees it."""

from typing import Any

import httpx
import pytest

from giro.client.connecting import lost, reply_of, request_of, setup
from giro.client.steps import Send
from giro.errors import BadParameter


@pytest.mark.parametrize(
    ("error", "was_sent"),
    [
        (httpx.ConnectError(""), False),
        (httpx.ConnectTimeout(""), False),
        (httpx.PoolTimeout(""), False),
        (httpx.ReadTimeout(""), True),
        (httpx.RemoteProtocolError(""), True),
        (TimeoutError(), True),
    ],
)
def test_what_did_not_leave_is_known(error: Exception, was_sent: bool) -> None:
    gone = lost(error)
    assert (gone.was_sent, str(gone)) == (was_sent, type(error).__name__)


def test_an_answer_says_when_to_come_back() -> None:
    assert reply_of(httpx.Response(503, headers={"retry-after": "7"})).wait == 7.0
    assert reply_of(httpx.Response(503, headers={"retry-after": "tomorrow"})).wait is None


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines", 5])
def test_a_key_that_no_header_can_hold_is_refused(key: Any) -> None:
    with pytest.raises(BadParameter, match="one line of plain letters"):
        setup("http://giro", key, None, timeout=1, patience=1, retries=0)


def test_the_key_is_in_a_header_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIRO_KEY", "secret")
    script, options = setup("http://giro/", None, None, timeout=1, patience=1, retries=0)
    assert options["headers"]["authorization"] == "Bearer secret"
    assert script.url == options["base_url"] == "http://giro"
    assert request_of(Send("GET", "/livez", None, 2.0))["timeout"] == httpx.Timeout(2.0)
