"""The events of a giro.Bandit -> Log."""

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.evaluation.log import Log, arm_indices, checked, places_of
from giro.evaluation.readers.table import column
from giro.features import filled, padded
from giro.hashing import are_pairs

if TYPE_CHECKING:
    import polars as pl

NEEDED = ("number", "kind", "id", "arm", "reward", "propensity")
_LARGE = 2.0**24  # most hashes are larger
_REWARDING = ("reward", "expired")  # kinds of event that settle a decision


def log_of_events(frame: "pl.DataFrame") -> Log:
    """Return the rewarded decisions of a bandit's events, in the order of the decisions.

    A decision is joined with its reward by id; one that expired has the reward it was given then.
    Decisions without a reward are left out and counted. The log of a bandit whose arms come with
    each decision is open.
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
    said = frame["setting"].drop_nulls().to_list() if "setting" in frame.columns else []
    rewarded, left_out = joined.filter(pl.col("settled").is_not_null()), joined["settled"]
    return _log(rewarded, left_out.null_count(), [json.loads(text) for text in said])


def _log(rewarded: "pl.DataFrame", left_out: int, said: list[dict[str, Any]]) -> Log:
    unknown = rewarded["propensity"].is_null()
    if unknown.any():
        event = int(unknown.arg_max() or 0)
        raise BadParameter(
            f"event {event + 1}, decision '{rewarded['id'][event]}', has no propensity: a log made "
            "with propensities=False cannot be evaluated, nor decisions of a policy that another "
            "replaced before their propensities were read"
        )
    hashed = any(part.get("hasher") for part in said)
    offers = _offers(rewarded, is_open=any(part.get("open_arms") for part in said))
    features = _features(rewarded, offers, hashed=hashed)
    if not said and _look_hashed(features or []):
        raise BadParameter(
            "the first of the events must hold the setting of the bandit, for features are hashed: "
            "give all its events"
        )
    contexts, feature_names = _contexts(rewarded)
    if said and (said[0].get("encoder") or {}).get("bias"):  # a constant at the end: giro 0.1.0
        contexts, feature_names = np.ascontiguousarray(contexts[:, :-1]), feature_names[:-1]
    return checked(
        Log(
            offers.arm,
            offers.arm_names,
            rewarded["settled"].to_numpy().copy(),
            rewarded["propensity"].to_numpy().astype(float),
            contexts,
            () if hashed else feature_names,
            eligible=offers.eligible,
            probabilities=_probabilities(rewarded, offers),
            adaptive=True,
            left_out=left_out,
            features=features,
            hashed=hashed,
            names=offers.names,
        )
    )


class _Offers(NamedTuple):
    arm: np.ndarray  # [event] see `Log`
    arm_names: tuple[str, ...]
    numbers: list[list[int]] | None  # [event][i] of the arms on offer, as they were written down
    names: list[tuple[str, ...]] | None  # [event][i] of an open log

    @property
    def eligible(self) -> np.ndarray | None:
        """Which arms could be chosen, [event, arm]; None if all could."""
        if self.numbers is None:
            return None
        eligible = np.zeros((len(self.numbers), len(self.arm_names)), bool)
        for row, its in zip(eligible, self.numbers, strict=True):
            row[its] = True
        return None if eligible.all() else eligible


def _offers(rewarded: "pl.DataFrame", *, is_open: bool) -> _Offers:
    chosen: list[str] = rewarded["arm"].to_list()
    if "arms" not in rewarded.columns:
        return _Offers(*arm_indices(chosen, None), None, None)
    offered: list[list[str]] = rewarded["arms"].to_list()
    if not is_open:
        names = tuple(dict.fromkeys(name for row in offered for name in row)) or None
        arm, names = arm_indices(chosen, names)
        number = {name: i for i, name in enumerate(names)}
        return _Offers(arm, names, [[number[name] for name in row] for row in offered], None)
    for event, (name, row) in enumerate(zip(chosen, offered, strict=True)):
        if name not in row:
            raise BadParameter(f"event {event + 1} has the arm '{name}', which was not eligible")
    places = places_of(max(map(len, offered), default=0))
    arm = np.array([row.index(name) for name, row in zip(chosen, offered, strict=True)], np.int64)
    return _Offers(arm, places, [[*range(len(row))] for row in offered], [*map(tuple, offered)])


def _contexts(rewarded: "pl.DataFrame") -> tuple[np.ndarray, tuple[str, ...]]:
    import polars as pl  # noqa: PLC0415  # quick start without polars

    if "context" not in rewarded.columns or not isinstance(rewarded["context"].dtype, pl.List):
        return np.empty((rewarded.height, 0)), ()
    given = rewarded.select(pl.col("context").cast(pl.List(pl.Float64)).fill_null([]))
    contexts, names = padded(given["context"].to_list(), "context")  # 0: not known at the time
    return filled(contexts), tuple(names)


def _probabilities(rewarded: "pl.DataFrame", offers: _Offers) -> np.ndarray | None:
    if offers.numbers is None or "propensities" not in rewarded.columns:
        return None
    logged: list[Any] = rewarded["propensities"].to_list()
    pairs = [*zip(logged, offers.numbers, strict=True)]
    if any(row is None or len(row) != len(its) for row, its in pairs):
        return None
    probabilities = np.zeros((len(pairs), len(offers.arm_names)))
    for event, (row, its) in enumerate(pairs):
        probabilities[event, its] = row
    return probabilities


def _features(
    rewarded: "pl.DataFrame", offers: _Offers, *, hashed: bool
) -> list[np.ndarray] | None:
    """Return what was known of the eligible arms of each event, in the order of their numbers."""
    given = rewarded["features"] if "features" in rewarded.columns else None
    if offers.numbers is None or given is None or given.null_count():
        return None
    found = [
        np.array(rows, np.float64)[np.argsort(its)]
        for rows, its in zip(given.to_list(), offers.numbers, strict=True)
    ]
    widths = {rows.shape[1] for rows in found}
    if len(widths) == 1 and not hashed:  # otherwise an error, in words, when all is checked
        every = filled(np.concatenate(found))
        found = np.split(every, np.cumsum([len(rows) for rows in found])[:-1])
    return found


def _look_hashed(features: list[np.ndarray]) -> bool:
    """Tell whether these seem to be rows of pairs: hashes of names are large whole numbers."""
    codes = [rows[:, ::2].ravel() for rows in features if are_pairs(rows)]
    every = np.concatenate(codes) if codes and len(codes) == len(features) else np.zeros(1)
    return bool(every.max() > _LARGE and (every % 1.0 == 0.0).all())
