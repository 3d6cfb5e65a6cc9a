"""`giro policies` and `giro problems`."""

import re

import pytest
from cli.conftest import Giro

from giro import Policy, Problem, cli
from giro.cli import catalogue
from giro.version import __version__


@pytest.mark.parametrize(("command", "kind"), [("policies", Policy), ("problems", Problem)])
def test_everything_there_is_has_one_line_with_parameters_and_source(
    giro: Giro, command: str, kind: type[Policy] | type[Problem]
) -> None:
    done = giro(command)
    lines = done.out.splitlines()
    assert (done.status, done.error) == (0, "")
    assert [line.split()[0] for line in lines[1:]] == list(kind.known())
    for line, cls in zip(lines[1:], kind.known().values(), strict=True):
        assert cls.source in line


def test_the_defaults_are_shown(giro: Giro) -> None:
    assert re.search(r"^giro +a=1, ties=random, window=none ", giro("policies").out, re.MULTILINE)
    assert re.search(r"^randomized +draw, .*from Python only", giro("policies").out, re.MULTILINE)


def test_records_hold_the_same(giro: Giro) -> None:
    records = {record["name"]: record for record in giro("policies", "--json").records}
    assert list(records) == list(Policy.known())
    assert records["giro"]["parameters"] == {"a": "1", "ties": "random", "window": "none"}
    assert records["randomized"]["parameters"]["draw"] is None
    assert not records["randomized"]["text"]
    assert [r["name"] for r in giro("problems", "--json").records] == list(Problem.known())


def test_a_narrow_terminal_gets_paragraphs(giro: Giro, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "page_width", lambda: 50)
    out = giro("policies").out
    assert max(map(len, out.splitlines())) <= 50
    assert "greedy  model=none, ties=random\n    Pulls the arm" in out


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
    assert "one command a file" in cli.__doc__
