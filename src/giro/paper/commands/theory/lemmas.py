"""`giro theory lemmas`: the lemmas of the appendix over grids."""

from typing import Annotated

import typer

from giro.paper.commands.theory.group import theory
from giro.paper.commands.theory.options import Json, Plot
from giro.paper.commands.theory.show import show


@theory.command()
def lemmas(
    n: Annotated[int, typer.Option(metavar="N", help="Largest number of trials.")] = 40,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Check the lemmas of the appendix, and the steps of the proofs, over grids.

    For each: cases checked, violations and where, and the smallest margin. The figure has the
    margins.

    \b
    Examples:
      giro theory lemmas
      giro theory lemmas --n 100 --plot margins.pdf
    """
    from giro.paper.reports.lemmas import lemmas_report  # noqa: PLC0415  # quick start

    show(lambda: lemmas_report(n), json=json, plot=plot)
