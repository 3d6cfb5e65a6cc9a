"""About: the settings of a bandit that belong to the service, kept beside its log."""

from collections.abc import Callable
from typing import Any

import msgspec

from giro import Records

KIND = "bandit"


class About(msgspec.Struct, omit_defaults=True):
    """The settings of a bandit beside its log. Doors keep their own in `doors`."""

    retired: bool = False
    payloads: dict[str, Any] | None = None  # value of each arm, for feature flags
    sticky: float = 1800.0  # seconds for which a targetingKey keeps its decision
    doors: dict[str, Any] = {}  # by the name of a door, as "personalizer"


def about_of(records: Records, name: str) -> About:
    """Return the settings of a bandit."""
    record = records.get(KIND, name)
    return About() if record is None else msgspec.convert(record.value, About)


def changed(records: Records, name: str, change: Callable[[About], None]) -> About:
    """Change the settings of a bandit, whoever else changes them at the same time."""
    while True:
        record = records.get(KIND, name)
        about = About() if record is None else msgspec.convert(record.value, About)
        change(about)
        expected = 0 if record is None else record.version
        if records.put(KIND, name, msgspec.to_builtins(about), expected=expected):
            return about


def retire_bandit(records: Records, name: str) -> About:
    """Note that a bandit decides no more."""
    return changed(records, name, retired)


def retired(about: About) -> None:
    """Note in these settings that the bandit decides no more."""
    about.retired = True
