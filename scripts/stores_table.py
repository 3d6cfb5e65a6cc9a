"""Write what benchmarks/stores.py and make torture measured into docs/production.md."""

import csv
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE, RESULTS = ROOT / "docs" / "production.md", ROOT / "results" / "bandit"


def table(name: str, heads: dict[str, str]) -> str:
    """Return a CSV file of the results as a table of a page."""
    with (RESULTS / name).open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    lines = ["| " + " | ".join(heads.values()) + " |", "| --- | ---" + " | ---:" * (len(heads) - 2)]
    lines[1] += " |"
    for row in rows:
        cells = [f"{float(v):,g}" if _is_number(v) else v for v in (row[key] for key in heads)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def main() -> None:
    """Write the tables into the page."""
    speed = table(
        "stores.csv",
        {
            "store": "store",
            "from": "from",
            "rounds_per_second": "rounds a second",
            "plain_inserts": "plain inserts",
            "ratio": "ratio",
        },
    )
    large = table(
        "large_log.csv",
        {
            "store": "store",
            "events": "events",
            "open_ms": "open, ms",
            "decide_p50_ms": "decide p50, ms",
            "decide_p99_ms": "p99",
            "decide_max_ms": "longest",
            "reward_p50_ms": "reward p50, ms",
            "reward_p99_ms": "p99",
            "reward_max_ms": "longest",
            "most_memory_MB": "memory, MB",
        },
    )
    text = f"""Measured by `python benchmarks/stores.py` on two cores, with ten arms and `thompson`. A round is a decision
and its reward, each durable before the call returns; beside it, two inserts of the same rows, each committed:

{speed}

As the log grows (memory of the process that filled the log and opened it again):

{large}
"""  # noqa: E501
    page = PAGE.read_text()
    page = _between(page, "stores: written by scripts/stores_table.py", "end of stores", text)
    torture = (RESULTS / "torture.txt").read_text().strip()
    page = _between(page, "torture", "end of torture", f"```text\n{torture}\n```")
    PAGE.write_text(page)


def _between(page: str, begin: str, end: str, text: str) -> str:
    pattern = rf"(<!-- {begin} -->\n).*?(<!-- {end} -->)"
    return re.sub(pattern, lambda m: f"{m[1]}\n{text}\n{m[2]}", page, flags=re.DOTALL)


if __name__ == "__main__":
    main()
