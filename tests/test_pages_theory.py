"""docs/theory.md says what the commands print."""

import re
from pathlib import Path

import pytest

from giro.cli.main import status_of

ROOT = Path(__file__).parents[1]
DOC = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
PRINTED = {path: path.read_text("utf-8") for path in (ROOT / "results/theory").glob("*.txt")}


def test_every_decimal_number_is_printed_by_a_command() -> None:
    prose = re.sub(r"!\[.*?\]\(.*?\)|`.*?`|Section \d\.\d", "", DOC)
    numbers = set(re.findall(r"e\^\d+\.\d+|\d+\.\d+(?:e\+\d+)?|\d{3,}", prose)) - {"2019"}
    everything = "\n".join(PRINTED.values())
    missing = {n for n in numbers if not re.search(rf"(?<![\d.]){re.escape(n)}(?!\d)", everything)}
    assert len(numbers) > 30
    assert missing == set()


def test_the_table_is_that_of_the_results() -> None:
    rows = [line for line in DOC.splitlines() if line.startswith("| `")]
    with (ROOT / "results/theory/statements.csv").open(encoding="utf-8") as file:
        assert len(rows) == len(file.readlines()) - 2
    for row in rows:
        _, claim, verdict, figures = (cell.strip() for cell in row.strip("| ").split(" | "))
        printed = "\n".join(PRINTED.values())
        pattern = rf"^{re.escape(claim)} +{verdict.strip('*')} +{re.escape(figures)}$"
        assert re.search(pattern, printed, re.MULTILINE)


def test_every_figure_is_there() -> None:
    figures = re.findall(r"\]\((\S+\.png)\)", DOC)
    assert len(figures) == 7
    assert all((ROOT / "docs" / figure).resolve().exists() for figure in figures)


@pytest.mark.parametrize("name", ["bound", "optimism"])
def test_the_results_are_what_the_commands_print_today(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = PRINTED[ROOT / "results/theory" / f"{name}.txt"]
    command = expected.splitlines()[0].split()[1:]
    capsys.readouterr()
    assert status_of(command) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[1:] == expected.splitlines()[1:]
