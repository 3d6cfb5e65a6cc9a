"""`giro key ...`: keys of the service."""

import datetime
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from giro.bandit import Records
from giro.cli import options
from giro.cli.main import app, help_without_command
from giro.cli.options import STORE, Store, name_list, option
from giro.cli.output import print_json, print_line, print_table, tell
from giro.cli.remote import Url, answer_of
from giro.errors import BadParameter, needs_extra
from giro.tables import Column

commands = typer.Typer(rich_markup_mode=None)
app.add_typer(commands, name="key")

Id: TypeAlias = Annotated[str, typer.Argument(help="As giro key list shows it.")]


@commands.callback(invoke_without_command=True)
def describe_keys(context: typer.Context) -> None:
    """Create, list and revoke the keys of giro serve, in its store or while it runs.

    All its processes follow within seconds. With --url the key in GIRO_KEY is one with the scope
    admin for all bandits.

    \b
    Examples:
      giro key create --scopes decide,reward --bandits 'shop-*'
      giro key create --scopes decide,reward --bandits button --origins https://shop.example
      giro key create --replace 3f2a9c01b7de --overlap 3600
      giro key list --url http://127.0.0.1:8720
    """
    help_without_command(context)


@commands.command()
def create(
    store: Store = STORE,
    url: Url = "",
    scopes: Annotated[
        str, option("NAMES", "Of decide, reward, read and admin, which may do all.")
    ] = "decide,reward,read",
    bandits: Annotated[str, option("NAMES", "Names, or beginnings of names before a star.")] = "*",
    rate: Annotated[float | None, option("N", "The most requests a second.")] = None,
    loop: Annotated[
        str | None, option("NAME", "The bandit that it decides for with Personalizer's API.")
    ] = None,
    origins: Annotated[
        str, option("URLS", "Pages that it is for, where anybody can read it: https://HOST.")
    ] = "",
    note: Annotated[str, option("TEXT", "What it is for.")] = "",
    replace: Annotated[str | None, option("ID", "A key that this one takes the place of.")] = None,
    overlap: Annotated[float, option("SECONDS", "How long that one stays valid.")] = 86400.0,
) -> None:
    """Create a key and print it, this once."""
    wanted: dict[str, Any] = {
        "scopes": name_list(scopes),
        "bandits": [loop] if loop and bandits == "*" else name_list(bandits),
        "rate": rate,
        "loop": loop,
        "note": note,
        "origins": name_list(origins) if origins else [],
    }
    if url:
        wanted |= {"replace": replace, "overlap": overlap}
        made = answer_of(url, "POST", "keys", body=wanted)
        id, secret = made["id"], made["secret"]
    else:
        id, secret = _created(store, wanted, replace, overlap)
    tell(f"key {id}; its secret is shown this once:")
    print_line(secret)


def _created(
    store: str, wanted: dict[str, Any], replace: str | None, overlap: float
) -> tuple[str, str]:
    """Return the id and the secret of a new key in a store."""
    with needs_extra("giro key", "msgspec", extra="serve"):
        from giro.service.keys import create_key, grant_of, rotate_key  # noqa: PLC0415  # an extra

    if replace is not None:
        with _kept(store) as records:
            key, secret = rotate_key(records, replace, overlap=overlap)
    else:
        grant_of(wanted)  # a mistake makes no store
        with Records(store) as records:
            key, secret = create_key(records, **wanted)
    return key.id, secret


def _kept(store: str) -> Records:
    """Return the records of a store that is there."""
    file = store.removeprefix("sqlite:///")
    if file != store and not Path(file).exists():
        raise BadParameter(f"there is no file {file!r}: it comes with the first key or bandit")
    return Records(store)


@commands.command(name="list")
def list_keys(store: Store = STORE, url: Url = "", json: options.Json = False) -> None:
    """List the keys that are valid, without their secrets."""
    rows = answer_of(url, "GET", "keys")["keys"] if url else _listed(store)
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


def _listed(store: str) -> list[dict[str, Any]]:
    """Return the keys of a store."""
    with needs_extra("giro key", "msgspec", extra="serve"):
        from giro.service.keys import all_keys  # noqa: PLC0415  # an extra

    with _kept(store) as records:
        return [key.shown() for key in all_keys(records)]


def _day(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M")


@commands.command()
def revoke(id: Id, store: Store = STORE, url: Url = "") -> None:
    """Revoke a key."""
    with needs_extra("giro key", "msgspec", extra="serve"):
        from giro.service.keys import revoke_key  # noqa: PLC0415  # an extra

    if url:
        answer_of(url, "DELETE", "keys", id)
    else:
        with _kept(store) as records:
            revoke_key(records, id)
    tell(f"key {id} is revoked")
