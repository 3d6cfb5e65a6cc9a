"""`giro dashboard`: pages for this machine."""

import sys
from pathlib import Path

import httpx
import pytest
from servers import Server, free_port

from giro import Bandit
from giro.cli.main import status_of

DASHBOARD = (sys.executable, "-c", "from giro.cli.main import main; main()", "dashboard")


def test_the_command_shows_a_store_until_it_is_ended(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/shop.db"
    Bandit(["red", "green"], "thompson", name="button", store=store).close()
    with Server((*DASHBOARD, store), port=free_port(), folder=tmp_path) as server:
        server.ready("/assets/icon.svg")
        page = httpx.get(f"{server.url}/bandit", params={"name": "button"})
        assert page.status_code == 200
        assert "No decisions yet" in page.text
        server.stop()
    assert f"giro shows its dashboard at {server.url}/" in server.log.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nothing.giro"], "there is no file 'nothing.giro'"),
        (["."], "there is no file '.'"),
        (["mysql://host/shop"], "needs sqlite:///FILE, postgresql://... or a file"),
        (["sqlite:///nothing.db"], "there is no file 'nothing.db': it comes with the first bandit"),
        (["sqlite:///notes.txt"], "the store notes.txt fails: file is not a database"),
        (["sqlite:///notes.txt", "--port", "99999"], "less than or equal to 65535"),
    ],
)
def test_what_is_no_store_is_told_in_a_sentence(
    words: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("uvicorn.run", None)
    Path("notes.txt").write_text("no database")
    assert status_of(["dashboard", *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_a_store_without_tables_has_no_bandits(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    assert Bandit.names(f"sqlite:///{tmp_path}/empty.db") == []
