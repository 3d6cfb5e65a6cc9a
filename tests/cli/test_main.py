"""The program itself: version, help, and commands that are found."""

import importlib
import inspect
import subprocess
import sys

import pytest
from cli.conftest import Giro

from giro import cli
from giro.cli.main import _commands, app
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


def test_commands_are_read_as_they_are_added(giro: Giro) -> None:
    commands = list(_commands())
    for command in commands:
        importlib.import_module(command.module)
    added = {
        each.name or str(getattr(each.callback, "__name__", "")).replace("_", "-"): inspect.getdoc(
            each.callback
        )
        for each in app.registered_commands
    }
    groups = {
        each.name or "": inspect.getdoc(each.typer_instance.registered_callback.callback)  # type: ignore[union-attr]  # it has one
        for each in app.registered_groups
    }
    assert {each.name: each.text for each in commands if each.is_group} == groups
    found = {each.name: each.text for each in commands if not each.is_group}
    assert found == {name: text for name, text in added.items() if name in found}
    assert len(commands) == len({each.name for each in commands}) > 8


LISTED = """
import sys
from giro.cli.main import status_of
status = status_of(sys.argv[1:])
heavy = ("numba", "numpy", "polars", "rich", "scipy", "giro.bandit", "giro.cli.simulate")
print(status, [name for name in heavy if name in sys.modules])
"""


@pytest.mark.parametrize("words", [["--help"], ["--version"], []])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LISTED, *words], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "0 []"


def test_a_command_does_not_import_the_others() -> None:
    code = LISTED.replace("giro.bandit", "giro.paper.commands.theory")
    done = subprocess.run(
        [sys.executable, "-c", code, "plot", "--help"], capture_output=True, text=True, check=True
    )
    assert "giro.paper.commands.theory" not in done.stdout.splitlines()[-1]


def test_every_command_says_that_it_was_interrupted(
    giro: Giro, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("giro.cli.catalogue.print_json", interrupt)
    done = giro("policies", "--json")
    assert (done.status, done.out, done.error) == (130, "", "giro: interrupted\n")
