"""The events of a giro.Bandit -> Log."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from giro.errors import BadParameter
from giro.evaluation.log import Log, arm_indices, checked
from giro.evaluation.readers.table import column
from giro.features import filled, padded

if TYPE_CHECKING:
    import polars as pl

NEEDED = ("number", "kind", "id", "arm", "reward", "propensity")
_REWARDING = ("reward", "expired")  # kinds of event that settle a decision


def log_of_events(frame: "pl.DataFrame") -> Log:
    """Return the rewarded decisions of a bandit's events, in the order of the decisions.

    A decision is joined with its reward by id; one that expired has the reward it was given then.
    Decisions without a reward are left out and counted.
    """
    import polars as pl  # noqa: PLC0415  # quick start without polars

    for name in NEEDED:
        column(frame, name)
    decisions = frame.filter(pl.col("kind") == "decision").sort("number")
    rewards = frame.filter(pl.col("kind").is_in(_REWARDING) & pl.col("reward").is_not_null())
    settled = rewards.select("id", pl.col("reward").cast(pl.Float64).alias("settled"))
    if settled["id"].n_unique() < settled.height:
        raise BadParameter("the events give a decision two rewards; each has one")
    joined = decisions.join(settled, on="id", how="left", maintain_order="left")
    headers = frame["setting"].drop_nulls().to_list() if "setting" in frame.columns else []
    encoder = json.loads(headers[0]).get("encoder") if headers else None
    constant = bool((encoder or {}).get("bias"))  # at the end of contexts: written by giro 0.1.0
    rewarded, left_out = joined.filter(pl.col("settled").is_not_null()), joined["settled"]
    return _log(rewarded, left_out.null_count(), constant=constant)


def _log(rewarded: "pl.DataFrame", left_out: int, *, constant: bool) -> Log:
    unknown = rewarded["propensity"].is_null()
    if unknown.any():
        event = int(unknown.arg_max() or 0)
        raise BadParameter(
            f"event {event + 1}, decision '{rewarded['id'][event]}', has no propensity: a log made "
            "with propensities=False cannot be evaluated, nor decisions of a policy that another "
            "replaced before their propensities were read"
        )
    arms = rewarded["arms"].to_list() if "arms" in rewarded.columns else None
    names = tuple(dict.fromkeys(name for row in arms or [] for name in row)) or None
    index, names = arm_indices(rewarded["arm"].to_list(), names)
    eligible = None if arms is None else np.array([[n in row for n in names] for row in arms], bool)
    contexts, feature_names = _contexts(rewarded)
    if constant:  # policies have their own
        contexts, feature_names = np.ascontiguousarray(contexts[:, :-1]), feature_names[:-1]
    return checked(
        Log(
            index,
            names,
            rewarded["settled"].to_numpy().copy(),
            rewarded["propensity"].to_numpy().astype(float),
            contexts,
            feature_names,
            eligible=None if eligible is None or eligible.all() else eligible,
            probabilities=_probabilities(rewarded, arms, names),
            adaptive=True,
            left_out=left_out,
            features=_features(rewarded, arms, names),
        )
    )


def _contexts(rewarded: "pl.DataFrame") -> tuple[np.ndarray, tuple[str, ...]]:
    import polars as pl  # noqa: PLC0415  # quick start without polars

    if "context" not in rewarded.columns or not isinstance(rewarded["context"].dtype, pl.List):
        return np.empty((rewarded.height, 0)), ()
    given = rewarded.select(pl.col("context").cast(pl.List(pl.Float64)).fill_null([]))
    contexts, names = padded(given["context"].to_list(), "context")  # 0: not known at the time
    return filled(contexts), tuple(names)


def _probabilities(
    rewarded: "pl.DataFrame", arms: list[list[str]] | None, names: tuple[str, ...]
) -> np.ndarray | None:
    if arms is None or "propensities" not in rewarded.columns:
        return None
    logged: list[Any] = rewarded["propensities"].to_list()
    if any(row is None or len(row) != len(its) for row, its in zip(logged, arms, strict=True)):
        return None
    position = {name: i for i, name in enumerate(names)}
    probabilities = np.zeros((len(arms), len(names)))
    for event, (row, its) in enumerate(zip(logged, arms, strict=True)):
        probabilities[event, [position[name] for name in its]] = row
    return probabilities


def _features(
    rewarded: "pl.DataFrame", arms: list[list[str]] | None, names: tuple[str, ...]
) -> list[np.ndarray] | None:
    """Return what was known of the eligible arms of each event, in the order of `names`."""
    if arms is None or "features" not in rewarded.columns or rewarded["features"].null_count():
        return None
    position, found = {name: i for i, name in enumerate(names)}, []
    for rows, its in zip(rewarded["features"].to_list(), arms, strict=True):
        order = np.argsort([position[name] for name in its])
        found.append(np.array(rows, np.float64)[order])
    widths = {rows.shape[1] for rows in found}
    if len(widths) == 1:  # else an error, in words, when all is checked
        every = filled(np.concatenate(found))
        found = np.split(every, np.cumsum([len(rows) for rows in found])[:-1])
    return found
