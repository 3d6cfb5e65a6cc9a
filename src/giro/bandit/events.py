"""The log as a table, and back."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from giro.bandit.log import ARM_ADDED, ARM_RETIRED, DECISION, EXPIRED, KINDS, REWARD, Log
from giro.bandit.setting import Setting
from giro.errors import BadFile, BadParameter

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = ("kind", "id", "time", "arm", "reward", "propensity", "arms", "propensities", "context")


def table(log: Log, told: Mapping[str, Any]) -> "pl.DataFrame":
    """Return the log with one row an event; `told` goes into the first row."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    rows = list(_rows(log))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(_COLUMNS)}
    setting = [json.dumps(told, ensure_ascii=False)] + [None] * (len(rows) - 1)
    return pl.DataFrame(
        {"number": range(len(rows)), **columns, "setting": setting}, schema=_schema()
    )


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
        "setting": pl.String,
    }


def _rows(log: Log) -> Iterator[tuple[Any, ...]]:
    """Yield the values of _COLUMNS for every event."""
    names = [[log.arms[arm] for arm in arms] for arms in log.sets]
    for kind, subject, time in zip(log.kind, log.subject, log.time, strict=True):
        if kind == DECISION:
            yield _decision_row(log, subject, time, names[log.among[subject]])
        elif kind in (REWARD, EXPIRED):
            decision = log.rewarded[subject]
            arm, value = log.arms[log.chosen[decision]], log.value[subject]
            yield KINDS[kind], log.id_of(decision), time, arm, value, None, None, None, None
        else:
            yield KINDS[kind], None, time, log.arms[subject], None, None, None, None, None


def _decision_row(log: Log, decision: int, time: float, arms: list[str]) -> tuple[Any, ...]:
    arm = log.chosen[decision]
    law, context = log.propensities.get(decision), log.context_of(decision)
    chance = None if law is None else float(law[log.sets[log.among[decision]].index(arm)])
    return (
        KINDS[DECISION],
        log.id_of(decision),
        time,
        log.arms[arm],
        None,
        chance,
        arms,
        None if law is None else law.tolist(),
        context.tolist() if context.size else None,
    )


def write(events: "pl.DataFrame", path: Path) -> None:
    """Write a table as its file's name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        events.write_parquet(path)
    elif path.suffix == ".jsonl":
        events.write_ndjson(path)
    else:
        raise BadParameter(f"events are written to .parquet or .jsonl, got {path.name}")


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


def setting_of(events: "pl.DataFrame") -> dict[str, Any]:
    """Return what the first row tells besides its event."""
    missing = [name for name in _schema() if name not in events.columns]
    if missing:
        raise BadParameter(f"events need the column {missing[0]}; there are {events.columns}")
    if events.height == 0 or events["setting"][0] is None:
        raise BadParameter("the first of the events must tell the setting of the bandit")
    try:
        told = json.loads(events["setting"][0])
        return {key: told[key] for key in ("setting", "encoder", "prefix")}
    except (ValueError, KeyError, TypeError) as error:
        raise BadParameter(f"the setting in the first event cannot be read: {error!r}") from None


def fill(log: Log, events: "pl.DataFrame", setting: Setting) -> None:
    """Note every event of a table in an empty log, each checked against those before."""
    for number, event in enumerate(events.iter_rows(named=True)):
        try:
            if event["number"] != number:
                raise BadParameter(f"events are numbered 0, 1, 2, ..., got {event['number']}")
            _note(log, event, setting)
        except (BadParameter, TypeError, ValueError, KeyError) as error:
            raise BadParameter(
                f"event {number} does not follow from those before: {error}"
            ) from error


def _note(log: Log, event: Mapping[str, Any], setting: Setting) -> None:
    kind, time = KINDS.index(event["kind"]), float(event["time"])
    if kind == DECISION:
        _note_decision(log, event, time)
    elif kind in (REWARD, EXPIRED):
        _note_reward(log, event, setting, kind, time)
    elif kind == ARM_ADDED and log.arm(event["arm"]) not in log.active:
        log.add_arm(str(event["arm"]), time)
    elif kind == ARM_RETIRED and log.arm(event["arm"]) in log.active:
        log.retire_arm(event["arm"], time)
    else:
        raise BadParameter(f"{event['kind']} of '{event['arm']}'")


def _note_decision(log: Log, event: Mapping[str, Any], time: float) -> None:
    among = tuple(_active(log, name) for name in event["arms"])
    arm = _active(log, event["arm"])
    if arm not in among or list(among) != sorted(set(among)):
        raise BadParameter(f"'{event['arm']}' of {event['arms']}")
    context = np.array(event["context"] or [], np.float64)
    if log.n_decisions > 0 and context.size != log.contexts.shape[1]:
        raise BadParameter(f"a context of {context.size} features, not {log.contexts.shape[1]}")
    is_own = event["id"] != f"{log.prefix}{log.n_decisions}"
    if is_own and (not event["id"] or event["id"].startswith(log.prefix)):
        raise BadParameter(f"a decision with the id '{event['id']}'")
    if is_own and log.decision_of(event["id"]) is not None:
        raise BadParameter(f"a second decision '{event['id']}'")
    number = log.decide(arm, log.set_number(among), context, time, event["id"] if is_own else None)
    if event["propensities"] is not None:
        law = log.propensities[number] = np.array(event["propensities"], np.float64)
        if law.size != len(among):
            raise BadParameter(f"{law.size} propensities for {len(among)} arms")


def _active(log: Log, name: str) -> int:
    arm = log.arm(name)
    if arm is None or arm not in log.active:
        raise BadParameter(f"'{name}' is no arm that can be chosen")
    return arm


def _note_reward(
    log: Log, event: Mapping[str, Any], setting: Setting, kind: int, time: float
) -> None:
    decision, value = log.decision_of(event["id"]), float(event["reward"])
    low, high = setting.reward_range
    if decision is None or log.reward_of[decision] >= 0:
        raise BadParameter(f"a reward of '{event['id']}', which waits for none")
    if math.isnan(value) or not low <= value <= high:
        raise BadParameter(f"a reward of {value}, not in [{low:g}, {high:g}]")
    log.reward(decision, value, setting.to_unit(value), time, kind)
