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
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from giro.errors import BadFile, BadParameter
from giro.evaluation.log import Log, arm_indices, checked
from giro.features import flattened, matrix_of_records

_HEADER = ("line", "a", "p", "pdrop", "Version", "EventId", "Timestamp", "VWState")


class _Event(NamedTuple):
    arm: int  # from 1
    n_arms: int  # 0 if the line does not say
    reward: float
    probability: float
    context: dict[str, float]
    probabilities: dict[int, float]  # of all arms, empty if unknown


def log_of_vw(lines: Iterable[str]) -> Log:
    """Return the log in lines of VW's JSON.

    The reward is minus the cost. An arm is named by the number of its action, from 1: its place
    in `_multi`, which is thus taken to hold the same actions in the same order in all lines,
    except that the last ones may be missing. The context are the shared features (see `flattened`);
    features of actions are not read. Lines without a label, and those marked `_skipLearn`, are
    left out and counted. `pdrop` has to be the same in all lines.
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
    names = tuple(str(arm + 1) for arm in range(n_arms))
    index, names = arm_indices([str(event.arm) for event in events], names)
    contexts, features = matrix_of_records([event.context for event in events])
    listed = np.array([event.n_arms or n_arms for event in events])
    eligible = np.arange(n_arms)[None, :] < listed[:, None]
    probabilities = None
    if all(event.probabilities for event in events):
        rows = [[e.probabilities.get(arm + 1, 0.0) for arm in range(n_arms)] for e in events]
        probabilities = np.array(rows)
    return checked(
        Log(
            index,
            names,
            np.array([event.reward for event in events]),
            np.array([event.probability for event in events]),
            contexts,
            features,
            eligible=None if eligible.all() else eligible,
            probabilities=probabilities,
            left_out=len(records) - len(labelled),
        )
    )


def _record(line: str, number: int) -> dict[str, Any]:
    """Return a line with the keys of its label in one spelling, wherever the label stands."""
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
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
    for position, action in enumerate(inside.get("_multi", [])):
        if isinstance(action, dict) and (its := _label(action)):
            label |= its | {"_labelindex": position}
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
        header = _HEADER if shared is record else ()
        context = flattened({key: value for key, value in shared.items() if key not in header})
        all_arms = dict(zip(map(int, actions), map(float, chances), strict=True))
    except (KeyError, TypeError, ValueError) as error:
        raise BadParameter(f"line {record['line']} has no readable label: {error}") from None
    n_arms = len(multi) or len(actions)
    if not 1 <= arm or (n_arms and arm > n_arms):
        raise BadParameter(f"line {record['line']} has the unknown arm {arm} of {n_arms}")
    known = sorted(all_arms) == list(range(1, n_arms + 1))
    return _Event(arm, n_arms, -cost, probability, context, all_arms if known else {})
