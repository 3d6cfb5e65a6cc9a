"""Visitors: those who look at the pages, and their rights.

A browser shows its key once. Then a cookie stands for the key: a random text of which the records
of the store have the hash, beside the id of the key. So it counts in all processes, ends by itself,
and is worth nothing when the key is revoked.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from giro.service.errors import Problem
from giro.service.keys import Key
from giro.service.service import Service

KIND = "session"
COOKIE = "giro_session"
LASTS = 28_800.0  # seconds: a working day
LOCAL = ("localhost", "127.0.0.1", "::1")


class Visitor(NamedTuple):
    """Who asks for a page."""

    key: Key
    session: str = ""  # the cookie; nothing where nobody signs in

    @property
    def token(self) -> str:
        """The text that forms of this visitor hold, and no other site knows."""
        return _hash(f"form {self.session}") if self.session else ""

    def check_form(self, given: str) -> None:
        """Refuse a form that was not made for this visitor."""
        if not self.session or not hmac.compare_digest(given.encode(), self.token.encode()):
            raise Problem(403, "this form is not from your session: open the page again")


class Visitors(Protocol):
    """Where visitors come from."""

    async def visitor(self, headers: Mapping[str, str]) -> Visitor:
        """Return who asks, or refuse."""


class Anybody:
    """Visitors of a dashboard that only this machine can open: all may read, nobody may act."""

    _READER = Visitor(Key("", "", scopes=("read",)))

    async def visitor(self, headers: Mapping[str, str]) -> Visitor:
        """Return a reader.

        A site whose name leads to this machine asks for its own name, and is refused.
        """
        if _host(headers) not in LOCAL:
            raise Problem(403, "open these pages as http://127.0.0.1 or http://localhost")
        return self._READER


class Sessions:
    """Visitors of a service, who sign in with a key."""

    def __init__(self, service: Service) -> None:
        """Keep sessions among the records of the service."""
        self._service = service

    async def visitor(self, headers: Mapping[str, str]) -> Visitor:
        """Return who has the cookie of a request."""
        text = _cookie(headers)
        record = await self._service.get(KIND, _hash(text)) if text else None
        key = None if record is None else self._service.keys.with_id(record.value["key"])
        if key is None:
            raise Problem(401, "sign in with a key to see this page")
        return Visitor(key, text)

    async def begin(self, secret: str, headers: Mapping[str, str]) -> str:
        """Return the cookie of a new session with a key."""
        check_origin(headers)
        key = self._service.keys.key_of(secret)
        key.check("read")
        text = secrets.token_urlsafe(32)
        await self._service.put(KIND, _hash(text), {"key": key.id}, seconds=LASTS)
        return _set_cookie(text, headers, seconds=int(LASTS))

    async def end(self, visitor: Visitor, headers: Mapping[str, str]) -> str:
        """End a session, and return the cookie that takes its place."""
        await self._service.call(self._service.records.delete, KIND, _hash(visitor.session))
        return _set_cookie("", headers, seconds=0)


def check_origin(headers: Mapping[str, str]) -> None:
    """Refuse a form that a page of another site sends."""
    site = headers.get("sec-fetch-site")
    origin = headers.get("origin")
    if site is not None:
        is_own = site in ("same-origin", "none")
    else:
        is_own = origin is None or origin.partition("://")[2] == headers.get("host")
    if not is_own:
        raise Problem(403, "this form comes from another site")


def _set_cookie(text: str, headers: Mapping[str, str], *, seconds: int) -> str:
    secure = "; Secure" if headers.get("x-forwarded-proto") == "https" else ""
    return f"{COOKIE}={text}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"


def _cookie(headers: Mapping[str, str]) -> str:
    """Return the text in the cookie of a session, nothing without one.

    Cookies of other programs on this machine may be of any form.
    """
    parts = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return next((text for name, _, text in parts if name == COOKIE), "")


def _host(headers: Mapping[str, str]) -> str:
    """Return the name of the machine that is asked for, without the port."""
    try:
        return urlsplit(f"//{headers.get('host', '')}").hostname or ""
    except ValueError:
        return ""


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
