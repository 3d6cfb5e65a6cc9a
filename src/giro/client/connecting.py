"""Where a service is and who asks: the same for both clients."""

import os
from typing import Any, NamedTuple

import httpx

from giro.checks import POSITIVE, check, whole
from giro.client.answers import Reply
from giro.client.steps import Lost, Script, Send
from giro.client.waiting import Waiting
from giro.errors import BadParameter

URL = "http://127.0.0.1:8720"
QUEUE = "giro-client.db"
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


class Setup(NamedTuple):
    """The script of a client, and the options of its HTTP client."""

    script: Script
    options: dict[str, Any]


def setup(
    url: str,
    key: str | None,
    queue: str | os.PathLike[str] | None,
    *,
    timeout: float,
    patience: float,
    retries: int,
) -> Setup:
    """Check the parameters of a client."""
    if not url.startswith(("http://", "https://")):
        raise BadParameter(f"a service is at http://... or https://..., got '{url}'")
    check("a client", POSITIVE, timeout=timeout, patience=patience)
    check("a client", whole(0), retries=retries)
    secret = os.environ.get("GIRO_KEY") if key is None else key
    if secret is None:
        raise BadParameter("a client needs a key of the service: key=, or GIRO_KEY")
    if not (isinstance(secret, str) and secret.isascii() and secret.isprintable()):
        raise BadParameter("a key is one line of plain letters, as the service has shown it")
    where = url.rstrip("/")
    script = Script(
        where, Waiting(queue, where), timeout=timeout, patience=patience, retries=retries
    )
    headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
    return Setup(script, {"base_url": where, "headers": headers})


def request_of(step: Send) -> dict[str, Any]:
    """Return a step as httpx wants it."""
    return {
        "method": step.method,
        "url": step.path,
        "content": step.body,
        "timeout": httpx.Timeout(step.seconds),
    }


def reply_of(response: httpx.Response) -> Reply:
    """Return the answer."""
    wait = response.headers.get("retry-after", "")
    return Reply(response.status_code, response.content, float(wait) if wait.isdecimal() else None)


def lost(error: Exception) -> Lost:
    """Return how a request got lost."""
    return Lost(str(error) or type(error).__name__, was_sent=not isinstance(error, _UNSENT))
