"""Requests to a service as `giro.Bandit` takes them, and its tables."""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from giro.client.answers import Reply, check_success
from giro.client.steps import Ask, new_id
from giro.errors import BadParameter

if TYPE_CHECKING:
    import polars as pl

Context: TypeAlias = Mapping[str, Any] | Sequence[float | None] | None
Arms: TypeAlias = Iterable[str] | Mapping[str, Any] | None


def ask_for(bandit: str, context: Any, arms: Arms, id: str | None, baseline: str | None) -> Ask:
    """Return the request, with an id of its own if it has none: so it can be sent again."""
    listed = arms if arms is None or isinstance(arms, Mapping) else list(arms)
    return Ask(new_id(bandit) if id is None else id, context, listed, baseline)


def asks_for(bandit: str, contexts: Any, arms: Arms, baseline: str | None) -> list[Ask]:
    """Return a request for each context: of a list, the rows of a DataFrame, or as many without."""
    if isinstance(contexts, int) and not isinstance(contexts, bool) and contexts >= 0:
        contexts = [None] * contexts
    elif hasattr(contexts, "to_dicts"):  # of polars
        contexts = contexts.to_dicts()
    elif hasattr(contexts, "to_dict") and hasattr(contexts, "columns"):  # of pandas
        contexts = contexts.to_dict("records")
    elif isinstance(contexts, str | Mapping) or not isinstance(contexts, Iterable):
        raise BadParameter(
            f"decide_many takes contexts, a DataFrame or a number >= 0, got {contexts!r}"
        )
    return [ask_for(bandit, context, arms, None, baseline) for context in contexts]


def rewards_in(rewards: Mapping[str, float] | Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Return an id, a value and perhaps the name of the report of each."""
    given = rewards.items() if isinstance(rewards, Mapping) else rewards
    reports = [tuple(each) for each in given]
    for report in reports:
        if len(report) not in (2, 3):
            raise BadParameter(
                "reward_many takes values by id, or tuples of an id, a value and perhaps a name, "
                f"got {report!r}"
            )
    return reports


def summary_table(plain: Mapping[str, Any]) -> "pl.DataFrame":
    """Return a summary as `Bandit.summary` has it."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    kinds = {name: pl.Float64 for name in ("mean", "low", "high", "last_day")}
    return pl.DataFrame(plain["arms"], schema_overrides=kinds)


def events_in(reply: Reply) -> "pl.DataFrame":
    """Return events as `Bandit.events` has them."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    from giro.bandit.exchange import events_table  # noqa: PLC0415  # quick start

    check_success(reply)
    empty = events_table([], [], [], {})
    if not reply.content:
        return empty
    return pl.read_ndjson(io.BytesIO(reply.content), schema=empty.schema)


def rows_table(rows: Sequence[Mapping[str, Any]]) -> "pl.DataFrame":
    """Return the rows of an evaluation as `Evaluation.to_frame` has them."""
    import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

    numbers = {name: pl.Float64 for name in ("value", "se", "low", "high", "effective", "largest")}
    return pl.DataFrame(rows, schema_overrides=numbers)
