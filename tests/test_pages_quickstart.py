"""Whoever follows the page "From nothing to a live bandit in ten minutes" arrives there."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

from servers import Server, free_port

PAGE = (Path(__file__).parents[1] / "docs" / "quickstart.md").read_text("utf-8")
ADDRESS = "http://127.0.0.1:8720"
FIRST_START = ["env", "--unset=GIRO_ADMIN_KEY", "giro", "serve"]  # as a reader starts it


def blocks(language: str) -> list[str]:
    """Return the blocks of the page, also those in lists."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", PAGE, re.M | re.S)
    return [textwrap.dedent(code) for _, code in found]


def pattern_of(shown: str) -> str:
    return re.escape(shown).replace(r"\.\.\.", r"(\S+)").replace("8720", r"\d+")


def test_every_step_works(tmp_path: Path) -> None:
    install, serve, export, *commands = blocks("sh")
    assert serve == "giro serve\n"
    assert "[serve,client]" in install and "GIRO_KEY=" in export
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def result_of(*words: str) -> str:
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    with Server(FIRST_START, port=free_port(), folder=tmp_path, environment=environment) as server:
        (shown,) = blocks("text")
        lines = re.search(pattern_of(shown), server.ready().log.read_text("utf-8"))
        assert lines is not None
        environment["GIRO_KEY"] = f"giro_{lines[1]}"
        create, ask, make_key = (command.replace(ADDRESS, server.url) for command in commands)
        result_of("sh", "-c", create)
        assert json.loads(result_of("sh", "-c", ask))["arm"] in ("red", "green")
        code = "\n".join(blocks("python")).replace(ADDRESS, server.url)
        quick = code.replace("time.sleep(0.05)", "time.sleep(0)").replace("(600)", "(40)")
        counted = f"{quick}\nprint(client.flush(), button.summary()['decisions'].sum() >= 82)"
        assert "0 True\n" in result_of(sys.executable, "-W", "error", "-c", counted)
        assert "giro_" in result_of("sh", "-c", make_key)
        server.stop()
