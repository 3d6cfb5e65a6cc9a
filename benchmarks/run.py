"""Print every bar as a ratio: small commands, and calls of a bandit.

    python benchmarks/run.py [--quick]

`bandit_costs.py` writes results/bandit/costs.json. --quick does little of everything, to see that
it works; its numbers mean nothing and go to .benchmarks/quick.
"""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Iterator

import bandit_costs
from ratio import Ratio, cores, cost_of, least, shown

from giro.version import __version__

MAIN = "from giro.cli.main import main; main()"
COMMANDS = {  # code, arguments, and the seconds allowed
    "import giro": ("import giro", "", 0.4),
    "giro --help": (MAIN, "--help", 0.4),
    "giro simulate": (MAIN, "simulate giro:a=1 ucb1 --rounds 1000 --runs 10", 2.0),
}


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    print(f"giro {__version__}, Python {platform.python_version()}, {cores()} cores")
    print(f"work waiting for them from before, on average: {os.getloadavg()[0]:.1f}\n")
    print(_line("ratio", "bar", "", "ours", "theirs", "unit", "what"))
    reached = []
    for measured in (seconds_from_shell, bandit_costs.everything):
        for bar in measured(quick=quick):
            reached.append(bar.reached)
            numbers = (shown(bar.ratio), bar.bar, bar.verdict, shown(bar.ours), shown(bar.theirs))
            print(_line(*numbers, bar.unit, bar.name), flush=True)
    print(f"\n{sum(reached)} of {len(reached)} bars reached")


def seconds_from_shell(*, quick: bool) -> Iterator[Ratio]:
    """Yield wall times of small commands once they are compiled, with the start of Python."""
    for name, (code, words, allowed) in COMMANDS.items():

        def work(command: tuple[str, ...] = (sys.executable, "-c", code, *words.split())) -> None:
            subprocess.run(command, capture_output=True, check=True)

        work()  # compiles, where nobody has yet
        wall = least([cost_of(work) for _ in range(1 if quick else 5)]).wall
        what = f"{name}, started warm, against {allowed:g} s"
        yield Ratio.at_most(what, ours=wall, theirs=allowed, bar=1.0, unit="s of wall time")


def _line(*cells: str) -> str:
    ratio, bar, verdict, ours, theirs, unit, what = cells
    return f"{ratio:>8}  {bar:<7} {verdict:<12}{ours:>11} {theirs:>11}  {unit:<18} {what}"


if __name__ == "__main__":
    main()
