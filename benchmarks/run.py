"""Print every bar as a ratio, and write results/benchmarks.json and results/bandit/costs.json.

    python benchmarks/run.py [--only SECTION ...] [--quick]

Ours and theirs take turns in one process (peers in one each), and the least processor time of
some repeats counts, so that other work on the machine matters little. Every row says which version
and commit it was taken with; a run of all sections leaves no other row. With --only, rows of other
sections stay as they are. --quick does little of everything, to see that it works; its numbers
mean nothing and go to .benchmarks/quick.
"""

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bandit
import contextual_giro
import exact_giro
import paper_scale
import python_libraries
import warm_start
from ratio import Ratio, cores, results, say, shown

from giro.version import __version__, stamp

SECTIONS: dict[str, Callable[..., Iterator[Ratio]]] = {
    "exact": exact_giro.everything,
    "peers": python_libraries.every_library,
    "contextual": contextual_giro.everything,
    "paper": paper_scale.everything,
    "start": warm_start.seconds_from_shell,
    "bandit": bandit.everything,
}


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    print(f"giro {__version__}, Python {platform.python_version()}, {cores()} cores")
    print(f"work waiting for them from before, on average: {os.getloadavg()[0]:.1f}\n")
    print(_line("ratio", "bar", "", "ours", "theirs", "unit", "what"))
    path, ratios = results(options.quick) / "benchmarks.json", []
    rows = kept(path, set(SECTIONS) - set(options.only))
    for section in options.only:
        say(section)
        made_by = stamp(f"python benchmarks/run.py --only {section}")._asdict()
        for ratio in SECTIONS[section](quick=options.quick):
            ratios.append(ratio)
            rows.append({"section": section, **ratio._asdict(), "made_by": made_by})
            print(_row(ratio), flush=True)
        write(path, rows)
    print(f"\n{sum(ratio.reached is True for ratio in ratios)} of {len(ratios)} bars reached")


def kept(path: Path, sections: set[str]) -> list[dict[str, Any]]:
    """Return the rows of a file that belong to some sections, all of which still exist."""
    if not path.exists():
        return []
    rows = json.loads(path.read_text("utf-8"))["rows"]
    return [row for row in rows if row["section"] in sections]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write all rows, in the order of the sections."""
    order = list(SECTIONS)
    made_by = stamp("python benchmarks/run.py")._asdict()
    content = {"made_by": made_by, "rows": sorted(rows, key=lambda r: order.index(r["section"]))}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _row(ratio: Ratio) -> str:
    note = f" ({ratio.note})" if ratio.note else ""
    numbers = (shown(ratio.ratio), ratio.bar, ratio.verdict, shown(ratio.ours), shown(ratio.theirs))
    return _line(*numbers, ratio.unit, ratio.name + note)


def _line(*cells: str) -> str:
    ratio, bar, verdict, ours, theirs, unit, what = cells
    return f"{ratio:>8}  {bar:<7} {verdict:<12}{ours:>11} {theirs:>11}  {unit:<18} {what}"


if __name__ == "__main__":
    main()
