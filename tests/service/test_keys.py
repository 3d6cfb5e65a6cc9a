"""Keys, and who may do what."""

import time
from typing import Any

import pytest

from giro import BadParameter, Records
from giro.service.errors import Problem
from giro.service.keys import (
    KIND,
    Bucket,
    Key,
    KeyRing,
    all_keys,
    create_key,
    revoke_key,
    rotate_key,
)


def ring_of(records: Records, **options: float) -> KeyRing:
    ring = KeyRing(rate=options.get("rate"))
    ring.replace(all_keys(records))
    return ring


def refusal(ring: KeyRing, secret: str | None) -> int:
    with pytest.raises(Problem) as caught:
        ring.key_of(secret)
    return caught.value.status


def test_a_key_is_known_by_its_secret_which_is_kept_nowhere() -> None:
    records = Records()
    key, secret = create_key(records, note="mine")
    assert len(secret) >= 43  # 256 bits
    assert ring_of(records).key_of(secret) == key
    assert secret not in repr(records.all(KIND)) + repr(key)
    assert "hash" not in key.shown()
    for wrong in (None, "", secret[:-1], key.id, key.hash):
        assert refusal(ring_of(records), wrong) == 401


@pytest.mark.parametrize(
    ("scopes", "bandits", "scope", "bandit", "may"),
    [
        (("decide",), ("*",), "decide", "x", True),
        (("decide",), ("*",), "reward", "x", False),
        (("admin",), ("*",), "reward", "x", True),
        (("read",), ("shop-*", "x"), "read", "shop-1", True),
        (("read",), ("shop-*", "x"), "read", "x", True),
        (("read",), ("shop-*", "x"), "read", "xy", False),
        (("read",), ("shop-*", "x"), "read", "my-shop-1", False),
        (("admin",), ("x",), "admin", "y", False),
        ((), ("*",), "read", "x", False),
    ],
)
def test_a_key_allows_its_scopes_with_its_bandits(
    scopes: tuple[str, ...], bandits: tuple[str, ...], scope: str, bandit: str, may: bool
) -> None:
    key = Key("id", "hash", scopes=scopes, bandits=bandits)
    assert key.may(scope, bandit) is may
    if not may:
        with pytest.raises(Problem, match=f"does not allow '{scope}'"):
            key.check(scope, bandit)


def test_two_keys_are_valid_while_one_takes_the_place_of_the_other() -> None:
    records = Records()
    old, secret = create_key(records, scopes=["read"], bandits=["a*"])
    new, other = rotate_key(records, old.id, overlap=1000.0)
    ring = ring_of(records)
    assert ring.key_of(other) == new
    assert (new.scopes, new.bandits) == (old.scopes, old.bandits)
    until = ring.key_of(secret).until
    assert until is not None and 0 < until - time.time() <= 1000


def test_a_key_that_ended_or_was_revoked_is_refused() -> None:
    records = Records()
    key, secret = create_key(records)
    ring = KeyRing()
    ring.replace([Key(key.id, key.hash, until=time.time() - 1.0)])
    assert refusal(ring, secret) == 401
    revoke_key(records, key.id)
    assert refusal(ring_of(records), secret) == 401
    with pytest.raises(BadParameter, match="there is no key"):
        revoke_key(records, key.id)


def test_a_bucket_gives_a_second_of_tokens_at_once_and_then_its_rate() -> None:
    bucket = Bucket(4.0)
    waits = [bucket.take(100.0) for _ in range(5)]
    assert waits == [0.0, 0.0, 0.0, 0.0, 0.25]
    assert [bucket.take(100.5) for _ in range(3)] == [0.0, 0.0, 0.25]


def test_a_key_that_asks_too_often_is_told_when_to_come_back() -> None:
    records = Records()
    _, secret = create_key(records, rate=0.01)
    _, free = create_key(records)
    ring = ring_of(records)
    ring.key_of(secret)
    with pytest.raises(Problem) as caught:
        ring.key_of(secret)
    assert caught.value.status == 429
    assert 90 < int(caught.value.headers["retry-after"]) <= 100
    for _ in range(9):
        ring.key_of(free)


@pytest.mark.parametrize("wrong", [{"scopes": ["rule"]}, {"bandits": ["a*b"]}, {"secret": "short"}])
def test_wrong_keys_are_not_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadParameter):
        create_key(Records(), **wrong)
