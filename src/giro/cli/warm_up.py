"""`giro warm-up`: compile policies ahead of their first decision."""

import time
from typing import Annotated

import typer

from giro.bandit import Bandit
from giro.checks import check, whole
from giro.cli.main import app
from giro.cli.output import print_line


@app.command(name="warm-up")
def warm_up(
    policies: Annotated[
        list[str], typer.Argument(metavar="POLICY...", help="Policies to compile.")
    ],
    features: Annotated[int, typer.Option(help="Numbers in a context; 0 for none.")] = 0,
    arm_features: Annotated[int, typer.Option(help="Features of each arm; 0 for none.")] = 0,
) -> None:
    """Compile policies ahead, so that the first decision of a bandit does not wait.

    The compiled code stays in the cache folder (GIRO_CACHE_DIR, by default in the user's cache),
    for all processes. Only whether there are features matters, not their number. Bandit.warm_up()
    does the same inside a program.

    \b
    Examples:
      giro warm-up giro thompson
      giro warm-up default --features 1
    """
    check("warm-up", whole(0), **{"--features": features, "--arm-features": arm_features})
    for policy in policies:
        start = time.perf_counter()
        bandit = Bandit(["a", "b", "c"], policy, rounds=1000)
        arms = {name: [0.5] * arm_features for name in bandit.arms} if arm_features else None
        bandit.warm_up([0.5] * features if features else None, arms=arms)
        print_line(f"{bandit.policy}: ready after {time.perf_counter() - start:.1f} s")
