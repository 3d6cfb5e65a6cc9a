"""Write the table of statements into docs/theory.md, from results/theory/statements.csv."""

import csv
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOC = ROOT / "docs" / "theory.md"
STATEMENTS = ROOT / "results" / "theory" / "statements.csv"
BETWEEN = re.compile(r"(<!-- statements:.*?-->\n).*?(<!-- end of statements -->)", re.DOTALL)


def table() -> str:
    """Return all statements as a table in Markdown."""
    with STATEMENTS.open(encoding="utf-8") as file:
        next(file)  # the command
        rows = list(csv.DictReader(file))
    head = "| command | statement | verdict | figures |\n| --- | --- | --- | --- |"
    return "\n".join([head, *(_row(row) for row in rows)]) + "\n"


def _row(row: dict[str, str]) -> str:
    cells = (f"`{row['command']}`", row["claim"], f"**{row['verdict']}**", row["figures"])
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    DOC.write_text(BETWEEN.sub(lambda match: match[1] + table() + match[2], DOC.read_text()))
