"""Write what benchmarks/stores.py and pauses.py measured into docs/production.md."""

import csv
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
and its reward, each durable before the call returns; beside it, two inserts of the same rows, each committed.
Other programs used the cores and the disk, too: what counts is the ratio, of runs taken in turns.

{speed}

Plain inserts of several writers commit side by side; those on one bandit commit one after the other, because
positions are given out under a lock, and each process reads what the others append. Threads of a process share commits.
An append to PostgreSQL is one round trip.

As the log grows (memory of the process that filled the log and opened it again; rows were measured at
different times, on a machine that was more or less busy):

{large}
"""  # noqa: E501
    page = PAGE.read_text()
    page = _between(page, "stores: written by scripts/stores_table.py", "end of stores", text)
    page = _between(page, "pauses: written by scripts/stores_table.py", "end of pauses", pauses())
    PAGE.write_text(page)


def pauses() -> str:
    """Return what once stopped all calls as a table of a page."""
    with (ROOT / "results" / "bandit" / "pauses.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    heads = {
        "what": "what, after 1,000,000 rounds where nothing else is said",
        "before_s": "giro 0.1.0, s",
        "now_s": "now, s",
        "others_waited_s": "longest decision meanwhile, s",
    }
    kept = [{key: _marked(row[key]) for key in heads} for row in rows]
    return table(kept, heads).replace("| --- | --- |", "| --- | ---: |", 1) + "\n"


def _marked(cell: str) -> str:
    """Return a cell with the names of policies and methods as code."""
    return re.sub(r"\b(events\(\)|add_arm|(?:lin-ucb|giro-ensemble|giro|thompson)$)", r"`\1`", cell)


def _between(page: str, begin: str, end: str, text: str) -> str:
    pattern = rf"(<!-- {begin} -->\n).*?(<!-- {end} -->)"
    return re.sub(pattern, lambda m: f"{m[1]}\n{text}\n{m[2]}", page, flags=re.DOTALL)


if __name__ == "__main__":
    main()
