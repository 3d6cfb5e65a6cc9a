"""The layout of the Open Bandit Dataset (Saito et al., 2020) -> Log."""

from typing import TYPE_CHECKING

from giro.errors import BadParameter
from giro.evaluation.log import Log
from giro.evaluation.table import Columns, log_of_table

if TYPE_CHECKING:
    import polars as pl

# the names in the files, in its description, and in the arrays of its pipeline
_ARM = ("item_id", "action")
_REWARD = ("click", "reward")
_PROBABILITY = ("propensity_score", "action_prob", "pscore")


def log_of_open_bandit(frame: "pl.DataFrame") -> Log:
    """Return the log in a file such as `random/all/all.csv`.

    Read are the item (arm), the click (reward), the propensity score, and as context the
    position and the columns `user_feature_*`, all of them one-hot: their values are names.
    Columns `user-item_affinity_*` belong to an item, not to the context, and are not read.
    """
    import polars as pl  # noqa: PLC0415  # quick start without polars

    context = [
        name for name in frame.columns if name == "position" or name.startswith("user_feature_")
    ]
    named = frame.with_columns(pl.col(context).cast(pl.String))
    columns = Columns(
        _first(frame, _ARM), _first(frame, _REWARD), _first(frame, _PROBABILITY), context
    )
    return log_of_table(named, columns)


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
