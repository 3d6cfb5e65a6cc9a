"""The layout of the Open Bandit Dataset (Saito et al., 2020) -> Log."""

from pathlib import Path
from typing import TYPE_CHECKING

from giro.errors import BadParameter
from giro.evaluation.log import Log
from giro.evaluation.readers.table import Columns, context_columns, log_of_table, texts
from giro.features import matrix_of_columns

if TYPE_CHECKING:
    import polars as pl

# the names in the files, in its description, and in the arrays of its pipeline
_ARM = ("item_id", "action")
_REWARD = ("click", "reward")
_PROBABILITY = ("propensity_score", "action_prob", "pscore")


ITEMS = "item_context.csv"  # beside a log: what is known of its items


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
    columns = Columns(
        _first(frame, _ARM), _first(frame, _REWARD), _first(frame, _PROBABILITY), context
    )
    if items is None:
        return log_of_table(named, columns)
    log = log_of_table(named, columns, arms=texts(items, "item_id"))
    features, names = matrix_of_columns(items, context_columns(items, "item_feature_"))
    return log._replace(arm_features=features, arm_feature_names=names)


def file_in_folder(path: Path) -> Path:
    """Return the log in a folder such as `obd/random/all`; another path as it is."""
    return path / f"{path.resolve().name}.csv" if (path / ITEMS).is_file() else path


def is_open_bandit(names: list[str]) -> bool:
    """Tell whether these are the columns of an Open Bandit file."""
    return {"item_id", "click"} <= set(names) and any(name in names for name in _PROBABILITY)


def _first(frame: "pl.DataFrame", names: tuple[str, ...]) -> str:
    for name in names:
        if name in frame.columns:
            return name
    raise BadParameter(
        f"an Open Bandit log has a column {' or '.join(names)}; "
        f"this one has {', '.join(frame.columns)}"
    )
