"""`giro bandit ...`: bandits in files, in stores and in running services."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

import typer

from giro.bandit import Bandit, Records
from giro.bandit.stores import names_in
from giro.cli import options
from giro.cli.main import app, help_without_command
from giro.cli.options import STORE, Store, name_list, option
from giro.cli.output import print_json, print_line, print_table
from giro.cli.remote import Url, answer_of, is_service
from giro.errors import BadParameter, needs_extra
from giro.tables import Column, fixed

commands = typer.Typer(rich_markup_mode=None)
app.add_typer(commands, name="bandit")

_PYTHON = "uniform"  # stands for a policy with Python objects, which no file can hold


@commands.callback(invoke_without_command=True)
def describe_bandits(context: typer.Context) -> None:
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
        str,
        typer.Argument(
            metavar="FILE|STORE|URL",
            help="Written by Bandit.save, or sqlite:///FILE, or a service at http://HOST:PORT.",
        ),
    ],
    name: Annotated[str, typer.Argument(help="A bandit in the store or service.")] = "",
    json: options.Json = False,
) -> None:
    """Show the setting of a bandit, and the decisions and rewards of each arm.

    Rewards are in the bandit's own units. Expired ones count with their default. For a store or
    service without a NAME, list the names of its bandits. GIRO_KEY has the key of a service.

    \b
    Examples:
      giro bandit show colours.giro
      giro bandit show colours.giro --json
      giro bandit show sqlite:///shop.db button
      giro bandit show http://127.0.0.1:8720 button
    """
    if "://" in where and not name:
        names = _names(where)
        print_json(names) if json else print_line("\n".join(names) or "no bandits")
        return
    document = _served(where, name) if is_service(where) else _kept(where, name)
    arms = document["arms"]
    for arm in arms:
        arm["state"] = "" if arm.pop("active") else "retired"
    if json:
        print_json(document)
        return
    low, high = document["reward_range"]
    print_line(f"policy     {document['policy']}")
    print_line(f"setting    seed {document['seed']}   rewards {low:g} to {high:g}")
    print_line(f"decisions  {document['decisions']}   rewarded {document['rewards']}")
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
    url: Url = "",
) -> None:
    """Make a bandit in a store or service.

    All other parameters are those of Python, and of POST /v1/bandits.

    \b
    Examples:
      giro bandit create button --arms red,green
      giro bandit create news --policy giro-ensemble:model=hashed --store sqlite:///shop.db
      giro bandit create button --arms red,green --url http://127.0.0.1:8720
    """
    if name in _names(url or store):
        raise BadParameter(f"the store already has a bandit '{name}'")
    names = name_list(arms) or None
    if url:
        answer_of(url, "POST", "bandits", body={"name": name, "arms": names, "policy": policy})
    else:
        Bandit(names, policy, name=name, store=store, at_once=True).close()


@commands.command(name="list")
def list_bandits(store: Store = STORE, url: Url = "", json: options.Json = False) -> None:
    """List the bandits of a store or service."""
    names = _names(url or store)
    print_json(names) if json else print_line("\n".join(names) or "no bandits")


@commands.command()
def retire(
    name: Annotated[str, typer.Argument(help="A bandit in the store or service.")],
    store: Store = STORE,
    url: Url = "",
) -> None:
    """Have giro serve decide no more with a bandit.

    Its log stays, and rewards under way are still accepted.
    """
    if url:
        answer_of(url, "DELETE", "bandits", name)
        return
    with needs_extra("giro bandit retire", "msgspec", extra="serve"):
        from giro.service.about import retire_bandit  # noqa: PLC0415  # an extra

    if name not in names_in(store):
        raise BadParameter(f"the store has no bandit '{name}'")
    with Records(store) as records:
        retire_bandit(records, name)


def _names(where: str) -> list[str]:
    """Return the names of the bandits in a store or service."""
    if not is_service(where):
        return list(names_in(where))
    return list(answer_of(where, "GET", "bandits")["bandits"])


def _served(url: str, name: str) -> dict[str, Any]:
    """Return a bandit of a service, as it is shown."""
    info = answer_of(url, "GET", "bandits", name)
    summary = answer_of(url, "GET", "bandits", name, "summary")
    counts = {key: info[key] for key in ("decisions", "rewards")}
    return {**_setting_shown(info["setting"]), **counts, "arms": summary["arms"]}


def _kept(where: str, name: str) -> dict[str, Any]:
    """Return a bandit in a file or store, as it is shown."""
    bandit, policy = _opened(where, name)
    arms = bandit.summary().to_dicts()
    bandit.close()
    counts = {"decisions": bandit.n_decisions, "rewards": bandit.n_rewards}
    return {**_setting_shown(bandit.setting), "policy": policy, **counts, "arms": arms}


def _setting_shown(setting: Mapping[str, Any]) -> dict[str, Any]:
    return {key: setting[key] for key in ("policy", "seed", "reward_range")}


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
