"""Settings: options of `giro serve`, a file giro.toml, and the environment."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from giro import BadFile, BadParameter
from giro.service.keys import Grant
from giro.service.messages import NewBandit


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The most of everything that a caller may ask for."""

    body: int = 1_048_576  # bytes
    depth: int = 20  # of JSON
    arms: int = 1000  # of a request
    batch: int = 1000  # decisions or rewards of a request
    queue: int = 1000  # requests that wait for one bandit
    bandits: int = 1000  # in the memory of a process: others are opened again when needed
    rate: float | None = None  # requests a second of a key that says nothing else
    seconds: float = 10.0  # for the rest of a body to come


class KeySetting(Grant, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key of the settings. Its secret comes from an environment variable."""

    variable: str
    scopes: tuple[str, ...] = ("decide", "reward", "read")


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that `giro serve` can be told. Secrets come from the environment only."""

    store: str = "sqlite:///giro.db"
    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8720
    uds: str | None = None
    workers: int = 1
    log: Literal["text", "json"] = "text"
    limits: Limits = Limits()
    keys: list[KeySetting] = []  # made at the start
    bandits: list[NewBandit] = []  # likewise, as by POST /v1/bandits

    @property
    def place(self) -> str:
        """The address of the store without the user and the password.

        >>> Settings(store="postgresql://ann:secret@db/giro?password=x").place
        'postgresql://db/giro'
        """
        scheme, separator, rest = self.store.partition("://")
        return f"{scheme}{separator}{rest.rpartition('@')[2].partition('?')[0]}"

    @property
    def is_local(self) -> bool:
        """Whether only programs of this machine can connect."""
        return self.uds is not None or self.host in ("127.0.0.1", "::1", "localhost")


def settings_from(path: Path | None, options: Mapping[str, Any]) -> Settings:
    """Return the settings of a file, with those options in their place that are not None.

    The environment variable GIRO_STORE is the store if nothing else names one: an address may hold
    a password.
    """
    plain: dict[str, Any] = {}
    if "GIRO_STORE" in os.environ:
        plain["store"] = os.environ["GIRO_STORE"]
    if path is not None:
        plain |= _read(path)
    plain |= {name: value for name, value in options.items() if value is not None}
    try:
        settings = msgspec.convert(plain, Settings)
    except msgspec.ValidationError as error:
        raise BadParameter(f"the settings of giro serve are wrong: {error}") from None
    if settings.workers < 1:
        raise BadParameter(f"giro serve needs workers >= 1, got {settings.workers}")
    return settings


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise BadFile(f"there is no file {path}") from None
    except (OSError, ValueError) as error:
        raise BadFile(f"{path} cannot be read as settings: {error}") from None
