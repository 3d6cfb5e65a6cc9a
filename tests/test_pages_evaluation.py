"""The page on evaluation does what it says."""

import re
import shlex
from pathlib import Path

import pytest

from giro.cli.main import status_of

PAGE = (Path(__file__).parents[1] / "docs" / "evaluation.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_page_runs_and_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, "evaluation.md", "exec"), names)
    printed = capsys.readouterr().out
    (shown,) = blocks("text")
    assert printed.startswith(shown)
    assert printed.count("replay") == 1
    commands = [line for line in "\n".join(blocks("sh")).splitlines() if line]
    assert len(commands) == 3
    for command in commands:
        assert status_of(shlex.split(command)[1:]) == 0, command
    assert (tmp_path / "forest.png").exists()
