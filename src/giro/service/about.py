"""About: the settings of a bandit that belong to the service, kept beside its log."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from giro import BadParameter, Records

KIND = "bandit"
_KINDS = {
    bool: "true or false",
    str: "a text",
    int: "a number",
    float: "a number",
    dict: "an object",
    list: "an object",
}


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


def arm_added(about: About, *, arm: str, payload: Mapping[str, Any]) -> None:
    """Note in these settings the payload of an arm, by its name, unless it has one already."""
    old = about.payloads or {}
    about.payloads = checked_payloads({**old, **payload}, {*old, arm})


def checked_payloads(payloads: Mapping[str, Any], arms: Collection[str] | None) -> dict[str, Any]:
    """Return a payload for each arm, if they are of one type: programs read flags by their type.

    Numbers are whole or all of them are not.
    """
    if arms is not None and payloads.keys() != set(arms):
        wrong = sorted(payloads.keys() ^ set(arms))
        raise BadParameter(f"payloads has a value for each arm and no others, see: {wrong}")
    kinds = {_KINDS.get(type(value), "null") for value in payloads.values()}
    if len(kinds) > 1 or "null" in kinds:
        raise BadParameter(f"payloads are of one type, got {' and '.join(sorted(kinds))}")
    if {type(value) for value in payloads.values()} == {int, float}:
        return {arm: float(value) for arm, value in payloads.items()}
    return dict(payloads)
