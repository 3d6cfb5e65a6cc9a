"""Why bootstrapping alone fails: its regret grows linearly (Kveton et al., 2019, Section 3.1).

Lemma 1 and its variant with k initial pulls hold in every case enumerated, from the first round
on; they are 0 after k rounds. They leave out that the second arm's initial pulls are certain.
"""

from typing import NamedTuple

from giro.errors import BadParameter
from giro.paper.theory.exact import Means, exact_bootstrap_regret
from giro.paper.theory.gaps import check_rounds, checked_means

_ARMS = 2


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
    if pulls < 1:
        raise BadParameter(f"each arm is pulled at least once first, got pulls={pulls}")
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
