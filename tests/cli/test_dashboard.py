"""`giro dashboard`: pages for this machine."""

import subprocess
import sys
from pathlib import Path

import httpx
from servers import Server, free_port

from giro import Bandit

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


def test_what_is_no_store_is_told_in_a_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [*DASHBOARD, str(tmp_path / "nothing.giro")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "there is no file" in done.stderr
