"""The engine against Giro written plainly (`plain_giro.py`), and as rounds and arms become more."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import plain_giro  # noqa: F401  # registers the plain policies
from ratio import Play, Ratio, ns_per_round

BETA = "beta:v=4"
UNIT = "ns per round"


def everything(*, quick: bool) -> Iterator[Ratio]:
    """Yield all of these bars."""
    for a, bar in (("1", 50.0), ("1/10", 15.0)):
        yield against_plain(f"literal-giro:a={a}", BETA, bar, quick=quick)
    yield against_plain("binomial-giro:a=1", "bernoulli", 2.5, quick=quick)
    yield more_rounds(quick=quick)
    yield more_arms(quick=quick)
    yield memory(quick=quick)


def against_plain(plain: str, problem: str, bar: float, *, quick: bool) -> Ratio:
    """Return the engine against every entry drawn, or against a binomial draw for each arm.

    What the plain ones cost does not depend on the instance, so one run of them is enough.
    """
    rounds, runs = (2_000, 5) if quick else (10_000, 20)
    giro = f"giro:{plain.partition(':')[2]}"
    plays = {giro: Play(giro, problem, rounds, runs), plain: Play(plain, problem, rounds)}
    ns = ns_per_round(plays, repeats=1 if quick else 3)
    name = f"{problem}, {rounds:,} rounds: {giro} against {plain}"
    return Ratio.faster(name, ours=ns[giro], theirs=ns[plain], bar=bar, unit=UNIT)


def more_rounds(*, quick: bool) -> Ratio:
    """Return the time of a round of long runs against short ones, on the same instances."""
    short, long = (2_000, 20_000) if quick else (10_000, 100_000)
    plays = {f"{n:,}": Play("giro:a=1", BETA, n, 3 if quick else 10) for n in (short, long)}
    first, last = ns_per_round(plays, repeats=1 if quick else 2).values()
    name = f"growth: giro:a=1 on {BETA}, {long:,} rounds against {short:,}"
    return Ratio.at_most(name, ours=last, theirs=first, bar=1.5, unit=UNIT)


def more_arms(*, quick: bool) -> Ratio:
    """Return the time of a round with 1,000 Bernoulli arms against ten.

    How close the best of few arms are decides what a round costs, so instances are many.
    """
    rounds, runs = (50_000, 2) if quick else (1_000_000, 10)
    sizes = (10, 1_000)
    plays = {f"{k} arms": Play("giro:a=1", f"bernoulli:n_arms={k}", rounds, runs) for k in sizes}
    few, many = ns_per_round(plays, repeats=1 if quick else 2).values()
    name = f"giro:a=1, bernoulli, {rounds:,} rounds: 1,000 arms against 10"
    return Ratio.at_most(name, ours=many, theirs=few, bar=20.0, unit=UNIT)


def memory(*, quick: bool) -> Ratio:
    """Return the memory that a run needs at its peak against the size of its rewards."""
    rounds = 100_000 if quick else 1_000_000
    script = Path(__file__).with_name("peak_memory.py")
    command = [sys.executable, str(script), "giro:a=1", BETA, str(rounds)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    name = f"memory of giro:a=1 on {BETA}, {rounds:,} rounds, against its rewards"
    ours, theirs = float(answer.stdout), 8 * rounds / 1e6
    return Ratio.at_most(name, ours=ours, theirs=theirs, bar=5.0, unit="MB")
