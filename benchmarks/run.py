"""Print every bar as a ratio, and write results/benchmarks.json and its curves.

    python benchmarks/run.py [--only SECTION ...] [--quick] [--out FOLDER]

Ours and theirs take turns in one process (peers in one each), and the least processor time of
some repeats counts, so that other work on the machine matters little. Sections left out keep what
the file says about them. --quick does little of everything, to see that it works; its numbers
mean nothing and go to .benchmarks/quick.
"""

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path

import bandit_speed
import contextual_giro
import contextual_peers
import default_cost
import draws_speed
import ensemble_and_vw
import exact_giro
import long_run
import many_arms
import network_speed
import numpy_vectorised
import paper_scale
import propensities
import python_libraries
import warm_start
from ratio import Ratio, cores, say, shown

from giro import __version__

ROOT = Path(__file__).parent.parent
Section = Callable[[Path, bool], Iterator[Ratio]]


def _only_curves(folder: Path, quick: bool) -> Iterator[Ratio]:
    long_run.time_per_round(folder, quick=quick)
    yield from ()


SECTIONS: dict[str, Section] = {
    "exact": lambda _, quick: exact_giro.against_plain(quick=quick),
    "draws": lambda _, quick: draws_speed.every_distribution(quick=quick),
    "growth": lambda _, quick: exact_giro.growth(quick=quick),
    "bernoulli": lambda _, quick: exact_giro.bernoulli(quick=quick),
    "peers": lambda _, quick: python_libraries.every_library(quick=quick),
    "contextual-peers": lambda _, quick: contextual_peers.every_library(quick=quick),
    "contextual": lambda folder, quick: contextual_giro.everything(folder, quick=quick),
    "vw": lambda _, quick: ensemble_and_vw.against_bag(quick=quick),
    "network": lambda _, quick: network_speed.against_pytorch(quick=quick),
    "numpy": lambda _, quick: numpy_vectorised.every_policy(quick=quick),
    "paper": lambda _, quick: paper_scale.everything(quick=quick),
    "start": lambda _, quick: warm_start.seconds_from_shell(quick=quick),
    "memory": lambda _, quick: long_run.memory(quick=quick),
    "time": _only_curves,
    "arms": lambda folder, quick: many_arms.cost_against_arms(folder, quick=quick),
    "default": lambda folder, quick: default_cost.everything(folder, quick=quick),
    "bandit": lambda folder, quick: bandit_speed.everything(folder, quick=quick),
    "propensities": lambda folder, quick: propensities.everything(folder, quick=quick),
}


def main() -> None:
    """Measure what was asked for."""
    options = _options()
    out = options.out or ROOT / (".benchmarks/quick" if options.quick else "results")
    chosen = options.only or list(SECTIONS)
    print(f"giro {__version__}, Python {platform.python_version()}, {cores()} cores")
    print(f"work waiting for them from before, on average: {os.getloadavg()[0]:.1f}\n")
    print(_line("ratio", "bar", "", "ours", "theirs", "unit", "what"))
    found: dict[str, list[Ratio]] = {}
    for section in chosen:
        say(section)
        found[section] = []
        for ratio in SECTIONS[section](out / "benchmarks", options.quick):
            found[section].append(ratio)
            print(_row(ratio), flush=True)
        _write(out / "benchmarks.json", {section: found[section]})
    ratios = [ratio for several in found.values() for ratio in several]
    print(f"\n{sum(ratio.reached is True for ratio in ratios)} of {len(ratios)} bars reached")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, metavar="FOLDER")
    parser.epilog = f"sections: {', '.join(SECTIONS)}"
    return parser.parse_args()


def _row(ratio: Ratio) -> str:
    note = f" ({ratio.note})" if ratio.note else ""
    numbers = (shown(ratio.ratio), ratio.bar, ratio.verdict, shown(ratio.ours), shown(ratio.theirs))
    return _line(*numbers, ratio.unit, ratio.name + note)


def _line(*cells: str) -> str:
    ratio, bar, verdict, ours, theirs, unit, what = cells
    return f"{ratio:>8}  {bar:<7} {verdict:<12}{ours:>11} {theirs:>11}  {unit:<18} {what}"


def _write(path: Path, found: dict[str, list[Ratio]]) -> None:
    """Put what was found into the file, in place of what it says about these sections."""
    old = json.loads(path.read_text()) if path.exists() else []
    new = [{"section": name} | r._asdict() for name, several in found.items() for r in several]
    kept = [e for e in old if e["section"] in SECTIONS and e["section"] not in found]
    order = list(SECTIONS)
    entries = sorted(kept + new, key=lambda entry: order.index(entry["section"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
