"""`giro theory bound`: Theorem 2 term by term."""

from giro.paper.commands.theory.group import theory
from giro.paper.commands.theory.options import A, Json, Means, Plot, Rounds, number, numbers
from giro.paper.commands.theory.show import show


@theory.command()
def bound(
    means: Means = "0.7,0.4",
    rounds: Rounds = 10_000,
    a: A = "1",
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Show Theorem 2's bound on the regret, term by term.

    Needs a > 1 / sqrt(2). Numbers too large for a float are shown all the same. The figure has
    the bound against a and against the rounds.

    \b
    Examples:
      giro theory bound --means 0.7,0.4 --rounds 10000 --a 1
      giro theory bound --means 0.9,0.8,0.5 --a 3 --plot bound.png
    """
    from giro.paper.reports.bound import bound_report  # noqa: PLC0415  # quick start

    arms, pseudo = numbers(means, "--means"), number(a, "--a")
    show(lambda: bound_report(arms, rounds, pseudo), json=json, plot=plot)
