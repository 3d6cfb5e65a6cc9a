"""`giro policies` and `giro problems`."""

import re

import pytest
from cli.conftest import Giro

from giro import Policy, Problem
from giro.cli import catalogue


@pytest.mark.parametrize(("command", "kind"), [("policies", Policy), ("problems", Problem)])
def test_everything_there_is_has_one_line_with_parameters_and_source(
    giro: Giro, command: str, kind: type[Policy] | type[Problem]
) -> None:
    done = giro(command)
    lines = done.out.splitlines()
    assert (done.status, done.error) == (0, "")
    assert [line.split()[0] for line in lines[1:]] == list(kind.known())
    for line, cls in zip(lines[1:], kind.known().values(), strict=True):
        assert vars(cls)["source"] in line


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
