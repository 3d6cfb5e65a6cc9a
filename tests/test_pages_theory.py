"""docs/theory.md says what the commands print."""

import re
from pathlib import Path

import pytest

from giro.cli.main import status_of

ROOT = Path(__file__).parents[1]
DOC = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"(?<![\w.])(\d+\.\d+(?:e[+-]\d+)?)")
PRINTED = (ROOT / "results" / "theory" / "tables.txt").read_text(encoding="utf-8")


def test_every_decimal_number_is_printed_by_a_command() -> None:
    prose = re.sub(r"!\[.*?\]\(.*?\)|`.*?`|Section \d\.\d", "", DOC)
    numbers = set(re.findall(r"e\^\d+\.\d+|\d+\.\d+(?:e\+\d+)?|\d{3,}", prose)) - {"2019"}
    missing = {n for n in numbers if not re.search(rf"(?<![\d.]){re.escape(n)}(?!\d)", PRINTED)}
    assert len(numbers) > 30
    assert missing == set()


def test_every_figure_is_there() -> None:
    figures = re.findall(r"\]\((\S+\.png)\)", DOC)
    assert len(figures) == 7
    assert all((ROOT / "docs" / figure).resolve().exists() for figure in figures)


@pytest.mark.parametrize("name", ["bound", "optimism"])
def test_the_results_are_what_the_commands_print_today(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    start = PRINTED.index(f"giro theory {name} ")
    expected = PRINTED[start : PRINTED.find("\n\ngiro theory ", start) + 1]
    command = expected.partition(" (giro ")[0].split()[1:]
    capsys.readouterr()
    assert status_of(command) == 0
    shown = capsys.readouterr().out
    for line, kept in zip(shown.splitlines()[1:], expected.splitlines()[1:], strict=True):
        assert are_alike(line, kept), f"{line}\n{kept}"


def are_alike(line: str, kept: str) -> bool:
    """Return whether lines are equal, but for digits that other processors round differently."""
    pairs = zip(re.split(NUMBER, line), re.split(NUMBER, kept), strict=True)
    return all(
        float(one) == pytest.approx(float(other), rel=1e-5)
        if i % 2
        else one.split() == other.split()
        for i, (one, other) in enumerate(pairs)
    )


def test_other_numbers_are_noticed() -> None:
    assert are_alike("a  55499.2 no", "a  55499.0 no")
    assert not are_alike("a 3.27 no", "a 3.28 no")
    assert not are_alike("a 3.27 no", "a 3.27 yes")
