"""`giro warm-up`: compile ahead what bandits need."""

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
    features: Annotated[
        int, typer.Option(help="Also for contexts of this many numbers; 0 for none.")
    ] = 0,
    arm_features: Annotated[
        int, typer.Option(help="Also for arms with this many features; 0 for none.")
    ] = 0,
) -> None:
    """Compile ahead what a bandit needs, so that its first decision does not wait.

    What is compiled stays in the cache folder (GIRO_CACHE_DIR, by default in the user's), for all
    processes. The number of features does not matter, only whether there are any. Bandit.warm_up()
    does the same inside a program.

    \b
    Examples:
      giro warm-up giro thompson
      giro warm-up default --features 1
    """
    check("warm-up", whole(0), **{"--features": features, "--arm-features": arm_features})
    for policy in policies:
        begun = time.perf_counter()
        bandit = Bandit(["a", "b", "c"], policy, rounds=1000)
        arms = {name: [0.5] * arm_features for name in bandit.arms} if arm_features else None
        bandit.warm_up([0.5] * features if features else None, arms=arms)
        print_line(f"{bandit.policy}: ready after {time.perf_counter() - begun:.1f} s")
