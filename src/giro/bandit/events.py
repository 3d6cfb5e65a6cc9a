"""The log as a table, and back."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from giro.bandit.core import Core
from giro.bandit.log import ARM_ADDED, ARM_RETIRED, DECISION, EXPIRED, KINDS, PENDING, REWARD, Log
from giro.bandit.log import column as copied
from giro.errors import BadFile, BadParameter
from giro.files import write_whole
from giro.offer import NO_FEATURES, Offer

if TYPE_CHECKING:
    import polars as pl

_SUM_TOLERANCE = 1e-6


def table(log: Log, header: Mapping[str, Any]) -> "pl.DataFrame":
    """Return the log with one row an event; `header` goes into the first row."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    schema = _schema()
    parts = (_decisions(log), _rewards(log), _arm_events(log))
    frames = [pl.DataFrame(part, schema_overrides=schema) for part in parts]
    rows = pl.concat(frames, how="diagonal").sort("number")
    first = [json.dumps(header, ensure_ascii=False)] + [None] * (rows.height - 1)
    rows = rows.with_columns(pl.Series("setting", first, pl.String))
    absent = (name for name in schema if name not in rows.columns)
    rows = rows.with_columns(pl.lit(None, schema[name]).alias(name) for name in absent)
    return rows.select(pl.col(name).cast(kind) for name, kind in schema.items())


def _decisions(log: Log) -> dict[str, Any]:
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    numbers, among, chosen = np.arange(log.n_decisions), copied(log.among), copied(log.chosen)
    arm_events = np.array([event.decisions for event in log.arm_events], np.int64)
    before = copied(log.seen) + np.searchsorted(arm_events, numbers, side="right")
    sets = [[log.arms[arm] for arm in arms] for arms in log.sets]
    contexts = pl.repeat(None, numbers.size, dtype=pl.List(pl.Float64), eager=True)
    if log.contexts.shape[1] > 0:
        contexts = pl.Series(log.contexts[: numbers.size]).cast(pl.List(pl.Float64))
    return {
        "number": numbers + before,
        "kind": [KINDS[DECISION]] * numbers.size,
        "id": _ids(log),
        "time": copied(log.decided),
        "arm": pl.Series(log.arms, dtype=pl.String).gather(chosen),
        "arms": pl.Series(sets, dtype=pl.List(pl.String)).gather(among),
        "context": contexts,
        **_probabilities(log, among, chosen),
        **({"features": [known.tolist() for known in log.features]} if log.features else {}),
    }


def _probabilities(log: Log, among: np.ndarray, chosen: np.ndarray) -> dict[str, Any]:
    """Return the probabilities of all arms of each decision, and of the chosen one, if known."""
    if not log.propensities:
        return {}
    known = [log.propensities.get(number) for number in range(among.size)]
    positions = (log.sets[s].searchsorted(arm) for s, arm in zip(among, chosen, strict=True))
    pairs = list(zip(known, positions, strict=True))
    return {
        "propensity": [None if p is None else float(p[position]) for p, position in pairs],
        "propensities": [None if p is None else p.tolist() for p in known],
    }


def _ids(log: Log) -> "pl.Series":
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    ids = log.prefix + pl.Series(np.arange(log.n_decisions)).cast(pl.String)
    if log.own_ids:
        ids = ids.scatter(list(log.own_ids), list(log.own_ids.values()))
    return ids


def _rewards(log: Log) -> dict[str, Any]:
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    numbers, decisions = np.arange(log.n_rewards), copied(log.rewarded)
    arm_events = np.array([event.rewards for event in log.arm_events], np.int64)
    before = np.searchsorted(copied(log.seen), numbers, side="right")  # decisions
    kinds = pl.Series([KINDS[REWARD], KINDS[EXPIRED]])
    return {
        "number": numbers + before + np.searchsorted(arm_events, numbers, side="right"),
        "kind": kinds.gather(copied(log.expired)),
        "id": _ids(log).gather(decisions),
        "time": copied(log.came),
        "arm": pl.Series(log.arms, dtype=pl.String).gather(copied(log.chosen)[decisions]),
        "reward": copied(log.value),
    }


def _arm_events(log: Log) -> dict[str, Any]:
    events = log.arm_events
    return {
        "number": [e.decisions + e.rewards + i for i, e in enumerate(events)],
        "kind": [KINDS[e.kind] for e in events],
        "time": [e.time for e in events],
        "arm": [log.arms[e.arm] for e in events],
    }


def _schema() -> dict[str, Any]:
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    return {
        "number": pl.Int64,
        "kind": pl.String,
        "id": pl.String,
        "time": pl.Float64,
        "arm": pl.String,
        "reward": pl.Float64,
        "propensity": pl.Float64,
        "arms": pl.List(pl.String),
        "propensities": pl.List(pl.Float64),
        "context": pl.List(pl.Float64),
        "features": pl.List(pl.List(pl.Float64)),
        "setting": pl.String,
    }


def write(events: "pl.DataFrame", path: Path) -> None:
    """Write a table as its file's name says, whole or not at all."""
    content = io.BytesIO()
    if path.suffix == ".parquet":
        events.write_parquet(content)
    elif path.suffix == ".jsonl":
        events.write_ndjson(content)
    else:
        raise BadParameter(f"events are written to .parquet or .jsonl, got {path.name}")
    write_whole(path, (content.getbuffer(),))


def read(events: Any) -> "pl.DataFrame":
    """Return a table of events, from a file if it is not one."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    if isinstance(events, pl.DataFrame):
        return events
    path = Path(events)
    try:
        if path.suffix == ".parquet":
            return pl.read_parquet(path)
        return pl.read_ndjson(path, schema=_schema())
    except FileNotFoundError:
        raise BadFile(f"there is no file {path}") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadFile(f"{path} cannot be read as events: {error}") from error


def header_of(events: "pl.DataFrame") -> dict[str, Any]:
    """Return what the first row says besides its event."""
    missing = [name for name in _schema() if name not in events.columns and name != "features"]
    if missing:
        raise BadParameter(f"events need the column {missing[0]}; there are {events.columns}")
    if events.height == 0 or events["setting"][0] is None:
        raise BadParameter("the first of the events must tell the setting of the bandit")
    try:
        header = json.loads(events["setting"][0])
        wanted = {key: header[key] for key in ("setting", "encoder", "prefix")}
        header["made_elsewhere"] = int(header.get("made_elsewhere", 0))
    except (ValueError, KeyError, TypeError) as error:
        raise BadParameter(f"the setting in the first event cannot be read: {error!r}") from None
    optional = {"arm_encoder": None, "made_elsewhere": 0}
    return wanted | {key: header.get(key, default) for key, default in optional.items()}


def fill(core: Core, events: "pl.DataFrame", *, constant: bool) -> None:
    """Note every event of a table in an empty log, each checked against those before.

    `constant` says that contexts end with a constant 1, as those of giro 0.1.0 do.
    """
    for number, event in enumerate(events.iter_rows(named=True)):
        try:
            if event["number"] != number:
                raise BadParameter(f"events are numbered 0, 1, 2, ..., got {event['number']}")
            _note(core, event, constant=constant)
        except (BadParameter, TypeError, ValueError, KeyError) as error:
            raise BadParameter(
                f"event {number} does not follow from those before: {error}"
            ) from error


def _note(core: Core, event: Mapping[str, Any], *, constant: bool) -> None:
    kind, time = KINDS.index(event["kind"]), float(event["time"])
    if kind == DECISION:
        _note_decision(core, event, time, constant=constant)
    elif kind == ARM_ADDED:
        core.add_arm(event["arm"], time)
    elif kind == ARM_RETIRED:
        core.retire_arm(event["arm"], time)
    else:
        number, value = core.checked_reward(event["id"], event["reward"])
        if core.log.reward_of[number] != PENDING:
            raise BadParameter(f"a second reward of '{event['id']}'")
        core.note_reward(number, value, time, expired=kind == EXPIRED)


def _note_decision(core: Core, event: Mapping[str, Any], time: float, *, constant: bool) -> None:
    among, arm = core.among(event["arms"]), core.active_arm(event["arm"])
    arms = core.log.sets[among]
    if [core.log.arms[other] for other in arms] != list(event["arms"]) or arm not in arms:
        raise BadParameter(f"'{event['arm']}' is not one of the arms {event['arms']}, in order")
    context = np.array(event["context"] or [], np.float64)
    context = context[:-1] if constant else context
    rows, features = event.get("features"), NO_FEATURES
    if rows:
        if len({len(row) for row in rows}) > 1:
            raise BadParameter(f"arms have as many features each, got {[len(row) for row in rows]}")
        features = np.array(rows, np.float64)
    core.check_widths(context, features, arms.size)
    is_own = event["id"] != f"{core.log.prefix}{core.log.n_decisions}"
    if is_own:
        core.check_new_id(event["id"])
    logged = event["propensities"]
    p = None if logged is None else np.array(logged, np.float64)
    if p is not None and not (
        p.size == arms.size and p.min() >= 0.0 and abs(p.sum() - 1.0) <= _SUM_TOLERANCE
    ):
        raise BadParameter(f"{event['propensities']} are no probabilities of {arms.size} arms")
    id = event["id"] if is_own else None
    core.note_decision(arm, among, Offer(arms, context, features), time, id, p)
