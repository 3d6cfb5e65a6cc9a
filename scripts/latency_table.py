"""Write the table of what a bandit costs into its page, from results/bandit/latency.csv."""

import csv
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "bandit"
DOC = ROOT / "docs" / "howto" / "costs.md"
BETWEEN = re.compile(r"(<!-- latency:.*?-->\n).*?(<!-- end of latency -->)", re.DOTALL)


def table() -> str:
    """Return what was measured as a table in Markdown, the earlier version in brackets."""
    with (RESULTS / "latency.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    found = {(row["what"], row["policy"], row["version"]): row["value"] for row in rows}
    lines = [f"| | {' | '.join(f'`{policy}`' for policy in policies)} |"]
    lines.append("| --- |" + " ---: |" * len(policies))
    for what, unit in dict.fromkeys((row["what"], row["unit"]) for row in rows):
        cells = (_cell(found, what, policy) for policy in policies)
        lines.append(f"| {what.replace('_', ' ')}, {unit} | {' | '.join(cells)} |")
    rounds = rows[0]["rounds"]
    return (
        f"\nAfter {int(rounds):,} rounds; in brackets, giro 0.1.0:\n\n" + "\n".join(lines) + "\n\n"
    )


def _cell(found: dict[tuple[str, str, str], str], what: str, policy: str) -> str:
    now, before = (_shown(found.get((what, policy, version))) for version in ("now", "before"))
    return f"{now} ({before})" if before else now


def _shown(value: str | None) -> str:
    if value is None:
        return ""
    number = float(value)
    return f"{number:,.3g}" if number < 1e3 else f"{number:,.0f}"


if __name__ == "__main__":
    DOC.write_text(BETWEEN.sub(lambda match: match[1] + table() + match[2], DOC.read_text()))
    shutil.move(RESULTS / "latency.png", ROOT / "docs" / "pictures" / "latency.png")
