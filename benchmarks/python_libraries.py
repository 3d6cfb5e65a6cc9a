"""Other libraries for bandits, each in an environment of its own."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ratio import say

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent / ".benchmarks" / "venvs"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Library(NamedTuple):
    """A peer, and what to install."""

    name: str
    requirements: tuple[str, ...]

    def script(self, kind: str) -> Path:
        """Return the file that plays its policies in one of the loops."""
        return HERE / "peers" / f"{kind}_{self.name.lower()}.py"


RIVER = Library("river", ("river==0.26.1",))
MABWISER = Library("MABWiser", ("mabwiser==2.7.4",))
CONTEXTUALBANDITS = Library("contextualbandits", ("contextualbandits==0.3.30",))  # compiled


class Trouble(Exception):
    """A library that cannot be installed or does not run."""


def environment(library: Library) -> Path:
    """Return the Python of the library's own environment, made if it is not there yet."""
    folder = ENVIRONMENTS / library.name.lower()
    python, ready = folder / "bin" / "python", folder / ".ready"
    wanted = "\n".join(library.requirements)
    if not ready.exists() or ready.read_text() != wanted:
        say(f"  installing {library.name} in {folder}")
        ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
        printed([sys.executable, "-m", "venv", "--clear", folder], library)
        printed([python, "-m", "pip", "install", "--quiet", *library.requirements], library)
        ready.write_text(wanted)
    return python


def printed(command: Sequence[str | Path], library: Library, *, timeout: float = 600.0) -> str:
    """Return what a command of a library prints; its last line of complaint goes into the error."""
    try:
        return subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            check=True,
            timeout=timeout,
            env=os.environ | ONE_THREAD,
        ).stdout
    except subprocess.CalledProcessError as error:
        complaint = (error.stderr.strip().splitlines() or ["no message"])[-1]
        raise Trouble(f"{library.name} does not run: {complaint}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Trouble(f"{library.name} does not run: {error}") from error
