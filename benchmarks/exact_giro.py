"""The engine against Giro written plainly (`plain_giro.py`), per round and on one core."""

from collections.abc import Iterator

import plain_giro  # noqa: F401  # registers the plain policies
from ratio import Play, Ratio, ns_per_round

BETA = "beta:v=4"
FASTER_THAN = {  # a -> plain policy -> how many times faster the engine should be
    "1": {"literal-giro": 50.0, "split-giro": 3.0},
    "1/10": {"literal-giro": 15.0, "split-giro": 3.0},
}
UNIT = "ns per round"


def against_plain(*, quick: bool) -> Iterator[Ratio]:
    """Beta arms: the engine against every entry drawn, and against every observed entry drawn.

    What the plain ones cost does not depend on the instance, so one run of them is enough.
    """
    rounds, runs = (2_000, 5) if quick else (10_000, 20)
    for a, bars in FASTER_THAN.items():
        plays = {"giro": Play(f"giro:a={a}", BETA, rounds, runs)}
        plays |= {name: Play(f"{name}:a={a}", BETA, rounds) for name in bars}
        ns = ns_per_round(plays, repeats=1 if quick else 3)
        for name, bar in bars.items():
            yield Ratio.faster(
                f"beta v=4, {rounds:,} rounds, a={a}: giro against {name}",
                ours=ns["giro"],
                theirs=ns[name],
                bar=bar,
                unit=UNIT,
            )


def growth(*, quick: bool) -> Iterator[Ratio]:
    """Beta arms: time per round of long runs against that of short ones, on the same instances."""
    short, long = (2_000, 20_000) if quick else (10_000, 100_000)
    runs = 3 if quick else 10
    plays = {
        "short": Play("giro:a=1", BETA, short, runs),
        "long": Play("giro:a=1", BETA, long, runs),
    }
    ns = ns_per_round(plays, repeats=1 if quick else 2)
    yield Ratio.at_most(
        f"growth: giro:a=1 on beta v=4, {long:,} rounds against {short:,}",
        ours=ns["long"],
        theirs=ns["short"],
        bar=1.5,
        unit=UNIT,
    )


def bernoulli(*, quick: bool) -> Iterator[Ratio]:
    """Bernoulli arms: the engine against a binomial draw for each arm and round."""
    rounds, runs = (2_000, 10) if quick else (10_000, 50)
    names = ("giro", "binomial-giro")
    plays = {name: Play(f"{name}:a=1", "bernoulli", rounds, runs) for name in names}
    ns = ns_per_round(plays, repeats=2 if quick else 5)
    yield Ratio.faster(
        f"bernoulli, {rounds:,} rounds, a=1: giro against binomial-giro",
        ours=ns["giro"],
        theirs=ns["binomial-giro"],
        bar=2.5,
        unit=UNIT,
    )
