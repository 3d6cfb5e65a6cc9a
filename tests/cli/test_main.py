"""The program itself: version, help, and commands that are found."""

import pytest
from cli.conftest import Giro

from giro import cli
from giro.version import __version__


def test_version_and_help(giro: Giro) -> None:
    assert giro("--version").out == f"giro {__version__}\n"
    assert giro().out == giro("--help").out == giro("-h").out
    assert "Examples:\n    giro policies\n" in giro("--help").out


@pytest.mark.parametrize("command", ["simulate", "plot", "policies", "problems"])
def test_every_command_explains_itself_with_examples(giro: Giro, command: str) -> None:
    done = giro(command, "--help")
    assert done.status == 0
    assert f"    giro {command}" in done.out
    assert f"\n  {command} " in giro("--help").out


def test_commands_are_found_by_being_files() -> None:
    assert cli.__doc__ is not None
    assert "one file for each command" in cli.__doc__
