"""How long small commands take from the shell, once their kernels are compiled."""

import subprocess
import sys
from collections.abc import Iterator

from ratio import Ratio, cost_of, least

MAIN = "from giro.cli.main import main; main()"
COMMANDS = {  # code, arguments, and the seconds allowed
    "import giro": ("import giro", "", 0.4),
    "giro --help": (MAIN, "--help", 0.4),
    "giro simulate": (MAIN, "simulate giro:a=1 ucb1 --rounds 1000 --runs 10", 2.0),
}


def seconds_from_shell(*, quick: bool) -> Iterator[Ratio]:
    """Yield wall times, start of Python and imports included."""
    for name, (code, words, allowed) in COMMANDS.items():

        def work(command: tuple[str, ...] = (sys.executable, "-c", code, *words.split())) -> None:
            subprocess.run(command, capture_output=True, check=True)

        work()  # compiles, where nobody has yet
        wall = least([cost_of(work) for _ in range(1 if quick else 5)]).wall
        what = f"{name}, started warm, against {allowed:g} s"
        yield Ratio.at_most(what, ours=wall, theirs=allowed, bar=1.0, unit="s of wall time")
