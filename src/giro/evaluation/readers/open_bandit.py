"""The layout of the Open Bandit Dataset (Saito et al., 2020) -> Log."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from giro.errors import BadParameter
from giro.evaluation.log import Log
from giro.evaluation.readers._registry import Options, Source, frame_of_file, reader
from giro.evaluation.readers.table import context_columns, is_table, log_of_table, texts
from giro.features.frames import columns_of_frame
from giro.features.schema import OF_ARM

if TYPE_CHECKING:
    import polars as pl

# the names in the files, in its description, and in the arrays of its pipeline
_ARM = ("item_id", "action")
_REWARD = ("click", "reward")
_PROBABILITY = ("propensity_score", "action_prob", "pscore")


ITEMS = "item_context.csv"  # beside a log: what is known of its items


def is_open_bandit(source: Source, options: Options) -> bool:
    """Return whether a log is a folder of the data set, or has its columns and is no table."""
    if _beside(source).is_file():
        return True
    names = source.columns
    has_names = {"item_id", "click"} <= names and any(name in names for name in _PROBABILITY)
    return has_names and not is_table(source, options)


def _beside(source: Source) -> Path:
    """Return the file of items beside a log, or in the folder."""
    if source.path is None:
        return Path(ITEMS) / ITEMS  # nowhere
    return source.path / ITEMS if source.path.is_dir() else source.path.with_name(ITEMS)


@reader("open-bandit", is_open_bandit)
def read_open_bandit(source: Source, options: Options) -> Log:
    """Return the log in a file or folder of the Open Bandit Dataset, or in a table like it."""
    beside = _beside(source)
    items = frame_of_file(beside) if beside.is_file() else None
    if source.path is not None and source.path.is_dir():
        source = Source(source.path / f"{source.path.resolve().name}.csv")
    return log_of_open_bandit(source.frame, items)


def log_of_open_bandit(frame: "pl.DataFrame", items: "pl.DataFrame | None" = None) -> Log:
    """Return the log in a file such as `random/all/all.csv`, in the order of its timestamps.

    Read are the item (arm), the click (reward), the propensity score, and as context the
    position and the columns `user_feature_*`, all of them one-hot: their values are names.
    Propensity scores are those at the event's position, so a policy's probabilities are too.
    `items` are the lines of `item_context.csv`: all arms, and their features `item_feature_*`.
    Columns `user-item_affinity_*` belong to an item and a user, and are not read.
    """
    import polars as pl  # noqa: PLC0415  # quick start without polars

    context = [
        name for name in frame.columns if name == "position" or name.startswith("user_feature_")
    ]
    named = frame.with_columns(pl.col(context).cast(pl.String))
    if "timestamp" in frame.columns:
        named = named.sort("timestamp", maintain_order=True)
    options = Options(
        _first(frame, _ARM), _first(frame, _REWARD), _first(frame, _PROBABILITY), context
    )
    if items is None:
        return log_of_table(named, options)
    log = log_of_table(named, options._replace(arms=texts(items, "item_id")))
    chosen = context_columns(items, "item_feature_")
    columns, features = columns_of_frame(items, {name: name for name in chosen})
    schema = log.schema._replace(arms=dataclasses.replace(columns, noun=OF_ARM))
    return dataclasses.replace(log, arm_features=features, schema=schema)


def _first(frame: "pl.DataFrame", names: tuple[str, ...]) -> str:
    for name in names:
        if name in frame.columns:
            return name
    raise BadParameter(
        f"an Open Bandit log has a column {' or '.join(names)}; "
        f"this one has {', '.join(frame.columns)}"
    )
