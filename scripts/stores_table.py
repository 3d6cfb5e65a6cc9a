"""Write what benchmarks/stores.py measured into docs/production.md."""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "production.md"


def table(rows: list[dict[str, Any]], heads: dict[str, str]) -> str:
    """Return records as a table of a page."""
    lines = ["| " + " | ".join(heads.values()) + " |"]
    lines.append("| --- | ---" + " | ---:" * (len(heads) - 2) + " |")
    for row in rows:
        cells = [v if isinstance(v, str) else f"{v:,}" for v in (row[key] for key in heads)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Write the tables into the page."""
    found = json.loads((ROOT / "results" / "bandit" / "stores.json").read_text())
    speed = table(
        found["throughput"],
        {
            "store": "store",
            "from": "from",
            "rounds_per_second": "rounds a second",
            "plain_inserts": "plain inserts",
            "ratio": "ratio",
        },
    )
    large = table(
        found["large log"],
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

PostgreSQL pays for the lock under which positions are given out and for some round trips a commit, and each
process reads what the others append: many writers on one bandit are slower than plain inserts by far.

As the log grows (memory of the process that filled the log and opened it again):

{large}
"""  # noqa: E501
    page = PAGE.read_text()
    page = _between(page, "stores: written by scripts/stores_table.py", "end of stores", text)
    PAGE.write_text(page)


def _between(page: str, begin: str, end: str, text: str) -> str:
    pattern = rf"(<!-- {begin} -->\n).*?(<!-- {end} -->)"
    return re.sub(pattern, lambda m: f"{m[1]}\n{text}\n{m[2]}", page, flags=re.DOTALL)


if __name__ == "__main__":
    main()
