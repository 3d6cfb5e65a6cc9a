"""`giro theory moments`: Section 4.2."""

from typing import Annotated

import typer

from giro.paper.commands.theory.group import theory
from giro.paper.commands.theory.options import A, Json, Plot, number
from giro.paper.commands.theory.show import show


@theory.command()
def moments(
    s: Annotated[int, typer.Option(metavar="S", help="Pulls.")] = 12,
    mean: Annotated[str, typer.Option(metavar="M", help="Mean of the arm.")] = "0.7",
    a: A = "1",
    most_pulls: Annotated[int, typer.Option(metavar="S", help="Largest s for Equation 7.")] = 40,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Show the moments of Section 4.2, and where its Equation 7 fails.

    The formulas stand next to sums over all outcomes; a s must be an integer. The figure has the
    condition on variances and a map of the failures.

    \b
    Examples:
      giro theory moments
      giro theory moments --s 30 --mean 0.2 --a 1/3 --plot moments.png
    """
    from giro.paper.reports.moments import moments_report  # noqa: PLC0415  # quick start

    chance, pseudo = number(mean, "--mean"), number(a, "--a")
    show(lambda: moments_report(s, chance, pseudo, most_pulls=most_pulls), json=json, plot=plot)
