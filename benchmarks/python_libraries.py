"""Other libraries for bandits, each in an environment of its own, in rounds per second."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ratio import Play, Ratio, cost_of, say

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent / ".benchmarks" / "venvs"
MEANS = [0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.75]
BAR = 50.0
UNIT = "rounds per second"


class Library(NamedTuple):
    """A peer: what to install, and which of our policies it has (its script plays them)."""

    name: str
    requirements: tuple[str, ...]
    policies: tuple[str, ...]

    @property
    def script(self) -> Path:
        """The file that plays its policies."""
        return HERE / "peers" / f"play_{self.name.lower()}.py"


LIBRARIES = (
    Library("river", ("river==0.26.1",), ("ucb1", "thompson")),
    Library(
        "SMPyBandits",  # its imports fail with newer SciPy; numba cannot help it, being too new
        ("SMPyBandits==0.9.7", "scipy<=1.13", "numpy<2", "setuptools<81"),
        ("ucb1", "thompson", "kl-ucb:c=0", "besa"),
    ),
    Library("MABWiser", ("mabwiser==2.7.4",), ("ucb1", "thompson")),
)


class Trouble(Exception):
    """A library that cannot be installed or does not run."""


def every_library(*, quick: bool) -> Iterator[Ratio]:
    """Ten Bernoulli arms: choose and learn, on one core."""
    rounds = 1_000 if quick else 10_000
    for library in LIBRARIES:
        try:
            yield from compare(library, rounds=rounds, repeats=1 if quick else 3)
        except Trouble as trouble:
            for policy in library.policies:
                name = _name(policy, library)
                yield Ratio.missing(name, unit=UNIT, bar=BAR, note=str(trouble))


def compare(library: Library, *, rounds: int, repeats: int) -> list[Ratio]:
    """Return one ratio for each policy, the best of some repeats in which both take turns."""
    python = environment(library)
    ours: dict[str, list[float]] = {policy: [] for policy in library.policies}
    theirs: dict[str, list[float]] = {policy: [] for policy in library.policies}
    regret: dict[str, list[float]] = {policy: [] for policy in library.policies}
    for repeat in range(repeats):
        say(f"  {repeat + 1}/{repeats} {library.name}")
        answer = played_by(library, python, rounds)
        for policy in library.policies:
            theirs[policy].append(answer[policy]["rounds_per_second"])
            regret[policy].append(answer[policy]["regret"])
            ours[policy].append(our_speed(policy, rounds))
    return [
        Ratio.more(
            _name(policy, library),
            ours=max(ours[policy]),
            theirs=max(theirs[policy]),
            bar=BAR,
            unit=UNIT,
            note=f"regret {_regret(policy, rounds):.0f}, theirs {_mean(regret[policy]):.0f} "
            f"in {repeats} runs of {rounds:,}",
        )
        for policy in library.policies
    ]


def _name(policy: str, library: Library) -> str:
    return f"{policy}, bernoulli, K={len(MEANS)}: giro on one core against {library.name}"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _play(policy: str, rounds: int) -> Play:
    return Play(policy, f"bernoulli:means={MEANS}".replace(" ", ""), rounds, 20)


def our_speed(policy: str, rounds: int) -> float:
    """Return our rounds per second of processor time, on one core."""
    play = _play(policy, rounds).compiled()
    return play.rounds * play.runs / cost_of(play).cpu


def _regret(policy: str, rounds: int) -> float:
    return float(_play(policy, rounds)().regret[:, -1].mean())


def played_by(library: Library, python: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Return what the library's script prints: rounds per second and regret by policy."""
    arguments = [str(library.script), json.dumps(MEANS), str(rounds)]
    answer = _done([python, "-W", "ignore", *arguments], f"{library.name} does not run")
    spoken: dict[str, dict[str, float]] = json.loads(answer.splitlines()[-1])
    return spoken


def environment(library: Library) -> Path:
    """Return the Python of the library's own environment, made if it is not there yet."""
    folder = ENVIRONMENTS / library.name.lower()
    python, ready = folder / "bin" / "python", folder / ".ready"
    wanted = "\n".join(library.requirements)
    if not ready.exists() or ready.read_text() != wanted:
        say(f"  installing {library.name} in {folder}")
        ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
        trouble = f"{library.name} cannot be installed"
        _done([sys.executable, "-m", "venv", "--clear", folder], trouble)
        _done([python, "-m", "pip", "install", "--quiet", *library.requirements], trouble)
        ready.write_text(wanted)
    return python


def _done(command: Sequence[str | Path], trouble: str) -> str:
    """Return what the command prints; its last line of complaint goes into the error."""
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=600, cwd=ENVIRONMENTS
        )
    except subprocess.CalledProcessError as error:
        complaint = (error.stderr.strip().splitlines() or ["no message"])[-1]
        raise Trouble(f"{trouble}: {complaint}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Trouble(f"{trouble}: {error}") from error
    return answer.stdout
