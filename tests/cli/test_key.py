"""`giro key`."""

from pathlib import Path

from cli.conftest import Giro

from giro import Records
from giro.service.keys import KeyRing, all_keys


def test_a_key_is_created_replaced_listed_and_revoked(giro: Giro, tmp_path: Path) -> None:
    store = ("--store", f"sqlite:///{tmp_path}/x.db")
    done = giro("key", "create", *store, "--scopes", "decide", "--bandits", "a,b*", "--note", "n")
    assert done.status == 0
    secret = done.out.strip()
    (row,) = giro("key", "list", *store, "--json").records
    assert (row["scopes"], row["bandits"], row["note"]) == (["decide"], ["a", "b*"], "n")
    with Records(store[1]) as records:
        ring = KeyRing()
        ring.replace(all_keys(records))
    assert ring.key_of(secret).id == row["id"]
    assert giro("key", "create", *store, "--replace", row["id"]).status == 0
    shown = giro("key", "list", *store).out
    assert shown.count("a,b*") == 2 and secret not in shown
    assert giro("key", "revoke", row["id"], *store).status == 0
    assert row["id"] not in giro("key", "list", *store).out
    assert giro("key", "revoke", row["id"], *store).status == 2


def test_the_key_of_a_loop_is_for_its_bandit(giro: Giro, tmp_path: Path) -> None:
    store = ("--store", f"sqlite:///{tmp_path}/x.db")
    giro("key", "create", *store, "--loop", "news")
    (row,) = giro("key", "list", *store, "--json").records
    assert (row["loop"], row["bandits"]) == ("news", ["news"])


def test_a_mistake_makes_no_store(giro: Giro, tmp_path: Path) -> None:
    store = ("--store", f"sqlite:///{tmp_path}/x.db")
    done = giro("key", "create", *store, "--scopes", "eat")
    assert (done.status, done.error) == (
        2,
        "giro: a scope is one of decide, reward, read, admin, got 'eat'\n",
    )
    for words in (("list",), ("revoke", "abc"), ("create", "--replace", "abc")):
        done = giro("key", *words, *store)
        assert done.status == 2
        assert f"there is no file '{tmp_path}/x.db'" in done.error
    assert list(tmp_path.iterdir()) == []
