"""The tables of stores in databases, and how rows become events again."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from giro.bandit.event import KINDS, Decided, EventRow, Reported, Rewarded, event_of
from giro.bandit.stores.store import FoundDecision
from giro.errors import BadFile

DECISION, REWARD, REPORT, FORM, ERASED, REBUILT = (
    KINDS.index(kind) for kind in ("decision", "reward", "report", "form", "erased", "rebuilt")
)
STAYING: Final = tuple(map(KINDS.index, ("setting", "form", "arm_added", "arm_retired")))
EVENT: Final = "kind, id, time, value, data"  # the columns of an `EventRow`

# The changes of tables, in the order of versions. A database of an older version runs those behind
# it. {blob} and {real} are the database's words for types, {key} is an ascending number.
MIGRATIONS: Final = (
    f"""
    CREATE TABLE giro_bandits (
        bandit {{key}}, name TEXT NOT NULL UNIQUE, base BIGINT NOT NULL DEFAULT 0);
    CREATE TABLE giro_events (
        bandit BIGINT NOT NULL, position BIGINT NOT NULL, kind SMALLINT NOT NULL, id TEXT,
        time {{real}} NOT NULL, value {{real}}, data {{blob}}, reward BIGINT,
        PRIMARY KEY (bandit, position));
    CREATE UNIQUE INDEX giro_decisions ON giro_events (bandit, id) WHERE kind = {DECISION};
    CREATE INDEX giro_reports ON giro_events (bandit, id) WHERE kind = {REPORT};
    CREATE INDEX giro_waiting ON giro_events (bandit, time)
        WHERE kind = {DECISION} AND reward IS NULL;
    CREATE INDEX giro_forms ON giro_events (bandit, position) WHERE kind = {FORM};
    CREATE TABLE giro_snapshots (
        bandit BIGINT NOT NULL, position BIGINT NOT NULL, about TEXT NOT NULL,
        arrays {{blob}} NOT NULL, time {{real}}, rewards BIGINT,
        PRIMARY KEY (bandit, position));
    CREATE TABLE giro_parts (
        bandit BIGINT NOT NULL, position BIGINT NOT NULL, part BIGINT NOT NULL,
        data {{blob}} NOT NULL, PRIMARY KEY (bandit, position, part));
    CREATE TABLE giro_processes (process TEXT PRIMARY KEY, until {{real}} NOT NULL);
    CREATE TABLE giro_keepers (bandit BIGINT PRIMARY KEY, process TEXT NOT NULL);
    """,
    """
    CREATE TABLE giro_records (
        kind TEXT NOT NULL, name TEXT NOT NULL, version BIGINT NOT NULL, value TEXT NOT NULL,
        until {real}, PRIMARY KEY (kind, name));
    CREATE INDEX giro_records_until ON giro_records (until) WHERE until IS NOT NULL;
    """,
    "",  # the function of PostgreSQL that appends
    "",  # another one, which looks up decisions that wait by their ids
    "",  # and one for a single event
)
VERSION: Final = len(MIGRATIONS)


def statements(version: int, types: Mapping[str, str]) -> list[str]:
    """Return the statements that bring tables of a version up to date."""
    scripts = "".join(MIGRATIONS[version:]).format_map(types)
    return [statement for statement in scripts.split(";") if statement.strip()]


def check_version(version: int) -> None:
    """Check that this giro can read a database of a version."""
    if version > VERSION:
        raise BadFile(
            f"the database was changed by a newer giro: its tables have version {version}, "
            f"this giro knows versions up to {VERSION}"
        )


def decision_in(row: Sequence[Any]) -> Decided:
    """Return the decision in a row."""
    event = event_of(EventRow(*row))
    if not isinstance(event, Decided):
        raise BadFile(f"expected a decision, the log has {event}")
    return event


def report_in(row: Sequence[Any]) -> Reported:
    """Return the report in a row."""
    event = event_of(EventRow(*row))
    if not isinstance(event, Reported):
        raise BadFile(f"expected a report, the log has {event}")
    return event


def found_in(row: Sequence[Any]) -> FoundDecision:
    """Return a decision and its reward, from the columns of both and the number of reports."""
    reward = None if row[5] is None else event_of(EventRow(*row[5:10]))
    if reward is not None and not isinstance(reward, Rewarded):
        raise BadFile(f"expected a reward, the log has {reward}")
    return FoundDecision(decision_in(row[:5]), reward, row[10])
