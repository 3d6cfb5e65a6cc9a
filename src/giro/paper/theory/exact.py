"""The exact expected regret of small Bernoulli problems, and Lemma 1 next to it.

All histories are enumerated. What matters of a history is how often each arm was pulled and how
often it gave 1. The probabilities of these states are carried forward round by round, equal states
merged. With two arms, round t has about t^3 / 6 states: 12 rounds take a tenth of a second, 20
about one.

Bootstrapping alone fails: its regret grows linearly (Kveton et al., 2019, Section 3.1). Lemma 1 and
its variant with k initial pulls hold in every case enumerated, from the first round on; they are 0
after k rounds. They leave out that the second arm's initial pulls are certain.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import permutations
from typing import Literal, NamedTuple

import numpy as np

from giro.checks import check, whole
from giro.errors import BadParameter
from giro.paper.theory.choice_probabilities import (
    ChoiceProbabilities,
    bootstrap_probabilities,
    giro_probabilities,
)
from giro.paper.theory.terms import Floats, Means, check_rounds, checked_means

Ties = Literal["random", "fixed"]
State = tuple[tuple[int, ...], tuple[int, ...]]  # pulls and ones of each arm

_ARMS = 2  # of Lemma 1


def exact_regret(probabilities: ChoiceProbabilities, means: Means, rounds: int) -> Floats:
    """Return the cumulative expected regret after each round 1..rounds, without simulation.

    `probabilities(pulls, ones)` gives the probability of pulling each arm. Kveton et al. (2019),
    Equation 1.

    >>> exact_regret(giro_probabilities(1), [0.7, 0.2], 2).round(6).tolist()
    [0.25, 0.5]
    """
    checked = checked_means(means)
    check_rounds(rounds)
    nothing = (0,) * checked.size
    states: dict[State, float] = {(nothing, nothing): 1.0}
    pulled = np.empty((rounds, checked.size))
    for t in range(rounds):
        states, pulled[t] = _next_round(probabilities, states, checked)
    return np.asarray(np.cumsum(pulled @ (checked.max() - checked)))


def exact_giro_regret(means: Means, rounds: int, a: float = 1.0, ties: Ties = "random") -> Floats:
    """Return the exact cumulative expected regret of Giro after each round.

    With `ties="fixed"` it is the average over all rankings of the arms, each drawn in advance
    with equal probability (Kveton et al., 2019, Section 3.1).
    """
    return _with_ties(partial(giro_probabilities, a), means, rounds, ties)


def exact_bootstrap_regret(
    means: Means, rounds: int, pulls: int = 1, ties: Ties = "fixed"
) -> Floats:
    """Return the exact cumulative expected regret of bootstrapping without pseudo rewards.

    Kveton et al. (2019), Section 3.1: each arm is first pulled `pulls` times, in the order of
    the arms; ties follow a ranking drawn in advance, over which the regret is averaged, or with
    `ties="random"` are broken at random each time.
    """
    return _with_ties(partial(bootstrap_probabilities, pulls), means, rounds, ties)


def _with_ties(
    probabilities: Callable[..., ChoiceProbabilities], means: Means, rounds: int, ties: Ties
) -> Floats:
    if ties == "random":
        return exact_regret(probabilities(), means, rounds)
    if ties != "fixed":
        raise BadParameter(f"ties are 'random' or 'fixed', got {ties!r}")
    rankings = permutations(range(checked_means(means).size))
    regrets = [exact_regret(probabilities(ranking=r), means, rounds) for r in rankings]
    return np.asarray(np.mean(regrets, axis=0))


def _next_round(
    probabilities: ChoiceProbabilities, states: dict[State, float], means: Floats
) -> tuple[dict[State, float], Floats]:
    """Return the states one round later and the probability that each arm was pulled."""
    later: dict[State, float] = defaultdict(float)
    pulled = np.zeros(means.size)
    for (pulls, ones), probability in states.items():
        chosen = probability * probabilities(pulls, ones)
        pulled += chosen
        for arm in np.flatnonzero(chosen).tolist():
            more = _plus_one(pulls, arm)
            later[more, _plus_one(ones, arm)] += chosen[arm] * means[arm]
            later[more, ones] += chosen[arm] * (1 - means[arm])
    return {state: weight for state, weight in later.items() if weight > 0}, pulled


def _plus_one(counts: tuple[int, ...], arm: int) -> tuple[int, ...]:
    return (*counts[:arm], counts[arm] + 1, *counts[arm + 1 :])


# -- Lemma 1 ---------------------------------------------------------------------------------------


class LinearRegretRow(NamedTuple):
    """The exact regret of bootstrapping after `n` rounds next to its lower bound."""

    n: int
    regret: float
    bound: float
    holds: bool


def linear_regret_bound(means: Means, rounds: int, pulls: int = 1) -> float:
    """Return 0.5 (1 - mu_1)^pulls gap (rounds - pulls), below which the regret cannot be.

    Kveton et al. (2019), Lemma 1 (one initial pull of each arm) and the remark after it. There
    are two arms and the first is the better one. Below 0, and so empty, for rounds < pulls.
    """
    mean, gap = _best_and_gap(means)
    check_rounds(rounds)
    check("Lemma 1", whole(1), pulls=pulls)
    return 0.5 * (1 - mean) ** pulls * gap * (rounds - pulls)


def sharper_linear_regret_bound(means: Means, rounds: int, pulls: int = 1) -> float:
    """Return the bound of Lemma 1 with the forced pulls of the second arm counted in full.

    The second arm is pulled min(rounds - pulls, pulls) times in any case, the paper counts them
    on the event of a bad start only: gap (forced + 0.5 (1 - mu_1)^pulls (rounds - 2 pulls)).
    """
    linear_regret_bound(means, rounds, pulls)  # checks the arguments
    mean, gap = _best_and_gap(means)
    forced = min(max(rounds - pulls, 0), pulls)
    return gap * (forced + 0.5 * (1 - mean) ** pulls * max(rounds - 2 * pulls, 0))


def linear_regret_rows(means: Means, rounds: int, pulls: int = 1) -> list[LinearRegretRow]:
    """Return the exact regret and its bound for n = 1..rounds; costs as `exact_regret` does."""
    exact = exact_bootstrap_regret(means, rounds, pulls)
    bounds = [linear_regret_bound(means, n, pulls) for n in range(1, rounds + 1)]
    return [
        LinearRegretRow(n, float(regret), bound, bool(regret >= bound - 1e-12))
        for n, (regret, bound) in enumerate(zip(exact, bounds, strict=True), start=1)
    ]


def _best_and_gap(means: Means) -> tuple[float, float]:
    checked = checked_means(means)
    if checked.size != _ARMS or checked[0] <= checked[1]:
        raise BadParameter(f"Lemma 1 is about two arms, the first the better, got {means!r}")
    return float(checked[0]), float(checked[0] - checked[1])
