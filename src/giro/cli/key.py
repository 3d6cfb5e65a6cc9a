"""`giro key ...`: keys of the service."""

import datetime
from typing import Annotated, TypeAlias

import typer

from giro.bandit import Records
from giro.cli import options
from giro.cli.main import app, help_without_command
from giro.cli.options import STORE, Store, name_list, option
from giro.cli.output import print_json, print_line, print_table, tell
from giro.errors import needs_extra
from giro.tables import Column

commands = typer.Typer(rich_markup_mode=None)
app.add_typer(commands, name="key")

Id: TypeAlias = Annotated[str, typer.Argument(help="As giro key list shows it.")]


@commands.callback(invoke_without_command=True)
def describe(context: typer.Context) -> None:
    """Create, list and revoke the keys of giro serve.

    A service that runs follows within seconds.

    \b
    Examples:
      giro key create --scopes decide,reward --bandits 'shop-*'
      giro key create --replace 3f2a9c01b7de --overlap 3600
    """
    help_without_command(context)


@commands.command()
def create(
    store: Store = STORE,
    scopes: Annotated[
        str, option("NAMES", "Of decide, reward, read and admin, which may do all.")
    ] = "decide,reward,read",
    bandits: Annotated[str, option("NAMES", "Names, or beginnings of names before a star.")] = "*",
    rate: Annotated[float | None, option("N", "The most requests a second.")] = None,
    loop: Annotated[
        str | None, option("NAME", "The bandit that it decides for with Personalizer's API.")
    ] = None,
    note: Annotated[str, option("TEXT", "What it is for.")] = "",
    replace: Annotated[str | None, option("ID", "A key that this one takes the place of.")] = None,
    overlap: Annotated[float, option("SECONDS", "How long that one stays valid.")] = 86400.0,
) -> None:
    """Create a key and print it, this once."""
    with needs_extra("giro key", "msgspec", extra="serve"):
        from giro.service.keys import create_key, rotate_key  # noqa: PLC0415  # an extra

    with Records(store) as records:
        if replace is None:
            key, secret = create_key(
                records,
                scopes=name_list(scopes),
                bandits=[loop] if loop and bandits == "*" else name_list(bandits),
                rate=rate,
                loop=loop,
                note=note,
            )
        else:
            key, secret = rotate_key(records, replace, overlap=overlap)
    tell(f"key {key.id}; its secret is shown this once:")
    print_line(secret)


@commands.command(name="list")
def list_keys(store: Store = STORE, json: options.Json = False) -> None:
    """List the keys that are valid, without their secrets."""
    with needs_extra("giro key", "msgspec", extra="serve"):
        from giro.service.keys import all_keys  # noqa: PLC0415  # an extra

    with Records(store) as records:
        rows = [key.shown() for key in all_keys(records)]
    if json:
        print_json(rows)
        return
    shown = [
        row
        | {"scopes": ",".join(row["scopes"]), "bandits": ",".join(row["bandits"])}
        | {name: _day(row[name]) for name in ("created", "until")}
        for row in rows
    ]
    names = ("id", "scopes", "bandits", "created", "until", "note")
    print_table([Column(name, words=True) for name in names], shown)


def _day(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M")


@commands.command()
def revoke(id: Id, store: Store = STORE) -> None:
    """Revoke a key."""
    with needs_extra("giro key", "msgspec", extra="serve"):
        from giro.service.keys import revoke_key  # noqa: PLC0415  # an extra

    with Records(store) as records:
        revoke_key(records, id)
    tell(f"key {id} is revoked")
