"""`giro bandit ...`: bandits in files and stores."""

from functools import partial
from typing import Annotated

import typer

from giro.bandit import Bandit, Records
from giro.bandit.stores import names_in
from giro.cli import options
from giro.cli.main import app, help_without_command
from giro.cli.options import STORE, Store, name_list, option
from giro.cli.output import print_json, print_line, print_table
from giro.errors import BadParameter, needs_extra
from giro.tables import Column, fixed

commands = typer.Typer(rich_markup_mode=None)
app.add_typer(commands, name="bandit")

_PYTHON = "uniform"  # stands for a policy with Python objects, which no file can hold


@commands.callback(invoke_without_command=True)
def describe(context: typer.Context) -> None:
    """Look at a bandit that a program saved or keeps in a store, or make one for giro serve.

    \b
    Examples:
      giro bandit create button --arms red,green
      giro bandit show colours.giro
      giro evaluate colours.giro --policy always:red
    """
    help_without_command(context)


@commands.command()
def show(
    where: Annotated[
        str, typer.Argument(metavar="FILE|STORE", help="Written by Bandit.save, or sqlite:///FILE.")
    ],
    name: Annotated[str, typer.Argument(help="A bandit in the store.")] = "",
    json: options.Json = False,
) -> None:
    """Show the setting of a bandit, and the decisions and rewards of each arm.

    Rewards are in the bandit's own units. Expired ones count with their default. For a store
    without a NAME, list the names of its bandits.

    \b
    Examples:
      giro bandit show colours.giro
      giro bandit show colours.giro --json
      giro bandit show sqlite:///shop.db button
    """
    if "://" in where and not name:
        names = names_in(where)
        print_json(names) if json else print_line("\n".join(names) or "no bandits")
        return
    bandit, policy = _opened(where, name)
    setting = bandit.setting
    arms = [
        record | {"state": "" if record.pop("active") else "retired"}
        for record in bandit.summary().to_dicts()
    ]
    bandit.close()
    document = {
        "policy": policy,
        "seed": setting["seed"],
        "reward_range": setting["reward_range"],
        "decisions": bandit.n_decisions,
        "rewards": bandit.n_rewards,
        "arms": arms,
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
    columns += [Column(key, show=fixed(4), right=True) for key in ("mean", "low", "high")]
    print_table([*columns, Column("state", "")], arms)


@commands.command()
def create(
    name: Annotated[str, typer.Argument(help="The bandit's name.")],
    arms: Annotated[str, option("NAMES", "As red,green; without, they come per decision.")] = "",
    policy: Annotated[str, option("TEXT", "As giro:a=1.")] = "default",
    store: Store = STORE,
) -> None:
    """Make a bandit in a store. All other parameters are those of Python, and of POST /v1/bandits.

    \b
    Examples:
      giro bandit create button --arms red,green
      giro bandit create news --policy giro-ensemble:model=hashed --store sqlite:///shop.db
    """
    if name in names_in(store):
        raise BadParameter(f"the store already has a bandit '{name}'")
    Bandit(name_list(arms) or None, policy, name=name, store=store, at_once=True).close()


@commands.command(name="list")
def list_bandits(store: Store = STORE, json: options.Json = False) -> None:
    """List the bandits of a store."""
    names = names_in(store)
    print_json(names) if json else print_line("\n".join(names) or "no bandits")


@commands.command()
def retire(
    name: Annotated[str, typer.Argument(help="A bandit in the store.")], store: Store = STORE
) -> None:
    """Have giro serve decide no more with a bandit.

    Its log stays, and rewards under way are still accepted.
    """
    with needs_extra("giro bandit retire", "msgspec", extra="serve"):
        from giro.service.about import retire_bandit  # noqa: PLC0415  # an extra

    if name not in names_in(store):
        raise BadParameter(f"the store has no bandit '{name}'")
    with Records(store) as records:
        retire_bandit(records, name)


def _opened(where: str, name: str) -> tuple[Bandit, str]:
    """Return the bandit and the text of its policy."""
    load = partial(Bandit.open, where, name) if "://" in where else partial(Bandit.load, where)
    try:
        bandit = load()
        return bandit, bandit.policy.text
    except BadParameter:
        if "://" in where:
            raise
        return load(_PYTHON), "one that holds Python objects"
