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
    Rebuilt,
    Reported,
    Rewarded,
    kind_of,
)
from giro.bandit.setting import Forms
from giro.checks import is_word
from giro.errors import BadFile, BadParameter
from giro.features import Encoder, Hasher
from giro.files import write_whole
from giro.offer import NO_FEATURES, Offer, position_of

if TYPE_CHECKING:
    import polars as pl

    from giro.bandit.state import BanditState
    from giro.evaluation.log import Log

# -- the log as a table, and back ------------------------------------------------------------------


def events_table(
    events: Sequence[Event], arms: Sequence[str], first: int, arm_of: dict[str, str]
) -> "pl.DataFrame":
    """Return events with one row each; the first has the position `first`.

    `arm_of` are the arms of decisions that stand before; those here are added.
    """
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    schema = _schema()
    columns: dict[str, list[Any]] = {name: [] for name in schema}
    names: dict[bytes, list[str]] = {}
    for number, event in enumerate(events, first):
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
            case ArmAdded() | ArmRetired():
                row["arm"] = event.text
            case Began() | Formed():
                row["setting"] = event.text
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
        "context": event.context.tolist() if event.context.size else None,
        "features": event.features.tolist() if event.features.size else None,
        "seen": event.seen,
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
        "own": pl.Float64,
        "seen": pl.Int64,
        "setting": pl.String,
    }


_OPTIONAL = ("features", "own", "seen")  # giro 0.1.0 has none


def write_events(events: "pl.DataFrame", path: Path) -> None:
    """Write a table as its file's name says, whole or not at all."""
    content = io.BytesIO()
    if path.suffix == ".parquet":
        events.write_parquet(content)
    elif path.suffix == ".jsonl":
        events.write_ndjson(content)
    else:
        raise BadParameter(f"events are written to .parquet or .jsonl, got {path.name}")
    write_whole(path, (content.getbuffer(),))


def read_events(events: Any) -> "pl.DataFrame":
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


def events_in(rows: "pl.DataFrame") -> Iterator[Event]:
    """Yield the events of a whole log; those of giro 0.1.0 have the setting in their first row."""
    missing = [name for name in _schema() if name not in rows.columns and name not in _OPTIONAL]
    if missing:
        raise BadParameter(f"events need the column {missing[0]}; there are {rows.columns}")
    if rows.height == 0 or rows["setting"][0] is None:
        raise BadParameter("the first of the events must hold the setting of the bandit")
    constant, first = False, int(rows["number"][0])
    arm_of = None if _is_open(rows["setting"][0]) else dict[str, int]()
    if rows["kind"][0] != KINDS[0]:
        began, formed, constant = _of_0_1_0(rows["setting"][0])
        yield began
        if formed is not None:
            yield formed
    for i, row in enumerate(rows.iter_rows(named=True)):
        try:
            if row["number"] != first + i:
                raise BadParameter(f"events are numbered one by one, got {row['number']}")
            yield _event(row, arm_of, constant=constant)
        except (BadParameter, TypeError, ValueError, KeyError, IndexError) as error:
            raise BadParameter(
                f"event {row['number']} does not follow from those before: {error}"
            ) from error


def _of_0_1_0(text: str) -> tuple[Began, Formed | None, bool]:
    """Return the setting and the form, and whether contexts end with a constant 1."""
    try:
        header = json.loads(text)
        encoder = header["encoder"]
        began = Began(0.0, json.dumps(header["setting"]))
    except (ValueError, KeyError, TypeError) as error:
        raise BadParameter(f"the setting in the first event cannot be read: {error!r}") from None
    if encoder is None:
        return began, None, False
    return began, Formed(0.0, json.dumps({"encoder": encoder})), bool(encoder.get("bias"))


def _is_open(text: str) -> bool:
    """Tell whether arms come with each decision, and have no numbers but their places."""
    try:
        return bool(json.loads(text).get("open_arms"))
    except (ValueError, AttributeError):
        return False


def _event(row: Mapping[str, Any], arm_of: dict[str, int] | None, *, constant: bool) -> Event:  # noqa: PLR0911  # one for each kind
    kind, time = row["kind"], float(row["time"])
    match kind:
        case "setting" | "form":
            return (Began if kind == "setting" else Formed)(time, str(row["setting"]))
        case "arm_added" if arm_of is not None:
            arm_of.setdefault(_word(row["arm"]), len(arm_of))
            return ArmAdded(time, row["arm"])
        case "arm_retired":
            return ArmRetired(time, _word(row["arm"]))
        case "decision":
            return _decided(row, arm_of, time, constant=constant)
        case "report":
            return Reported(_word(row["id"]), time, float(row["reward"]))
        case "reward" | "expired":
            return Rewarded(_word(row["id"]), time, float(row["reward"]), kind == "expired")
        case "erased" | "rebuilt":
            return (Erased if kind == "erased" else Rebuilt)(time)
    raise BadParameter(f"there is no kind of event called {kind!r}")


def _decided(
    row: Mapping[str, Any], arm_of: Mapping[str, int] | None, time: float, *, constant: bool
) -> Decided:
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
        raise BadParameter(f"{logged} are no probabilities of {len(names)} arms")
    p = np.array(logged if logged is not None else [propensity] if propensity else [], np.float64)
    context = np.array(row["context"] or [], np.float64)
    rows, features = row.get("features"), NO_FEATURES
    if rows:
        if len({len(each) for each in rows}) > 1:
            raise BadParameter(f"arms have as many features each, got {[len(r) for r in rows]}")
        features = np.array(rows, np.float64)
    return Decided(
        _word(row["id"]),
        time,
        arm_of[arm],
        numbers,
        p if p.size else UNKNOWN,
        float("nan") if own is None else float(own),
        int(row.get("seen") or 0),
        context[:-1] if constant else context,
        features,
        names=own_names,
    )


def _word(value: object) -> str:
    if not (isinstance(value, str) and is_word(value)):
        raise BadParameter(f"a name or an id is a non-empty word, got {value!r}")
    return value


# -- a log of another system -----------------------------------------------------------------------


def events_of(log: "Log", state: "BanditState", now: float) -> tuple[list[Event], list[Event]]:
    """Return events that add arms and fix the form, and then a decision and its reward in turn."""
    if not hasattr(log, "arm_names"):
        raise BadParameter(f"a log is what giro.read_log returns, got {type(log).__name__}")
    new, number = _new_arms(log, state)
    formed = _formed(log, state, now)
    token, pairs = secrets.token_hex(8), list[Event]()
    for i, reward in enumerate(log.reward.tolist()):
        value = state.setting.checked_reward(reward)
        event = _logged_decision(log, i, log.offer_of(i), number, f"log-{token}-{i}", now)
        pairs += [event, Rewarded(event.id, now, value)]
    return [*(ArmAdded(now, name) for name in new), *formed], pairs


def _new_arms(log: "Log", state: "BanditState") -> tuple[list[str], np.ndarray | None]:
    """Return the arms that are new to the bandit, and the numbers of the log's; None: places."""
    if state.setting.open_arms:
        return [], None
    if log.names is not None:
        raise BadParameter(
            "in this log other arms are on offer in each event: only a bandit made without arms "
            "can learn from it"
        )
    known = {name: arm for arm, name in enumerate(state.arms)}
    new = [name for name in log.arm_names if name not in known]
    known |= {name: arm for arm, name in enumerate(new, len(known))}
    return new, np.array([known[name] for name in log.arm_names])


def _formed(log: "Log", state: "BanditState", now: float) -> list[Event]:
    """Return the event that fixes the form, if none did; an error if the log has another."""
    setting, forms, widths = state.setting, state.forms, (log.n_features, log.n_arm_features)
    hashes = setting.policy.resolved(contextual=True).hashes_features
    if (setting.open_arms and hashes if forms is None else forms.hasher) and not log.hashed:
        raise BadParameter(
            "this bandit hashes features and the log has them in columns: a log of Vowpal Wabbit "
            "is read with giro.read_log(..., hashed=True)"
        )
    if forms is None:
        arm = Encoder(widths[1], (), "a row of features") if widths[1] else None
        hasher = Hasher(setting.interactions, setting.standardise) if log.hashed else None
        forms = Forms(Encoder(widths[0], ()), arm, hasher)
        state.fresh(forms)  # refuses what the policy cannot use
        return [Formed(now, json.dumps(forms.to_json()))]
    if log.hashed and forms.hasher is None:
        raise BadParameter("the log has hashed features, and this bandit has them in columns")
    if forms.widths != widths:
        raise BadParameter(
            f"the log has {widths[0]} features in a context and {widths[1]} of an arm, "
            f"this bandit {forms.widths[0]} and {forms.widths[1]}"
        )
    return []


def _logged_decision(
    log: "Log", i: int, offer: Offer, number: np.ndarray | None, id: str, now: float
) -> Decided:
    place, names = position_of(offer, int(log.arm[i])), tuple[str, ...]()
    if number is None:
        arms = np.arange(offer.arms.size)
        names = tuple(log.arm_names[k] for k in offer.arms) if log.names is None else log.names[i]
    else:
        arms = number[offer.arms]
    order = np.argsort(arms)
    p = np.array([log.probability[i]])
    if log.probabilities is not None:
        p = log.probabilities[i][offer.arms][order]
        p = p / p.sum()
    features = offer.features[order] if offer.features.size else offer.features
    context = offer.context
    if log.hashed:  # without the zeros behind it
        context = context[: 2 * (np.flatnonzero(context).max(initial=-2) // 2 + 1)]
    own = float("nan")
    p = p if p.size else UNKNOWN
    return Decided(
        id, now, int(arms[place]), arms[order], p, own, 0, context, features, names=names
    )
