"""Other libraries for bandits with contexts, each in an environment of its own."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from python_libraries import Trouble, _done, environment
from ratio import Play, Ratio, cost_of, say

N_ARMS, N_FEATURES = 10, 20
POLICIES = ("lin-ucb:scale=1", "lin-ts:scale=0.5")
BAR = 20.0
ONE_THREAD = ("OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")  # more only cost processor time
UNIT = "rounds per second"


class Library(NamedTuple):
    """A peer, and what to install; its script plays all policies."""

    name: str
    requirements: tuple[str, ...]

    @property
    def script(self) -> Path:
        """The file that plays its policies."""
        return Path(__file__).parent / "peers" / f"play_{self.name.lower()}_in_context.py"


LIBRARIES = (
    Library("MABWiser", ("mabwiser==2.7.4",)),
    Library("contextualbandits", ("contextualbandits==0.3.30",)),  # is compiled when installed
)


def every_library(*, quick: bool) -> Iterator[Ratio]:
    """Ten arms, contexts of 20 numbers: choose and learn, on one core."""
    for library in LIBRARIES:
        try:
            yield from compare(library, rounds=200 if quick else 2_000, repeats=1 if quick else 3)
        except Trouble as trouble:
            for policy in POLICIES:
                yield Ratio.missing(_name(policy, library), unit=UNIT, bar=BAR, note=str(trouble))


def compare(library: Library, *, rounds: int, repeats: int) -> list[Ratio]:
    """Return one ratio for each policy, the best of some repeats in which both take turns."""
    python = environment(library)
    theirs, ours = [], []
    for repeat in range(repeats):
        say(f"  {repeat + 1}/{repeats} {library.name}")
        theirs.append(played_by(library, python, POLICIES, rounds))
        ours.append({policy: our_speed(policy, rounds) for policy in POLICIES})
    return [
        Ratio.more(
            _name(policy, library),
            ours=max(speeds[policy] for speeds in ours),
            theirs=max(answer[policy]["rounds_per_second"] for answer in theirs),
            bar=BAR,
            unit=UNIT,
            note=f"regret {_regret(policy, rounds):.0f}, "
            f"theirs {_mean([answer[policy]['regret'] for answer in theirs]):.0f} "
            f"in {repeats} runs of {rounds:,}",
        )
        for policy in POLICIES
    ]


def _name(policy: str, library: Library) -> str:
    return f"{policy}, linear, d={N_FEATURES}, K={N_ARMS}: giro on one core against {library.name}"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _play(policy: str, rounds: int) -> Play:
    return Play(policy, f"linear:n_arms={N_ARMS},dimension={N_FEATURES - 1}", rounds, 20)


def our_speed(policy: str, rounds: int) -> float:
    """Return our rounds per second of processor time, on one core, drawing contexts included."""
    play = _play(policy, rounds).compiled()
    return play.rounds * play.runs / cost_of(play).cpu


def _regret(policy: str, rounds: int) -> float:
    return float(_play(policy, rounds)().regret[:, -1].mean())


def played_by(
    library: Library, python: Path, policies: Sequence[str], rounds: int
) -> dict[str, dict[str, float]]:
    """Return what the library's script prints: rounds per second and regret by policy."""
    arguments = [str(library.script), str(N_ARMS), str(N_FEATURES), str(rounds), *policies]
    command = ["env", *ONE_THREAD, python, "-W", "ignore", *arguments]
    answer = _done(command, f"{library.name} does not run")
    spoken: dict[str, dict[str, float]] = json.loads(answer.splitlines()[-1])
    return spoken
