"""`giro theory exact`: expected regret without simulation."""

from typing import Annotated, Literal

import typer

from giro.errors import BadParameter
from giro.paper.commands.theory.group import theory
from giro.paper.commands.theory.options import Json, Means, Plot, Rounds, Runs, Seed, numbers
from giro.paper.commands.theory.show import show

Ties = Literal["random", "fixed"]


@theory.command()
def exact(
    means: Means = "0.7,0.4",
    rounds: Rounds = 12,
    policy: Annotated[str, typer.Option(metavar="TEXT", help="giro or bootstrap.")] = "giro:a=1",
    ties: Annotated[Ties | None, typer.Option(help="Instead of the policy's.")] = None,
    runs: Runs = 0,
    seed: Seed = 0,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Show the exact expected regret of a small Bernoulli problem.

    All histories are enumerated: 12 rounds of two arms take a tenth of a second, 20 about one.
    With --runs, simulated regret stands beside it, with its standard error.

    \b
    Examples:
      giro theory exact --means 0.7,0.4 --rounds 12 --policy giro:a=1
      giro theory exact --policy bootstrap:pulls=2 --runs 1000 --seed 1 --plot exact.svg
      giro theory exact --policy giro:a=1/3 --ties fixed --json
    """
    from giro.paper.reports.exact import Question, exact_report  # noqa: PLC0415  # quick start

    if runs < 0:
        raise BadParameter(f"runs is 0 or more, got runs={runs}")
    question = Question(policy, ties, numbers(means, "--means"), rounds, runs, seed)
    show(lambda: exact_report(question), json=json, plot=plot)
