"""Every table of numbers in the documents is what scripts/tables.py writes."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import tables  # noqa: E402  # a script, not a package

PAGES = [*sorted(tables.DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
TABLE = re.compile(r"^\|.*\n\|[ :|-]+\n((?:\|.*\n)+)", re.MULTILINE)
NUMBER = re.compile(r"[*+−≥≤<>~-]*\d[\d,.]*(?![\w-])")
MOST = 0.1  # share of numbers among the cells of a table of words, which may mention some


def unnamed_tables(text: str) -> Iterator[str]:
    """Yield the tables with numbers that stand outside of markers and code."""
    for table in TABLE.finditer(tables.BETWEEN.sub("", CODE.sub("", text))):
        cells = [cell.strip() for row in table[1].splitlines() for cell in row[1:-1].split("|")]
        if sum(bool(NUMBER.match(cell)) for cell in cells) > MOST * len(cells):
            yield table[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_tables_of_a_page_are_those_of_the_results(page: Path) -> None:
    text = page.read_text("utf-8")
    assert tables.current(text) == text, "run `python scripts/tables.py`"
    assert list(unnamed_tables(text)) == [], (
        "a table of numbers has no source: see scripts/tables.py"
    )


def test_every_table_that_can_be_written_is_in_one_page() -> None:
    text = "".join(page.read_text("utf-8") for page in PAGES)
    assert sorted(match[2] for match in tables.BETWEEN.finditer(text)) == sorted(tables.TABLES)
    assert text.count("<!-- table: ") == len(tables.TABLES)


def test_a_table_without_a_source_is_noticed_and_one_with_words_is_not() -> None:
    numbers = "| policy | µs |\n| --- | ---: |\n| `giro` | 3.1 |\n"
    words = "| policy | state |\n| --- | --- |\n| `giro` | grows in 2 ways |\n"
    assert list(unnamed_tables(numbers)) == [numbers]
    assert list(unnamed_tables(f"{words}\n<!-- table: costs -->\n{numbers}<!-- end -->\n")) == []


def test_a_cell_that_was_changed_by_hand_is_noticed() -> None:
    page = (tables.DOCS / "theory.md").read_text("utf-8")
    changed = page.replace("**holds**", "**fails**", 1)
    assert changed != page and tables.current(changed) == page
