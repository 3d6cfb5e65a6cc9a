"""Keys: which bandits somebody may use, and how.

A key is 256 random bits. Only its hash is kept, in the records of the store, so nobody can read a
key from there. Each process follows the records, so a key that is made or revoked anywhere counts
everywhere within seconds.
"""

import hashlib
import hmac
import math
import secrets
import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from giro import BadParameter, Records
from giro.service.errors import Problem

SCOPES = ("decide", "reward", "read", "admin")
OF_PAGES = ("decide", "reward")  # scopes of keys that anybody can read
KIND = "key"
_SHORTEST = 16  # characters of a key that somebody else made
_IDS = 12  # characters of an id


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """The permissions of a key."""

    scopes: tuple[str, ...] = SCOPES
    bandits: tuple[str, ...] = ("*",)  # names, or beginnings of names before a star
    rate: float | None = None  # requests a second
    loop: str | None = None  # the bandit that it decides for where requests name none
    note: str = ""
    origins: tuple[str, ...] = ()  # of pages, which may then see it: only requests from there

    def granted(self) -> dict[str, Any]:
        """Return the permissions by name."""
        return {name: getattr(self, name) for name in Grant.__struct_fields__}


class Key(Grant, frozen=True):
    """A key as it is kept: without the secret."""

    id: str
    hash: str
    created: float = 0.0
    until: float | None = None  # seconds since 1970; after that it is not valid

    def may(self, scope: str, bandit: str | None = None) -> bool:
        """Return whether it allows something with a bandit, or with any.

        An admin may do everything.
        """
        if scope not in self.scopes and "admin" not in self.scopes:
            return False
        return bandit is None or any(
            bandit == name or (name[-1:] == "*" and bandit.startswith(name[:-1]))
            for name in self.bandits
        )

    def check(self, scope: str, bandit: str | None = None) -> None:
        """Refuse everything that it does not allow."""
        if not self.may(scope, bandit):
            about = "" if bandit is None else f" with the bandit '{bandit}'"
            raise Problem(403, f"this key does not allow '{scope}'{about}")

    def check_origin(self, origin: str | None) -> None:
        """Refuse requests that are not from its pages, if it is for pages."""
        if self.origins and origin not in self.origins:
            raise Problem(403, f"this key is for pages of {', '.join(self.origins)}")

    def shown(self) -> dict[str, Any]:
        """Return plain data without the hash."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        plain.pop("hash")
        return plain


def create_key(records: Records, *, secret: str | None = None, **granted: Any) -> tuple[Key, str]:
    """Keep a new key, and return it with its secret, which nobody can find out afterwards.

    `granted` are fields of `Grant`. With `origins` it is for pages, where anybody can read it.
    """
    grant = grant_of(granted)
    if secret is not None and len(secret) < _SHORTEST:
        raise BadParameter(f"a key has at least {_SHORTEST} characters, got {len(secret)}")
    text = f"giro_{secrets.token_urlsafe(32)}" if secret is None else secret
    digest = _hash(text)
    key = Key(digest[:_IDS], digest, time.time(), **grant.granted())
    records.put(KIND, key.id, msgspec.to_builtins(key))
    return key, text


def grant_of(granted: Mapping[str, Any]) -> Grant:
    """Return the rights of a key, once they are checked."""
    grant = msgspec.convert(granted, Grant)
    if grant.origins:
        _check_for_pages(grant)
    for scope in grant.scopes:
        if scope not in SCOPES:
            raise BadParameter(f"a scope is one of {', '.join(SCOPES)}, got '{scope}'")
    for name in grant.bandits:
        if set(name.removesuffix("*")) & set("*?["):
            raise BadParameter(f"bandits of a key are NAME, BEGINNING* or *, got '{name}'")
    return grant


def _check_for_pages(grant: Grant) -> None:
    """Refuse a key that anybody can read and that may do more than a page needs."""
    scopes, bandits = grant.scopes, grant.bandits
    for origin in grant.origins:
        where = urlsplit(origin)
        if where.scheme not in ("http", "https") or origin != f"{where.scheme}://{where.netloc}":
            raise BadParameter(f"an origin is https://HOST or https://HOST:PORT, got '{origin}'")
    if not set(scopes) <= set(OF_PAGES) or len(bandits) != 1 or bandits[0].endswith("*"):
        raise BadParameter(
            "a key with origins can be read by anybody: it may only decide and reward, for one "
            f"bandit, got scopes {', '.join(scopes)} and bandits {', '.join(bandits)}"
        )


def rotate_key(records: Records, id: str, *, overlap: float) -> tuple[Key, str]:
    """Keep a key in the place of another, which stays valid for `overlap` seconds."""
    old = _kept(records, id)
    new = create_key(records, **old.granted())
    ending = msgspec.structs.replace(old, until=time.time() + overlap)
    records.put(KIND, id, msgspec.to_builtins(ending))
    return new


def revoke_key(records: Records, id: str) -> None:
    """Delete a key."""
    _kept(records, id)
    records.delete(KIND, id)


def all_keys(records: Records) -> list[Key]:
    """Return the keys that are valid now."""
    keys = [msgspec.convert(record.value, Key) for record in records.all(KIND).values()]
    return [key for key in keys if key.until is None or key.until > time.time()]


def _kept(records: Records, id: str) -> Key:
    record = records.get(KIND, id)
    if record is None:
        raise BadParameter(f"there is no key {id}; there are: {', '.join(records.all(KIND))}")
    return msgspec.convert(record.value, Key)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class KeyRing:
    """The valid keys, as this process knows them, and how much each has been used."""

    def __init__(self, *, rate: float | None = None, workers: int = 1) -> None:
        """Begin without keys.

        `rate` is the limit of keys that have none, and all limits are shared by `workers`.
        """
        self._rate, self._workers = rate, workers
        self._keys: dict[str, Key] = {}
        self._buckets: dict[str, Bucket] = {}
        self.origins = frozenset[str]()  # of pages that may ask, with some key

    def replace(self, keys: Iterable[Key]) -> None:
        """Know these keys and no others."""
        self._keys = {key.hash: key for key in keys}
        self.origins = frozenset(origin for key in self._keys.values() for origin in key.origins)
        ids = {key.id for key in self._keys.values()}
        self._buckets = {id: bucket for id, bucket in self._buckets.items() if id in ids}

    def __len__(self) -> int:
        return len(self._keys)

    def with_id(self, id: str) -> Key | None:
        """Return the key with this id, None if none is valid."""
        key = next((key for key in self._keys.values() if key.id == id), None)
        return None if key is None or (key.until or math.inf) <= time.time() else key

    def key_of(self, text: str | None) -> Key:
        """Return the key with this secret, if it is valid and was not used too often.

        Keys are looked up by their hash, which tells nobody anything about those that are valid,
        and compared in a time that does not depend on where they differ.
        """
        if not text:
            raise Problem(401, "this needs a key: Authorization: Bearer KEY, or X-API-Key: KEY")
        digest = _hash(text)
        key = self._keys.get(digest)
        if key is None or not hmac.compare_digest(key.hash, digest):
            raise Problem(401, "this key is not valid")
        if key.until is not None and key.until <= time.time():
            raise Problem(401, "this key is not valid any more")
        rate = self._rate if key.rate is None else key.rate
        if rate is not None:
            bucket = self._buckets.get(key.id)
            if bucket is None or bucket.rate != rate / self._workers:
                bucket = self._buckets[key.id] = Bucket(rate / self._workers)
            wait = bucket.take(time.monotonic())
            if wait > 0.0:
                raise Problem(429, f"this key allows {rate:g} requests a second", wait=wait)
        return key


class Bucket:
    """A bucket of tokens: it fills at a rate, and holds a second's worth."""

    def __init__(self, rate: float) -> None:
        """Begin full."""
        self.rate = rate
        self._most = max(1.0, rate)
        self._tokens, self._at = self._most, 0.0

    def take(self, now: float) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        self._tokens = min(self._most, self._tokens + (now - self._at) * self.rate)
        self._at = now
        if self._tokens < 1.0:
            return (1.0 - self._tokens) / self.rate
        self._tokens -= 1.0
        return 0.0
