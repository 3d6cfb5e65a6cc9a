"""Print every bar as a ratio, and write results/benchmarks.json and results/bandit/costs.json.

    python benchmarks/run.py [--only SECTION ...] [--quick]

Every row says which version and commit it was taken with; a run of all sections leaves no other
row. With --only, rows of other sections stay as they are. --quick does little of everything, to see
that it works; its numbers mean nothing and go to .benchmarks/quick.
"""

import argparse
import os
import platform
from collections.abc import Callable, Iterator

import bandit_costs
import warm_start
from ratio import Ratio, cores, kept_rows, results, say, shown, write_rows

from giro.version import __version__, stamp

SECTIONS: dict[str, Callable[..., Iterator[Ratio]]] = {
    "start": warm_start.seconds_from_shell,
    "bandit": bandit_costs.everything,
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
    rows = kept_rows(path, set(SECTIONS) - set(options.only))
    for section in options.only:
        say(section)
        made_by = stamp(f"python benchmarks/run.py --only {section}")._asdict()
        for ratio in SECTIONS[section](quick=options.quick):
            ratios.append(ratio)
            rows.append({"section": section, **ratio._asdict(), "made_by": made_by})
            print(_row(ratio), flush=True)
        write_rows(path, rows, order=list(SECTIONS))
    print(f"\n{sum(ratio.reached for ratio in ratios)} of {len(ratios)} bars reached")


def _row(ratio: Ratio) -> str:
    numbers = (shown(ratio.ratio), ratio.bar, ratio.verdict, shown(ratio.ours), shown(ratio.theirs))
    return _line(*numbers, ratio.unit, ratio.name)


def _line(*cells: str) -> str:
    ratio, bar, verdict, ours, theirs, unit, what = cells
    return f"{ratio:>8}  {bar:<7} {verdict:<12}{ours:>11} {theirs:>11}  {unit:<18} {what}"


if __name__ == "__main__":
    main()
