"""The version of the package, and the stamp that every result file carries."""

import functools
from pathlib import Path
from typing import NamedTuple

__version__ = "0.2.0"


class Stamp(NamedTuple):
    """The command that made a result, and the code that ran it."""

    command: str
    version: str
    commit: str  # with a + if the source differs from it; empty outside a checkout

    def __str__(self) -> str:
        """Return the stamp as a line of text.

        >>> str(Stamp("giro reproduce mab --seed 0", "0.2.0", "3e73f1b"))
        'giro reproduce mab --seed 0 (giro 0.2.0, commit 3e73f1b)'
        >>> str(Stamp("", "0.2.0", ""))
        '(giro 0.2.0)'
        """
        code = f"giro {self.version}" + (f", commit {self.commit}" if self.commit else "")
        return f"{self.command} ({code})".lstrip()


def stamp(command: str) -> Stamp:
    """Return the stamp of a result that a command makes now."""
    return Stamp(command, __version__, _commit())


@functools.cache
def _commit() -> str:
    """Return the commit of the checkout that the package is imported from."""
    source = Path(__file__).parent
    if not (source.parents[1] / ".git").exists():
        return ""
    try:
        commit = _git(source, "rev-parse", "--short=7", "HEAD")
        return commit + ("+" if _git(source, "status", "--porcelain", "--", ".") else "")
    except OSError:
        return ""  # there is no git on this machine


def _git(folder: Path, *words: str) -> str:
    import subprocess  # noqa: PLC0415  # quick start

    done = subprocess.run(
        ["git", "-C", str(folder), *words], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()
