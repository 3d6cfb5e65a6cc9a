"""Vowpal Wabbit's JSON logs of contextual bandits -> Log.

Two layouts, one event a line. As made by its decision service (`--dsjson`):

    {"_label_cost": -1, "_label_probability": 0.8, "_label_Action": 2, "_labelIndex": 1,
     "a": [2, 1], "p": [0.8, 0.2], "c": {"user": {"age": 30}, "_multi": [{...}, {...}]}}

and as read by `--json`, with the contents of "c" beside the label (keys in any case):

    {"_labelIndex": 1, "_label_Cost": -1, "_label_Probability": 0.8, "user": {...}, "_multi": [...]}

where the label may also be `"_label": {"Action": 2, "Cost": -1, "Probability": 0.8}` or
`"_label": "2:-1:0.8"`, there or in the chosen action's entry of "_multi".
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from giro.errors import BadFile, BadParameter, GiroError
from giro.evaluation.log import Log, checked, places_of
from giro.evaluation.readers._registry import JSON, Options, Source, reader
from giro.features import Columns, Hashed, Schema
from giro.features.frames import columns_of_records
from giro.features.schema import OF_ARM
from giro.offer import AnyRows

_HEADER = ("line", "a", "p", "pdrop", "Version", "EventId", "Timestamp", "VWState")


_MOST_COLUMNS = 500  # of features; more are hashed, unless they are only those of contexts


class _Event(NamedTuple):
    line: int
    arm: int  # from 1
    n_arms: int  # 0 if the line does not say
    reward: float
    probability: float
    shared: dict[str, Any]  # features as they are written
    actions: list[Any]  # likewise of each action, empty if the line does not list them
    probabilities: dict[int, float]  # of all arms, empty if unknown


class _Rows(NamedTuple):
    """The contexts and the features of actions.

    See `Log` for the fields.
    """

    contexts: Any
    schema: Schema
    arm_features: np.ndarray | None = None
    features: list[AnyRows] | None = None


def is_vw(source: Source, options: Options) -> bool:
    """Return whether a log is a file with labels of Vowpal Wabbit in its first lines."""
    path = source.path
    if path is None or path.suffix.lower() not in JSON:
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        return any('"_label' in line for _, line in zip(range(100), file, strict=False))


@reader("vw", is_vw)
def read_vw(source: Source, options: Options) -> Log:
    """Return the log in a file of VW's JSON."""
    if source.path is None:
        raise BadParameter("logs of Vowpal Wabbit are read from files, not from tables")
    try:
        lines = source.path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError:
        raise BadFile(f"{source.path} is not text") from None
    return log_of_vw(lines, hashed=options.hashed)


def log_of_vw(lines: Iterable[str], *, hashed: bool | None = None) -> Log:
    """Return the log in lines of VW's JSON.

    The reward is minus the cost. An arm is named by the number of its action, from 1: its place in
    `_multi`, of which the last ones may be missing. If the features at a place are other ones in
    other lines, the log is open. An action without features is known by its place, if others have
    some. Features, also the shared ones, have their paths for names (see `features.walk`); they
    are hashed (see `features.hashed`) if so wanted, or if actions have some and there are more than
    500 columns in all. Lines without a label, and those marked `_skipLearn`, are left out and
    counted. `pdrop` has to
    be the same in all lines.
    """
    records = [_record(line, number) for number, line in enumerate(lines, 1) if line.strip()]
    labelled = [r for r in records if "_label_cost" in r and not r.get("_skipLearn", False)]
    shares = {float(record.get("pdrop", 0.0)) for record in labelled}
    if len(shares) > 1:
        raise BadParameter(
            f"events were dropped with different probabilities (pdrop from {min(shares)} to "
            f"{max(shares)}); evaluate them apart"
        )
    events = [_event(record) for record in labelled]
    n_arms = max((max(event.arm, event.n_arms) for event in events), default=0)
    names = places_of(n_arms)
    listed = [event.n_arms or n_arms for event in events]
    eligible = np.arange(n_arms)[None, :] < np.array(listed)[:, None]
    probabilities = None
    if all(event.probabilities for event in events):
        probabilities = np.array(
            [[e.probabilities.get(arm + 1, 0.0) for arm in range(n_arms)] for e in events]
        )
    actions = [_actions(event, n) for event, n in zip(events, listed, strict=True)]
    rows = _hashed_rows(events, actions) if hashed else _rows(events, actions, hashed)
    is_open = rows.features is not None and not _are_the_same(actions)
    return checked(
        Log(
            np.array([event.arm - 1 for event in events], np.int64),
            names,
            np.array([event.reward for event in events]),
            np.array([event.probability for event in events]),
            eligible=None if eligible.all() else eligible,
            probabilities=probabilities,
            left_out=len(records) - len(labelled),
            names=[names[:n] for n in listed] if is_open else None,
            **rows._asdict(),
        )
    )


def _actions(event: _Event, n_arms: int) -> list[dict[str, Any]]:
    """Return the features of each action as they are written, without labels and tags."""
    actions: list[dict[str, Any]] = []
    for place, action in enumerate(event.actions, 1):
        if not isinstance(action, dict):
            raise BadParameter(
                f"line {event.line} has {str(action)[:40]!r} as action {place}; expected "
                "features by name"
            )
        actions.append({name: value for name, value in action.items() if name[:1] != "_"})
    return actions or [{}] * n_arms


def _are_the_same(actions: list[list[dict[str, Any]]]) -> bool:
    """Check whether all events have the same actions, except for those missing at the end."""
    longest = max(actions, key=len, default=[])
    return all(row == longest[: len(row)] for row in actions)


def _rows(events: list[_Event], actions: list[list[dict[str, Any]]], hashed: bool | None) -> _Rows:
    """Return features in columns, or hashed if those of actions make them too many."""
    shared = _columns(events, [[event.shared] for event in events], "a context")
    contexts = np.array([_read(event, shared.encode, event.shared)[0] for event in events])
    contexts = contexts.reshape(len(events), shared.n_columns)
    if not any(action for row in actions for action in row):
        return _Rows(contexts, Schema(shared, contextual=shared.n_columns > 0))
    named = [[action or {"arm": str(i)} for i, action in enumerate(row, 1)] for row in actions]
    columns = _columns(events, named, OF_ARM)
    if hashed is None and shared.n_columns + columns.n_columns > _MOST_COLUMNS:
        return _hashed_rows(events, actions)
    schema = Schema(shared, columns, contextual=True)
    if _are_the_same(actions):
        longest = max(named, key=len)
        return _Rows(contexts, schema, np.array([columns.encode(each).row for each in longest]))
    features = [np.array([columns.encode(each).row for each in row]) for row in named]
    return _Rows(contexts, schema, None, features)


def _columns(events: list[_Event], records: list[list[Any]], noun: str) -> Columns:
    """Return columns for all names and words in records of events."""
    for event, own in zip(events, records, strict=True):
        _read(event, lambda given: columns_of_records(given, noun), own)
    return columns_of_records((record for own in records for record in own), noun)


def _hashed_rows(events: list[_Event], actions: list[list[dict[str, Any]]]) -> _Rows:
    """Return sparse rows, as a bandit with `model=hashed` has them by default."""
    hashed, contexts, features = Hashed(), [], []
    for event, row in zip(events, actions, strict=True):
        contexts.append(_read(event, hashed.context, event.shared))
        features.append(_read(event, hashed.arms, {str(i): a for i, a in enumerate(row, 1)}))
    return _Rows(contexts, Schema.of_hashes(), None, features)


def _read(event: _Event, reader: Callable[[Any], Any], given: Any) -> Any:
    """Return the result of a reader of features, or an error that names the line."""
    try:
        return reader(given)
    except (GiroError, ArithmeticError, RecursionError, TypeError, ValueError) as error:
        raise BadParameter(f"line {event.line} has unreadable features: {error}") from None


def _record(line: str, number: int) -> dict[str, Any]:
    """Return a line with the keys of its label in one spelling, wherever the label stands."""
    try:
        record = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadFile(f"line {number} is not JSON: {error}") from None
    if not isinstance(record, dict):
        raise BadFile(f"line {number} is not an event but {line.strip()[:40]}")
    if "_outcomes" in record:
        raise BadParameter(
            f"line {number} decides for several slots (_outcomes, as in CCB logs); giro reads logs "
            "in which each event has one decision"
        )
    inside = record["c"] if isinstance(record.get("c"), dict) else record
    label = _label(record)
    multi = inside.get("_multi", [])
    if not isinstance(multi, list):
        raise BadParameter(f"line {number} has {str(multi)[:40]!r} as _multi; expected a list")
    for position, action in enumerate(multi):
        if isinstance(action, dict) and (inner := _label(action)):
            label |= inner | {"_labelindex": position}
    return {**record, **label, "line": number}


def _label(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the label at this place, from keys `_label_Cost`, an object or a text `_label`."""
    label = {key.lower(): value for key, value in part.items() if key.startswith("_label")}
    whole = label.pop("_label", None)
    if isinstance(whole, Mapping):
        label |= {f"_label_{key.lower()}": value for key, value in whole.items()}
    if isinstance(whole, str) and whole.count(":") == 2:
        names = ("_label_action", "_label_cost", "_label_probability")
        label |= dict(zip(names, whole.split(":"), strict=True))
    return label


def _event(record: Mapping[str, Any]) -> _Event:
    shared = record["c"] if isinstance(record.get("c"), dict) else record
    multi = shared.get("_multi", [])
    actions, chances = record.get("a", []), record.get("p", [])
    if len(actions) != len(chances):
        raise BadParameter(
            f"line {record['line']} has {len(actions)} actions in 'a' and {len(chances)} "
            "probabilities in 'p'"
        )
    try:
        if "_labelindex" in record:  # says surest which action it was
            arm = int(record["_labelindex"]) + 1
        else:
            arm = int(record["_label_action"])
        cost, probability = float(record["_label_cost"]), float(record["_label_probability"])
        all_arms = dict(zip(map(int, actions), map(float, chances), strict=True))
    except (KeyError, TypeError, ValueError) as error:
        raise BadParameter(f"line {record['line']} has no readable label: {error}") from None
    n_arms = len(multi) or len(actions)
    if not 1 <= arm or (n_arms and arm > n_arms):
        raise BadParameter(f"line {record['line']} has the unknown arm {arm} of {n_arms}")
    known = sorted(all_arms) == list(range(1, n_arms + 1))
    header = _HEADER if shared is record else ()
    context = {k: v for k, v in shared.items() if k not in header and k[:1] != "_"}
    chances = all_arms if known else {}
    return _Event(record["line"], arm, n_arms, -cost, probability, context, multi, chances)
