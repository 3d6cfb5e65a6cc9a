"""Every policy against its twin in plain NumPy, vectorised over 100 runs.

Both sides meet the same instances; the regrets, and how many standard errors their difference is,
show that they do the same work. The bar is for all cores against NumPy, which uses one, as a user
would run them; the note says how one core compares.
"""

from collections.abc import Iterator

import numpy as np
from numpy_policies import N_ARMS, TWINS, Twin
from ratio import Play, Ratio, cores, in_turn

from giro import Policy
from giro.named import has_text
from giro.problems.bernoulli import Bernoulli
from giro.seeds import stream

BAR = 3.0
RUNS = 100


def every_policy(*, quick: bool) -> Iterator[Ratio]:
    """Seconds for 100 runs on ten Bernoulli arms."""
    rounds = 1_000 if quick else 10_000
    for policy, twin in TWINS.items():
        yield compare(policy, twin, rounds=rounds, repeats=1 if quick else 5)
    for policy in policies_without_twin():
        yield Ratio.missing(_name(policy, 0), unit="s", bar=BAR, note="has no twin in NumPy yet")


# policies for contexts, which are compared with others of their kind in other sections
FOR_CONTEXTS = {
    "contextual-giro",
    "giro-ensemble",
    "glm-ucb",
    "lin-phe",
    "lin-ts",
    "lin-ucb",
    "log-phe",
    "poisson-bootstrap",
    "tree-bootstrap",
    "ucb-glm",
}


def policies_without_twin() -> list[str]:
    """Return the policies of giro with which nothing in NumPy is compared."""
    have = {Policy.parse(text).name for text in TWINS} | FOR_CONTEXTS
    known = {
        name: cls for name, cls in Policy.known().items() if cls.__module__.startswith("giro.")
    }
    return [name for name, cls in known.items() if has_text(cls) and name not in have]


def compare(policy: str, twin: type[Twin], *, rounds: int, repeats: int) -> Ratio:
    """Return how much faster all cores are, with one core and the regrets in the note."""
    play = Play(policy, "bernoulli", rounds, RUNS).compiled()
    costs = in_turn(
        {
            f"{policy}, NumPy": lambda: regrets_of(twin, rounds=rounds),
            f"{policy}, one core": play,
            f"{policy}, all cores": play._replace(jobs=None),
        },
        repeats=repeats,
    )
    numpy, one, every = costs.values()
    ratio = Ratio.faster(
        _name(policy, rounds),
        ours=every.wall,
        theirs=numpy.wall,
        bar=BAR,
        unit="s",
        note=f"one core {numpy.cpu / one.cpu:.1f}x; {_regrets(play, twin)}",
    )
    return ratio._replace(one_core=numpy.cpu / one.cpu)


def _name(policy: str, rounds: int) -> str:
    return f"{policy}, bernoulli, {RUNS} runs of {rounds:,}: {cores()} cores against NumPy"


def _regrets(play: Play, twin: type[Twin]) -> str:
    """Return both mean regrets and their difference in standard errors."""
    ours = play._replace(jobs=None)().regret[:, -1]
    theirs = regrets_of(twin, rounds=play.rounds)
    difference = ours - theirs
    z = difference.mean() / (difference.std(ddof=1) / np.sqrt(difference.size))
    return f"regret {ours.mean():.1f}, NumPy {theirs.mean():.1f}, {z:+.1f} standard errors"


def regrets_of(twin: type[Twin], *, rounds: int, runs: int = RUNS, seed: int = 0) -> np.ndarray:
    """Return the regret of each of `runs` simultaneous runs of a Bernoulli problem."""
    means = instances(runs=runs, seed=seed)
    gaps = means.max(axis=1, keepdims=True) - means
    rng = stream(seed)
    state, every_run, regret = twin(runs, rounds, rng), np.arange(runs), np.zeros(runs)
    for t in range(1, rounds + 1):
        arms = state.choose(t, rng)
        state.learn(arms, rng.random(runs) < means[every_run, arms], rng)
        regret += gaps[every_run, arms]
    return regret


def instances(*, runs: int, seed: int) -> np.ndarray:
    """Return the means that giro's runs have, [run, arm]."""
    problem = Bernoulli(N_ARMS)
    return np.stack([problem.draw_means(stream(seed, run, 0)) for run in range(runs)])
