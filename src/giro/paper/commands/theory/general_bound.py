"""`giro theory general-bound`: Theorem 1 in numbers."""

from giro.paper.commands.theory.group import theory
from giro.paper.commands.theory.options import (
    A,
    Json,
    Means,
    Plot,
    Rounds,
    Runs,
    Seed,
    number,
    numbers,
)
from giro.paper.commands.theory.show import show


@theory.command()
def general_bound(
    means: Means = "0.7,0.4",
    rounds: Rounds = 10_000,
    a: A = "1",
    runs: Runs = 50,
    seed: Seed = 0,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Show Theorem 1 in numbers beside simulated regret and Theorem 2.

    Theorem 1's sums are computed instead of bounded, for any a >= 0; 10,000 rounds of two arms
    take seconds. The figure shows how loose each bound is.

    \b
    Examples:
      giro theory general-bound --means 0.7,0.4 --rounds 10000 --a 1
      giro theory general-bound --means 0.6,0.5 --rounds 1000 --a 1/3 --plot bounds.png
    """
    from giro.paper.reports.general_bound import (  # noqa: PLC0415  # quick start
        Question,
        general_bound_report,
    )

    question = Question(numbers(means, "--means"), rounds, number(a, "--a"), runs, seed)
    show(lambda: general_bound_report(question), json=json, plot=plot)
