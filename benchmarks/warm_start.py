"""How long a small command takes from the shell, once its kernels are compiled."""

import subprocess
import sys
from collections.abc import Iterator

from ratio import Ratio, cost_of, least

COMMAND = ("simulate", "giro:a=1", "ucb1", "--rounds", "1000", "--runs", "10")
ALLOWED = 2.0  # seconds


def seconds_from_shell(*, quick: bool) -> Iterator[Ratio]:
    """Yield the wall time of `giro simulate`, start of Python and imports included."""
    _simulate()  # compiles, where nobody has yet
    cost = least([cost_of(_simulate) for _ in range(1 if quick else 5)])
    yield Ratio.at_most(
        f"giro {' '.join(COMMAND)}, started warm",
        ours=cost.wall,
        theirs=ALLOWED,
        bar=1.0,
        unit="s of wall time",
    )


def _simulate() -> None:
    code = "from giro.cli.main import main; main()"
    subprocess.run([sys.executable, "-c", code, *COMMAND], capture_output=True, check=True)
