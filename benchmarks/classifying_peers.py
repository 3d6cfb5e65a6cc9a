"""Other libraries on the rows of a classification problem, in the order in which a run meets them.

Each plays in an environment and a process of its own, on one core; its script in peers/ says how.
"""

import json
from pathlib import Path
from typing import NamedTuple

from python_libraries import Library, environment, printed

PATIENCE = 20.0  # times the limit of processor time, in wall time: the machine may be busy
VW = Library("VW", ("vowpalwabbit==9.11.2", "numpy==2.4.6"))


class Outcome(NamedTuple):
    """What a policy made of the rows."""

    rounds: int
    mean_reward: float
    seconds: float  # of processor time, choosing and learning only


def played(
    library: Library, policy: str, folder: Path, *, n_arms: int, seed: int, limit: float
) -> Outcome:
    """Return the outcome that the library's script prints; it ends itself after `limit` seconds."""
    arguments = map(str, (policy, folder.resolve(), n_arms, seed, limit))
    command = [environment(library), "-W", "ignore", library.script("classify"), *arguments]
    answer = printed(command, library, timeout=PATIENCE * limit)
    return Outcome(**json.loads(answer.splitlines()[-1]))
