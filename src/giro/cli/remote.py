"""A running service, asked by commands that work on a store, too."""

import http.client
import json
import os
from typing import Annotated, Any, TypeAlias
from urllib.parse import quote, urlsplit

from giro.cli.options import option
from giro.errors import BadParameter, GiroError

_HELP = "A running service, as http://127.0.0.1:8720, instead of a store. GIRO_KEY has the key."
Url: TypeAlias = Annotated[str, option("URL", _HELP)]
_SECONDS = 60.0
_PROBLEM = 300  # the first status that is none of success


def is_service(where: str) -> bool:
    """Return whether an address is that of a service."""
    return where.startswith(("http://", "https://"))


def answer_of(url: str, method: str, *parts: str, body: Any = None) -> Any:
    """Return the content of a service's answer to the key in GIRO_KEY.

    Redirections are not followed: the key is for this service.
    """
    if not is_service(url):
        raise BadParameter(f"a service is at http://... or https://..., got '{url}'")
    if "GIRO_KEY" not in os.environ:
        raise BadParameter("a running service wants a key in the environment: GIRO_KEY")
    where = urlsplit(url)
    secure = where.scheme == "https"
    connected = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    path = "/".join([where.path.rstrip("/"), "v1", *(quote(part, safe="") for part in parts)])
    headers = {"Authorization": f"Bearer {os.environ['GIRO_KEY']}"}
    try:
        connection = connected(where.netloc, timeout=_SECONDS)
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
    except (OSError, http.client.HTTPException) as error:
        raise GiroError(f"no service answers at {url}: {error}") from None
    return _content(url, answer.status, text)


def _content(url: str, status: int, text: bytes) -> Any:
    try:
        content = json.loads(text) if text else None
    except ValueError:
        raise GiroError(f"what answers at {url} is no giro serve: status {status}") from None
    if status >= _PROBLEM:
        detail = content.get("detail") if isinstance(content, dict) else None
        raise BadParameter(detail or f"the service answers with status {status}")
    return content
