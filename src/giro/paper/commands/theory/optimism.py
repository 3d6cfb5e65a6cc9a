"""`giro theory optimism`: the expected inverse probability of being optimistic."""

from typing import Annotated

import typer

from giro.paper.commands.theory.group import theory
from giro.paper.commands.theory.options import Json, Plot, numbers, whole_numbers
from giro.paper.commands.theory.show import show


@theory.command()
def optimism(
    a: Annotated[str, typer.Option(metavar="A,A", help="Pseudo rewards.")] = "1/3,1,2,3",
    n: Annotated[str, typer.Option(metavar="N,N", help="Pulls.")] = "1,2,3,6,12,30,60,120",
    p: Annotated[str | None, typer.Option(metavar="P,P", help="Means (default: all).")] = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Show W(n, p, a) exactly against Theorem 4's bound c.

    W is the expected inverse probability of being optimistic. Without --p it is the largest over
    all p, exactly. Pairs with a n not an integer are left out; for a <= 1 / sqrt(2) there is no c.

    \b
    Examples:
      giro theory optimism
      giro theory optimism --a 1 --n 1,10,100 --p 0.1,0.5,0.9 --plot optimism.png
    """
    from giro.paper.reports.optimism import optimism_report  # noqa: PLC0415  # quick start

    values, pulls = numbers(a, "--a"), whole_numbers(n, "--n")
    places = None if p is None else numbers(p, "--p")
    show(lambda: optimism_report(values, pulls, places), json=json, plot=plot)
