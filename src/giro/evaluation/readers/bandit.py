"""The events of a giro.Bandit -> Log."""

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.evaluation.log import Log, arm_indices, checked, places_of
from giro.evaluation.readers._registry import Options, Source, reader
from giro.evaluation.readers.table import column
from giro.features import Schema
from giro.offer import AnyRows, SparseRow, SparseRows, rows_at

if TYPE_CHECKING:
    import polars as pl

NEEDED = ("number", "kind", "id", "arm", "reward", "propensity")
_REWARDING = ("reward", "expired")  # kinds of event that settle a decision


def is_events(source: Source, options: Options) -> bool:
    """Return whether a log has the columns of a bandit's events."""
    return set(NEEDED) <= source.columns


@reader("giro", is_events)
def read_events(source: Source, options: Options) -> Log:
    """Return the log in the events of a bandit."""
    return log_of_events(source.frame)


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
    if decisions["id"].n_unique() < decisions.height or decisions["id"].has_nulls():
        raise BadParameter("the events name a decision twice or not at all; each has its own id")
    rewards = frame.filter(pl.col("kind").is_in(_REWARDING) & pl.col("reward").is_not_null())
    settled = rewards.select("id", pl.col("reward").cast(pl.Float64).alias("settled"))
    if settled["id"].n_unique() < settled.height:
        raise BadParameter("the events give a decision two rewards; each has one")
    joined = decisions.join(settled, on="id", how="left", maintain_order="left")
    rewarded, left_out = joined.filter(pl.col("settled").is_not_null()), joined["settled"]
    return _log(rewarded, left_out.null_count(), *_settings(frame))


def _settings(frame: "pl.DataFrame") -> tuple[bool, Schema | None]:
    """Return whether arms come with each decision, and the last schema or None."""
    if "setting" not in frame.columns:
        return False, None
    texts = frame.filter(frame["setting"].is_not_null()).select("kind", "setting").rows()
    is_open = any(json.loads(text).get("open_arms") for kind, text in texts if kind == "setting")
    schemas = [text for kind, text in texts if kind == "form"]
    return is_open, Schema.from_json(json.loads(schemas[-1])) if schemas else None


def _log(rewarded: "pl.DataFrame", left_out: int, is_open: bool, schema: Schema | None) -> Log:
    unknown = rewarded["propensity"].is_null()
    if unknown.any():
        event = int(unknown.arg_max() or 0)
        raise BadParameter(
            f"event {event + 1}, decision '{rewarded['id'][event]}', has no propensity: a log made "
            "with propensities=False cannot be evaluated, nor decisions of a policy that another "
            "replaced before their propensities were read"
        )
    offers = _offers(rewarded, is_open=is_open)
    if "context_codes" in rewarded.columns and rewarded["context_codes"].is_not_null().any():
        if schema is None:
            raise BadParameter(
                "the first of the events must hold the setting of the bandit, for features are "
                "hashed: give all its events"
            )
        rows = _sparse_rows(rewarded, offers)
    else:
        rows = _dense_rows(rewarded, offers, schema)
    return checked(
        Log(
            offers.arm,
            offers.arm_names,
            rewarded["settled"].to_numpy().copy(),
            rewarded["propensity"].to_numpy().astype(float),
            rows.contexts,
            schema,  # type: ignore[arg-type]  # numbers, if it is not there
            eligible=offers.eligible,
            probabilities=_probabilities(rewarded, offers),
            adaptive=True,
            left_out=left_out,
            features=rows.features,
            names=offers.names,
            widths=rows.widths,
        )
    )


class _Offers(NamedTuple):
    arm: np.ndarray  # [event] see `Log`
    arm_names: tuple[str, ...]
    numbers: list[list[int]] | None  # [event][i] of the arms on offer, as they were written down
    names: list[tuple[str, ...]] | None  # [event][i] of an open log

    @property
    def eligible(self) -> np.ndarray | None:
        """The arms that could be chosen, [event, arm], or None if all could."""
        if self.numbers is None:
            return None
        eligible = np.zeros((len(self.numbers), len(self.arm_names)), bool)
        for row, numbers in zip(eligible, self.numbers, strict=True):
            row[numbers] = True
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


class _Rows(NamedTuple):
    contexts: Any  # see `Log`
    features: list[AnyRows] | None
    widths: np.ndarray | None = None


def _dense_rows(rewarded: "pl.DataFrame", offers: _Offers, schema: Schema | None) -> _Rows:
    """Return contexts and features of arms, with NaN in columns that were added after an event."""
    contexts = _lists(rewarded, "context")
    given = _lists(rewarded, "features")
    features: list[np.ndarray] | None = None
    if offers.numbers is not None and any(given):
        every = zip(given, offers.numbers, strict=True)
        features = [np.array(rows, np.float64)[np.argsort(numbers)] for rows, numbers in every]
    n, m = (max(map(len, contexts), default=0), 0) if schema is None else schema.widths
    rows = np.full((rewarded.height, n), np.nan)
    for row, values in zip(rows, contexts, strict=True):
        row[: len(values)] = values
    if features is None:
        return _Rows(rows, None, _widths(contexts, None, schema))
    widths = _widths(contexts, features, schema)
    if schema is not None:
        features = [
            np.pad(part, ((0, 0), (0, m - part.shape[1])), constant_values=np.nan)
            for part in features
        ]
    return _Rows(rows, list(features), widths)


def _widths(
    contexts: list[Any], features: list[np.ndarray] | None, schema: Schema | None
) -> np.ndarray | None:
    """Return how many columns were known in each event, or None if that never changed."""
    if schema is None or not schema.steps:
        return None
    of_arms = [0] * len(contexts) if features is None else [part.shape[1] for part in features]
    return np.array([*zip(map(len, contexts), of_arms, strict=True)], np.int64)


def _sparse_rows(rewarded: "pl.DataFrame", offers: _Offers) -> _Rows:
    """Return contexts and features of arms with their codes."""
    contexts = [
        SparseRow(np.array(codes, np.int64), np.array(values, np.float64))
        for codes, values in zip(
            _lists(rewarded, "context_codes"), _lists(rewarded, "context"), strict=True
        )
    ]
    sides = _lists(rewarded, "feature_codes"), _lists(rewarded, "features")
    features = []
    for codes, values, numbers in zip(*sides, offers.numbers or (), strict=True):
        begin = np.concatenate([[0], np.cumsum([len(part) for part in codes], dtype=np.int64)])
        rows = SparseRows(
            begin,
            np.array([code for part in codes for code in part], np.int64),
            np.array([value for part in values for value in part], np.float64),
        )
        features.append(rows_at(rows, np.argsort(numbers)))
    return _Rows(contexts, features)


def _lists(rewarded: "pl.DataFrame", name: str) -> list[Any]:
    """Return a column of lists, with empty lists in place of nulls."""
    if name not in rewarded.columns:
        return [[] for _ in range(rewarded.height)]
    return [each or [] for each in rewarded[name].to_list()]


def _probabilities(rewarded: "pl.DataFrame", offers: _Offers) -> np.ndarray | None:
    if offers.numbers is None or "propensities" not in rewarded.columns:
        return None
    logged: list[Any] = rewarded["propensities"].to_list()
    pairs = [*zip(logged, offers.numbers, strict=True)]
    if any(row is None or len(row) != len(numbers) for row, numbers in pairs):
        return None
    probabilities = np.zeros((len(pairs), len(offers.arm_names)))
    for event, (row, numbers) in enumerate(pairs):
        probabilities[event, numbers] = row
    return probabilities
