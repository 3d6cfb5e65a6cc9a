"""`giro bandit ...`: saved bandits."""

import json as notation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from giro.bandit import Bandit
from giro.cli import options
from giro.cli._app import app, help_without_command
from giro.cli.output import print_json, print_line, print_table
from giro.errors import BadParameter
from giro.tables import Column, fixed

if TYPE_CHECKING:
    import polars as pl

commands = typer.Typer(rich_markup_mode=None)
app.add_typer(commands, name="bandit")

_PYTHON = "uniform"  # in place of a policy that holds Python objects, which no file can


@commands.callback(invoke_without_command=True)
def describe(context: typer.Context) -> None:
    """Look at a bandit that a program has saved.

    \b
    Examples:
      giro bandit show colours.giro
      giro evaluate colours.giro --policy always:red
    """
    help_without_command(context)


@commands.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As Bandit.save made it.")],
    json: options.Json = False,
) -> None:
    """Show the setting of a saved bandit, and what each arm was shown and earned.

    Rewards are in the bandit's own units; those that expired count with their default.

    \b
    Examples:
      giro bandit show colours.giro
      giro bandit show colours.giro --json
    """
    bandit, policy = _loaded(file)
    events = bandit.events()
    header = notation.loads(events["setting"][0])
    setting = header.get("setting", header)
    document = {
        "policy": policy,
        "seed": setting["seed"],
        "reward_range": setting["reward_range"],
        "decisions": bandit.n_decisions,
        "rewards": bandit.n_rewards,
        "version": setting["giro"],
        "arms": _arms(bandit, events),
    }
    if json:
        print_json(document)
        return
    low, high = setting["reward_range"]
    print_line(f"policy     {policy}")
    print_line(f"setting    seed {setting['seed']}   rewards {low:g} to {high:g}")
    print_line(f"decisions  {bandit.n_decisions}   rewarded {bandit.n_rewards}")
    print_line()
    columns = [Column("arm", words=True), Column("decisions"), Column("rewards")]
    columns += [Column("mean", show=fixed(4), right=True), Column("state", "")]
    print_table(columns, document["arms"])


def _loaded(file: Path) -> tuple[Bandit, str]:
    """Return the bandit and the text of its policy."""
    try:
        bandit = Bandit.load(file)
        return bandit, bandit.policy.text
    except BadParameter:
        return Bandit.load(file, _PYTHON), "one that holds Python objects"


def _arms(bandit: Bandit, events: "pl.DataFrame") -> list[dict[str, Any]]:
    """Return a record for each arm, in the order they were added."""
    import polars as pl  # noqa: PLC0415  # quick start without polars

    added, decided = (events.filter(pl.col("kind") == kind) for kind in ("arm_added", "decision"))
    decisions = dict(decided.group_by("arm").len().iter_rows())
    rewarded = events.filter(pl.col("kind").is_in(["reward", "expired"])).group_by("arm")
    rewards = {row[0]: row[1:] for row in rewarded.agg(pl.len(), pl.mean("reward")).iter_rows()}
    records = []
    for arm in added["arm"].unique(maintain_order=True):
        n, mean = rewards.get(arm, (0, None))
        retired = "" if arm in bandit.arms else "retired"
        record = {"arm": arm, "decisions": decisions.get(arm, 0), "rewards": n, "mean": mean}
        records.append(record | {"state": retired})
    return records
