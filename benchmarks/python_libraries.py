"""Other libraries for bandits, each in an environment of its own, in rounds per second."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from ratio import Play, Ratio, cost_of, say

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent / ".benchmarks" / "venvs"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
MEANS = [0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.75]
N_ARMS, N_FEATURES = 10, 20  # with contexts
UNIT = "rounds per second"


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


class Comparison(NamedTuple):
    """Policies that giro and another library have, on the same kind of problem."""

    library: Library
    kind: str  # of the library's script
    policies: tuple[str, ...]  # ours
    problem: str
    arguments: tuple[str, ...]  # of the script, before rounds and policies
    rounds: int
    bar: float

    def name(self, policy: str) -> str:
        """Return what a row is called."""
        problem = self.problem.partition(":")[0]
        return f"{policy}, {problem}, K={N_ARMS}: giro on one core against {self.library.name}"


BERNOULLI = f"bernoulli:means={MEANS}".replace(" ", "")
LINEAR = f"linear:n_arms={N_ARMS},dimension={N_FEATURES - 1}"
PLAIN, IN_CONTEXT = ("ucb1", "thompson"), ("lin-ucb:scale=1", "lin-ts:scale=0.5")
COMPARISONS = (
    *(
        Comparison(library, "play", PLAIN, BERNOULLI, (json.dumps(MEANS),), 10_000, 50.0)
        for library in (RIVER, MABWISER)
    ),
    *(
        Comparison(
            library,
            "play_in_context",
            IN_CONTEXT,
            LINEAR,
            (str(N_ARMS), str(N_FEATURES)),
            2_000,
            20.0,
        )
        for library in (MABWISER, CONTEXTUALBANDITS)
    ),
)


class Trouble(Exception):
    """A library that cannot be installed or does not run."""


def every_library(*, quick: bool) -> Iterator[Ratio]:
    """Ten arms, without and with contexts of 20 numbers: choose and learn, on one core."""
    for one in COMPARISONS:
        try:
            few = one._replace(rounds=one.rounds // 10) if quick else one
            yield from compare(few, repeats=1 if quick else 3)
        except Trouble as trouble:
            for policy in one.policies:
                yield Ratio.missing(one.name(policy), unit=UNIT, bar=one.bar, note=str(trouble))


def compare(one: Comparison, *, repeats: int) -> Iterator[Ratio]:
    """Yield one ratio for each policy, the best of some repeats in which both take turns."""
    python = environment(one.library)
    plays = {each: Play(each, one.problem, one.rounds, 20).compiled() for each in one.policies}
    command = [python, "-W", "ignore", one.library.script(one.kind), *one.arguments]
    theirs, ours = [], []
    for repeat in range(repeats):
        say(f"  {repeat + 1}/{repeats} {one.library.name}")
        answer = printed([*command, str(one.rounds), *one.policies], one.library)
        theirs.append(json.loads(answer.splitlines()[-1]))
        ours.append({policy: _speed(play) for policy, play in plays.items()})
    for policy, play in plays.items():
        regret = mean(answer[policy]["regret"] for answer in theirs)
        yield Ratio.more(
            one.name(policy),
            ours=max(speeds[policy] for speeds in ours),
            theirs=max(answer[policy]["rounds_per_second"] for answer in theirs),
            bar=one.bar,
            unit=UNIT,
            note=f"regret {play().regret[:, -1].mean():.0f}, theirs {regret:.0f} "
            f"in {repeats} runs of {one.rounds:,}",
        )


def _speed(play: Play) -> float:
    """Return our rounds per second of processor time, on one core."""
    return play.rounds * play.runs / cost_of(play).cpu


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
