"""Print how many megabytes a simulation adds to what its process needs anyway.

    python benchmarks/peak_memory.py giro:a=1 beta:v=4 1000000

One round comes first, so that the compiled code is loaded; then free memory is given back and
Linux is asked to forget the peak so far. (getrusage would not do: a process inherits the peak of
the one that starts it.)
"""

import ctypes
import re
import sys
from pathlib import Path

from giro import simulate

PROCESS = Path("/proc/self")


def peak_megabytes() -> float:
    """Return the most memory that this process had since the peak was forgotten."""
    found = re.search(r"VmHWM:\s*(\d+) kB", (PROCESS / "status").read_text())
    if found is None:
        raise RuntimeError("/proc/self/status does not tell the peak of memory")
    return int(found[1]) * 1024 / 1e6


def main() -> None:
    """Play and print."""
    policy, problem, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    simulate(policy, problem, rounds=1, runs=1, jobs=1)
    ctypes.CDLL(None).malloc_trim(0)
    (PROCESS / "clear_refs").write_text("5")
    before = peak_megabytes()
    simulate(policy, problem, rounds=rounds, runs=1, jobs=1)
    print(peak_megabytes() - before)


if __name__ == "__main__":
    main()
