"""`giro warm-up`: compile policies ahead of their first decision."""

import time
from typing import Annotated, Any

import typer

from giro.bandit import Bandit
from giro.bandit.aside import ALL_FORMS, note_compiled
from giro.checks import check, whole
from giro.cli.main import app
from giro.cli.output import print_line
from giro.compiling.places import place, processor
from giro.errors import BadParameter, GiroError
from giro.policy import Policy

_ARMS = ("a", "b", "c")


@app.command(name="warm-up")
def warm_up(
    policies: Annotated[
        list[str], typer.Argument(metavar="POLICY...", help="Policies to compile.")
    ],
    features: Annotated[
        int | None, typer.Option(help="Only for contexts of this many numbers; 0 for none.")
    ] = None,
    arm_features: Annotated[
        int | None, typer.Option(help="Only for arms with this many features; 0 for none.")
    ] = None,
) -> None:
    """Compile policies ahead of time, so that first decisions and rewards do not wait.

    Without options that is everything: bandits with contexts, with features of arms, and with
    neither. What is compiled stays in the cache folder (GIRO_CACHE_DIR, by default in the user's),
    for all processes on this kind of processor. Other users can use the folder, too, and nobody
    needs to write to it any more. Bandit.warm_up() does the same inside a program.

    \b
    Examples:
      giro warm-up giro thompson
      giro warm-up default
      GIRO_CACHE_DIR=/opt/giro giro warm-up default --features 1
    """
    given = {"--features": features, "--arm-features": arm_features}
    check(
        "warm-up", whole(0), **{name: value for name, value in given.items() if value is not None}
    )
    where = place()
    if not where.writable:
        raise GiroError(
            f"nothing could be kept: {where.trouble}; set GIRO_CACHE_DIR to a folder of yours"
        )
    for policy in policies:
        begun = time.perf_counter()
        _compile(policy, features, arm_features)
        print_line(f"{policy}: ready after {time.perf_counter() - begun:.1f} s")
    print_line(f"kept in {where.folder} for the processor {processor().name}")


def _compile(policy: str, features: int | None, arm_features: int | None) -> None:
    """Compile one policy for all shapes in which it can be used."""
    if features is None and arm_features is None:
        shapes = ALL_FORMS
    else:
        shapes = [(features or 0, arm_features or 0)]
    refusals, text = [], Policy.parse(policy).text
    for numbers, numbers_of_arms in shapes:
        arms: Any = {name: [0.5] * numbers_of_arms for name in _ARMS} if numbers_of_arms else None
        try:
            bandit = Bandit(_ARMS, policy, rounds=1000)
            bandit.warm_up([0.5] * numbers if numbers else None, arms=arms)
        except BadParameter as refusal:  # not every policy can do without, or with them
            refusals.append(refusal)
        note_compiled(text, (int(numbers > 0), int(numbers_of_arms > 0)))
    if len(refusals) == len(shapes):
        raise refusals[0]
