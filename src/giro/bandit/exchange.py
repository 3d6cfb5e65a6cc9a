"""The log as a table and back, and logs of other systems as events."""

import io
import json
import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from giro.bandit.event import (
    KINDS,
    UNKNOWN,
    ArmAdded,
    ArmRetired,
    Began,
    Decided,
    Erased,
    Event,
    Formed,
    Left,
    Rebuilt,
    Reported,
    Rewarded,
    kind_of,
)
from giro.checks import is_word
from giro.errors import BadFile, BadParameter
from giro.features import Columns, Schema
from giro.features.schema import OF_ARM
from giro.features.walk import is_usable
from giro.files import write_whole
from giro.hashing import are_codes
from giro.offer import NO_FEATURES, AnyRow, AnyRows, SparseRow, SparseRows, position_of, rows_at
from giro.sealing import check_parquet, checked_lines, sealed_lines, sealed_parquet

_SUM_TOLERANCE = 1e-6

if TYPE_CHECKING:
    import polars as pl

    from giro.bandit.state import BanditState
    from giro.evaluation.log import Log

# -- the log as a table, and back ------------------------------------------------------------------


def events_table(
    events: Sequence[Event], arms: Sequence[str], numbers: Sequence[int], arm_of: dict[str, str]
) -> "pl.DataFrame":
    """Return events with one row each.

    `numbers` are their positions. `arm_of` holds the arms of earlier decisions. Those of
    these events are added to it.
    """
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    schema = _schema()
    columns: dict[str, list[Any]] = {name: [] for name in schema}
    names: dict[bytes, list[str]] = {}
    for number, event in zip(numbers, events, strict=True):
        row: dict[str, Any] = {"number": number, "kind": KINDS[kind_of(event)], "time": event.time}
        match event:
            case Decided():
                key = event.arms.tobytes()
                if key not in names and not event.names:
                    names[key] = [arms[arm] for arm in event.arms.tolist()]
                row |= _decision_row(event, list(event.names) or names[key])
                arm_of[event.id] = row["arm"]
            case Rewarded() | Reported():
                row |= {"id": event.id, "reward": event.value, "arm": arm_of.get(event.id)}
                row["report"] = getattr(event, "name", "") or None
            case ArmAdded() | ArmRetired():
                row["arm"] = event.text
            case Began():
                row["setting"] = event.text
            case Formed():
                row |= {"setting": event.text, "seen": event.version}
            case Left():
                row["seen"] = event.until
            case _:
                pass
        for name, column in columns.items():
            column.append(row.get(name))
    return pl.DataFrame(columns, schema=schema)


def _decision_row(event: Decided, names: list[str]) -> dict[str, Any]:
    whole = event.propensities.size == event.arms.size
    return {
        "id": event.id,
        "arm": names[event.position],
        "propensity": event.propensity,
        "own": None if math.isnan(event.own) else event.own,
        "arms": names,
        "propensities": event.propensities.tolist() if whole else None,
        **_columns_of_rows(event),
        "seen": event.seen,
    }


def _columns_of_rows(event: Decided) -> dict[str, Any]:
    """Return the rows of a decision: their values, and codes where they are sparse."""
    context, features = event.context, event.features
    if isinstance(context, SparseRow):
        ends = features.begin[1:-1]
        return {
            "context": context.value.tolist(),
            "context_codes": context.column.tolist(),
            "features": [part.tolist() for part in np.split(features.value, ends)],
            "feature_codes": [part.tolist() for part in np.split(features.column, ends)],
        }
    return {
        "context": context.tolist() if context.size else None,
        "features": features.tolist() if features.size else None,
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
        "report": pl.String,
        "propensity": pl.Float64,
        "arms": pl.List(pl.String),
        "propensities": pl.List(pl.Float64),
        "context": pl.List(pl.Float64),
        "features": pl.List(pl.List(pl.Float64)),
        "context_codes": pl.List(pl.Int64),
        "feature_codes": pl.List(pl.List(pl.Int64)),
        "own": pl.Float64,
        "seen": pl.Int64,
        "setting": pl.String,
    }


def write_events(events: "pl.DataFrame", path: Path) -> None:
    """Write a table as its file's name says, whole or not at all."""
    written = {".parquet": sealed_parquet, ".jsonl": sealed_lines}.get(path.suffix)
    if written is None:
        raise BadParameter(f"events are written to .parquet or .jsonl, got {path.name}")
    write_whole(path, (written(events),))


def read_events(events: Any) -> "pl.DataFrame":
    """Return a table of events, from a file if it is not one."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    if isinstance(events, pl.DataFrame):
        return events
    path = Path(events)
    try:
        if path.suffix == ".parquet":
            check_parquet(path)
            return pl.read_parquet(path)
        return pl.read_ndjson(io.BytesIO(checked_lines(path)), schema=_schema())
    except FileNotFoundError:
        raise BadFile(f"there is no file {path}") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BadFile(f"{path} cannot be read as events: {error}") from error


def events_in(rows: "pl.DataFrame") -> Iterator[Event]:
    """Yield the events of a whole log."""
    missing = [name for name in _schema() if name not in rows.columns]
    if missing:
        raise BadParameter(f"events need the column {missing[0]}; there are {rows.columns}")
    if rows.height == 0 or rows["setting"][0] is None or rows["kind"][0] != KINDS[0]:
        raise BadParameter("the first of the events must hold the setting of the bandit")
    left = rows.filter(rows["kind"] == KINDS[-1])["seen"].max()
    if left is not None:
        raise BadParameter(
            f"events up to {left!r} have left this log, so that nobody can learn it from the "
            "beginning: evaluate what is there, or load the bandit from a file of `save`"
        )
    first = int(rows["number"][0])
    arm_of = None if _is_open(rows["setting"][0]) else dict[str, int]()
    for i, row in enumerate(rows.iter_rows(named=True)):
        try:
            if row["number"] != first + i:
                raise BadParameter(f"events are numbered one by one, got {row['number']}")
            yield _event(row, arm_of)
        except (BadParameter, TypeError, ValueError, KeyError, IndexError) as error:
            raise BadParameter(
                f"event {row['number']} does not follow from those before: {error}"
            ) from error


def _is_open(text: str) -> bool:
    """Return whether arms come with each decision, and have no numbers but their places."""
    try:
        return bool(json.loads(text).get("open_arms"))
    except (ValueError, AttributeError):
        return False


def _event(row: Mapping[str, Any], arm_of: dict[str, int] | None) -> Event:  # noqa: PLR0911  # one for each kind
    kind, time = row["kind"], float(row["time"])
    match kind:
        case "setting":
            return Began(time, str(row["setting"]))
        case "form":
            return Formed(time, str(row["setting"]), int(row["seen"]))
        case "arm_added" if arm_of is not None:
            arm_of.setdefault(_word(row["arm"]), len(arm_of))
            return ArmAdded(time, row["arm"])
        case "arm_retired":
            return ArmRetired(time, _word(row["arm"]))
        case "decision":
            return _decided(row, arm_of, time)
        case "report":
            name = "" if row["report"] is None else _word(row["report"])
            return Reported(_word(row["id"]), time, float(row["reward"]), name)
        case "reward" | "expired":
            return Rewarded(_word(row["id"]), time, float(row["reward"]), kind == "expired")
        case "erased" | "rebuilt":
            return (Erased if kind == "erased" else Rebuilt)(time)
    raise BadParameter(f"there is no kind of event called {kind!r}")


def _decided(row: Mapping[str, Any], arm_of: Mapping[str, int] | None, time: float) -> Decided:
    names, arm = list(row["arms"]), row["arm"]
    if not names:
        raise BadParameter("a decision needs arms, got none")
    own_names = tuple(map(_word, names)) if arm_of is None else ()
    if arm_of is None:
        arm_of = {name: i for i, name in enumerate(names)}
    unknown = [name for name in (*names, arm) if name not in arm_of]
    if unknown:
        raise BadParameter(f"no arm is called '{unknown[0]}'")
    numbers = np.array([arm_of[name] for name in names], np.int64)
    if arm not in names or (np.diff(numbers) <= 0).any():
        raise BadParameter(f"'{arm}' is not one of the arms {names}, in order")
    logged, propensity, own = row["propensities"], row["propensity"], row.get("own")
    if logged is not None and len(logged) != len(names):
        raise BadParameter(f"expected {len(names)} probabilities, got {logged}")
    p = np.array(logged if logged is not None else [propensity] if propensity else [], np.float64)
    context, features = _rows(row, len(names))
    return Decided(
        _word(row["id"]),
        time,
        arm_of[arm],
        numbers,
        p if p.size else UNKNOWN,
        float("nan") if own is None else float(own),
        int(row.get("seen") or 0),
        context,
        features,
        names=own_names,
    )


def _rows(row: Mapping[str, Any], n_arms: int) -> tuple[AnyRow, AnyRows]:
    """Return the rows of a decision."""
    values, codes = row["features"] or [], row["feature_codes"]
    if row["context_codes"] is not None:
        begin = np.concatenate([[0], np.cumsum([len(part) for part in values], dtype=np.int64)])
        return (
            SparseRow(np.array(row["context_codes"], np.int64), np.array(row["context"], float)),
            SparseRows(
                begin,
                *(
                    np.array([x for part in side for x in part], kind)
                    for side, kind in ((codes, np.int64), (values, np.float64))
                ),
            ),
        )
    if values and len({len(each) for each in values} | {len(values[0])}) > 1:
        raise BadParameter(f"arms have as many features each, got {[len(r) for r in values]}")
    features = np.array(values, np.float64) if values else NO_FEATURES
    return np.array(row["context"] or [], np.float64), features


def _word(value: object) -> str:
    if not (isinstance(value, str) and is_word(value)):
        raise BadParameter(f"a name or an id is a non-empty word, got {value!r}")
    return value


# -- checking a log --------------------------------------------------------------------------------


def check_event(event: Event, state: "BanditState") -> None:
    """Check that an event that somebody else has written can follow on a state."""
    match event:
        case Decided():
            _check_decision(event, state)
        case Rewarded():
            state.setting.checked_reward(event.value)
        case ArmAdded() if not event.text:
            raise BadParameter("an arm has no name")
        case ArmRetired() if event.text not in state.arms:
            raise BadParameter(f"the arm '{event.text}' retires before it was added")
        case Formed() if event.version != state.version + 1:
            raise BadParameter(f"expected schema {state.version + 1}, got {event.version}")
        case _:
            pass
    if not math.isfinite(event.time):
        raise BadParameter(f"a time is a finite number, got {event.time}")


def _check_decision(event: Decided, state: "BanditState") -> None:
    n_arms, chances = event.arms.size, event.propensities
    _check_rows(event, state.schema or Schema())
    n_known = len(event.names) if state.setting.open_arms else len(state.arms)
    if event.arm not in event.arms or event.arms[-1] >= n_known:
        raise BadParameter(f"arm {event.arm} is not one of the arms {event.arms.tolist()}")
    if chances.size == n_arms:
        is_right = chances.min() >= 0.0 and abs(chances.sum() - 1.0) <= _SUM_TOLERANCE
    else:
        is_right = chances.size == 0 or (chances.size == 1 and 0.0 < chances[0] <= 1.0)
    if not is_right:
        raise BadParameter(f"expected {n_arms} probabilities that sum to 1, got {chances.tolist()}")


def _check_rows(event: Decided, schema: Schema) -> None:
    context, features, n_arms = event.context, event.features, event.arms.size
    if isinstance(context, SparseRow) != schema.is_sparse:
        raise BadParameter("rows with codes belong to a policy that hashes features, and no others")
    if isinstance(context, SparseRow):
        if features.begin.size != n_arms + 1 or context.column.size != context.value.size:
            raise BadParameter(f"expected features of {n_arms} arms, with a code each")
        if not (are_codes(context.column) and are_codes(features.column)):
            raise BadParameter("a code is a whole number >= 0 and below 2^53")
        context, features = context.value, features.value
        if not (np.isfinite(context).all() and np.isfinite(features).all()):
            raise BadParameter("a feature is not a finite number")
    else:
        _check_widths(context, features, n_arms, schema)
    if not (is_usable(context) and is_usable(features)):
        raise BadParameter("a context or an arm has a feature that is too large a number")


def _check_widths(context: np.ndarray, features: np.ndarray, n_arms: int, schema: Schema) -> None:
    """Check that rows are as wide as the schema, or as it was before it grew."""
    widths = (context.size, features.shape[1])
    wanted = {(n, m) for n, m in (*schema.steps, schema.widths)}
    if widths not in wanted or features.shape[0] != (n_arms if widths[1] else 0):
        n, m = schema.widths
        raise BadParameter(
            f"a context has {n} features and an arm {m}, got shapes {context.shape} and "
            f"{features.shape}"
        )


# -- a log of another system -----------------------------------------------------------------------


def events_of(log: "Log", state: "BanditState", now: float) -> tuple[list[Event], list[Event]]:
    """Return events that add arms and form the schema, then decisions and rewards in turn."""
    if not hasattr(log, "arm_names"):
        raise BadParameter(f"a log is what giro.read_log returns, got {type(log).__name__}")
    new, number = _new_arms(log, state)
    schema = _joint_schema(log, state)
    formed: list[Event] = []
    if schema != state.schema:
        if state.schema is None:
            state.fresh(schema)  # refuses what the policy cannot use
        formed = [Formed(now, json.dumps(schema.to_json()), state.version + 1)]
    token, pairs = secrets.token_hex(8), list[Event]()
    for i, reward in enumerate(log.reward.tolist()):
        value = state.setting.checked_reward(reward)
        event = _logged_decision(log, i, schema, number, f"log-{token}-{i}", now)
        pairs += [event, Rewarded(event.id, now, value)]
    return [*(ArmAdded(now, name) for name in new), *formed], pairs


def _new_arms(log: "Log", state: "BanditState") -> tuple[list[str], np.ndarray | None]:
    """Return the arms that are new to the bandit, and the numbers of the log's arms.

    The numbers are None for a bandit made without arms, where arms are places in the offer.
    """
    if state.setting.open_arms:
        return [], None
    if log.names is not None:
        raise BadParameter(
            "in this log other arms are on offer in each event: only a bandit made without arms "
            "can learn from it"
        )
    numbers = {name: arm for arm, name in enumerate(state.arms)}
    new = [name for name in log.arm_names if name not in numbers]
    numbers |= {name: arm for arm, name in enumerate(new, len(numbers))}
    return new, np.array([numbers[name] for name in log.arm_names])


def _joint_schema(log: "Log", state: "BanditState") -> Schema:
    """Return the bandit's schema, grown by the log's, or the log's own if there is none yet."""
    own, logged = state.schema, log.schema
    begins = own is None
    if own is None:
        own = state.setting.empty_schema()
    if own.is_sparse:
        return own
    if logged.is_sparse:
        raise BadParameter("the log has hashed features, and this bandit has them in columns")
    if begins:
        arms = None if logged.arms is None else Columns(0, (), OF_ARM)
        own = own._replace(arms=arms, contextual=own.contextual or logged.contextual)
    sides = ("context", "arms")
    for side in sides:
        own = _joint_side(own, logged, side, begins=begins)
    return own._replace(steps=()) if begins else own


def _joint_side(own: Schema, logged: Schema, side: str, *, begins: bool) -> Schema:
    mine, other = getattr(own, side), getattr(logged, side)
    if other is None or mine is None:
        if mine is not other and (mine or other).n_columns:
            which = "contexts" if side == "context" else "arms"
            raise BadParameter(
                f"the log has {0 if other is None else other.n_columns} features of {which}, "
                f"this bandit {0 if mine is None else mine.n_columns}"
            )
        return own
    if begins and not mine.n_columns:
        return own._replace(**{side: other})
    if (mine.n_given or other.n_given) and mine.n_given != other.n_given:
        raise BadParameter(f"this bandit wants {mine}, the log has {other}")
    new = other.features if side == "context" else ()
    return own.grown((new, () if side == "context" else other.features))


def _logged_decision(
    log: "Log", i: int, schema: Schema, number: np.ndarray | None, id: str, now: float
) -> Decided:
    offer = log.offer_of(i)
    place, names = position_of(offer, int(log.arm[i])), tuple[str, ...]()
    if number is None:
        arms = np.arange(offer.arms.size)
        names = tuple(log.arm_names[k] for k in offer.arms) if log.names is None else log.names[i]
    else:
        arms = number[offer.arms]
    order = np.argsort(arms)
    chances = np.array([log.probability[i]])
    if log.probabilities is not None:
        chances = log.probabilities[i][offer.arms][order]
        chances = chances / chances.sum()
    context, features = log.schema.translated(offer.context, offer.features, schema)
    return Decided(
        id,
        now,
        int(arms[place]),
        arms[order],
        chances if chances.size else UNKNOWN,
        float("nan"),
        0,
        context,
        rows_at(features, order),
        names=names,
    )
