"""Commands on a running service."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from cli.conftest import Giro

from giro import Bandit, Records
from giro.cli.remote import answer_of
from giro.errors import BadParameter, GiroError
from giro.service.app import application
from giro.service.keys import create_key
from giro.service.settings import Settings

SECRET = "a key of sixteen characters or more"


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve in another thread, with the key in the environment."""
    settings = Settings(store=f"sqlite:///{tmp_path}/giro.db")
    with Records(settings.store) as records:
        create_key(records, secret=SECRET)
    monkeypatch.setenv("GIRO_KEY", SECRET)
    config = uvicorn.Config(application(settings), port=0, log_level="warning", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.01)
        assert thread.is_alive()
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


def test_a_bandit_of_a_service_is_made_shown_and_retired(
    giro: Giro, url: str, tmp_path: Path
) -> None:
    at = ("--url", url)
    assert giro("bandit", "list", *at).out == "no bandits\n"
    made = giro("bandit", "create", "button", "--arms", "red,green", "--policy", "ucb1", *at)
    assert (made.status, made.out) == (0, "")
    again = giro("bandit", "create", "button", "--arms", "red,green", *at)
    assert again.status == 2 and "already has" in again.error
    assert giro("bandit", "show", url).out == giro("bandit", "list", *at).out == "button\n"
    shown = giro("bandit", "show", url, "button", "--json").records
    store = f"sqlite:///{tmp_path}/giro.db"
    assert shown == giro("bandit", "show", store, "button", "--json").records
    assert "policy     ucb1" in giro("bandit", "show", url, "button").out
    assert giro("bandit", "retire", "button", *at).status == 0
    assert answer_of(url, "GET", "bandits", "button")["retired"]
    missing = giro("bandit", "retire", "nothing", *at)
    assert missing.status == 2 and "no bandit 'nothing'" in missing.error
    with Bandit.open(store, "button") as bandit:
        assert bandit.arms == ["red", "green"]


def test_a_key_of_a_service_is_created_replaced_listed_and_revoked(
    giro: Giro, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = ("--url", url)
    secret = giro("key", "create", "--scopes", "admin", "--bandits", "a*", *at).out.strip()
    rows = giro("key", "list", *at, "--json").records
    (row,) = (row for row in rows if row["bandits"] == ["a*"])
    assert "hash" not in row and row["scopes"] == ["admin"]
    assert giro("key", "create", "--replace", row["id"], *at).status == 0
    assert giro("key", "list", *at).out.count("a*") == 2
    assert giro("key", "revoke", row["id"], *at).status == 0
    assert giro("key", "revoke", row["id"], *at).status == 2
    monkeypatch.setenv("GIRO_KEY", secret)
    revoked = giro("bandit", "list", *at)
    assert revoked.status == 2 and "not valid" in revoked.error


def test_what_cannot_be_asked_is_one_sentence(
    giro: Giro, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadParameter, match="http://"):
        answer_of("ftp://x", "GET", "bandits")
    with pytest.raises(GiroError, match="no service answers"):
        answer_of("http://127.0.0.1:9", "GET", "bandits")
    with pytest.raises(BadParameter, match="there is nothing at"):
        answer_of(f"{url}/elsewhere", "GET", "bandits")
    monkeypatch.delenv("GIRO_KEY")
    assert "GIRO_KEY" in giro("bandit", "list", "--url", url).error
