"""The columns of a log in memory: as arrays, and without the events that left."""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from giro.bandit.event import DECISION, KINDS

if TYPE_CHECKING:
    from giro.bandit.stores.memory import MemoryStore

PENDING: Final = -1  # in place of the number of a decision's reward
REWARDS: Final = (KINDS.index("reward"), KINDS.index("expired"))
_TYPES: Final = {"b": np.int8, "i": np.int32, "q": np.int64, "d": np.float64}


def without(store: "MemoryStore", stays: np.ndarray) -> None:
    """Give a store new columns with these events alone, and all that belongs to them."""
    kind, index = column(store.kind)[stays], column(store.index)[stays]
    is_decision, is_reward = kind == DECISION, np.isin(kind, REWARDS)
    is_other = ~(is_decision | is_reward)
    decisions, rewards, others = index[is_decision], index[is_reward], index[is_other]
    decision_now = _numbered(len(store.arm), decisions)
    reward_now = _numbered(len(store.value), rewards)
    index[is_decision], index[is_reward] = decision_now[decisions], reward_now[rewards]
    index[is_other] = np.arange(others.size)
    columns = {"kind": kind, "index": index}
    for name in ("decided", "arm", "among", "own", "seen"):
        columns[name] = column(getattr(store, name))[decisions]
    for name in ("value", "came", "expired"):
        columns[name] = column(getattr(store, name))[rewards]
    columns["reward_of"] = reward_now[column(store.reward_of)[decisions]]
    columns["rewarded"] = decision_now[column(store.rewarded)[rewards]]
    columns |= _ragged(store, "known", ("propensities",), decisions)
    columns |= _ragged(store, "context_at", ("contexts", "codes"), decisions)
    for name, values in columns.items():
        setattr(store, name, filled(getattr(store, name).typecode, values))
    for name in ("ids", "features", "names"):
        values = getattr(store, name)
        setattr(store, name, [values[i] for i in decisions.tolist()] if values else [])
    store.others = [store.others[i] for i in others.tolist()]
    requests = ((int(decision_now[number]), it) for number, it in store.requests.items())
    store.requests = {number: it for number, it in requests if number != PENDING}
    store.index_again()


def _numbered(n: int, chosen: np.ndarray) -> np.ndarray:
    """Return new numbers of n things of which some are left. The last is that of PENDING."""
    numbers = np.full(n + 1, PENDING, np.int64)
    numbers[chosen] = np.arange(chosen.size)
    return numbers


def _ragged(
    store: "MemoryStore", begins: str, names: Sequence[str], chosen: np.ndarray
) -> dict[str, np.ndarray]:
    """Return columns that hold several values for each decision, and where these begin."""
    widths = np.diff(column(getattr(store, begins)))
    is_chosen = np.zeros(widths.size, bool)
    is_chosen[chosen] = True
    columns = {begins: np.concatenate([[0], np.cumsum(widths[chosen])])}
    for name in names:
        values = column(getattr(store, name))
        columns[name] = values[np.repeat(is_chosen, widths)] if values.size else values
    return columns


def filled(typecode: str, values: np.ndarray) -> "array[Any]":
    """Return a column of these values."""
    return array(typecode, np.ascontiguousarray(values, _TYPES[typecode]).tobytes())


def column(values: "array[Any]") -> np.ndarray:
    """Return a copy of a column as an array."""
    kind = _TYPES[values.typecode]
    return np.frombuffer(values[:], kind) if values else np.empty(0, kind)
