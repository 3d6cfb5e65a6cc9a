"""Decisions as callers see them."""

import copy
import math
import pickle
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from bandit.clock import bandit_of

from giro import BadFile
from giro.bandit.event import Decided, event_of, row_of
from giro.offer import SparseRow, SparseRows
from giro.seeds import stream


def test_decisions_show_what_they_are() -> None:
    decision = bandit_of("uniform", "a").decide()
    assert repr(decision) == "Decision(id='0', arm='a')"
    assert (decision.time, decision.arms) == (1_000.0, ("a",))


def test_decisions_can_be_pickled_and_bandits_say_why_not() -> None:
    bandit = bandit_of("thompson")
    decision = bandit.decide()
    again = pickle.loads(pickle.dumps(decision))
    assert again == decision
    assert again.propensities == decision.propensities
    for copied in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="a bandit cannot be pickled or copied: save it"):
            copied(bandit)


P = np.array([0.1, 0.7, 0.2])
SPARSE = SparseRow(np.array([3, 2**40]), np.array([1.0, -2.5]))
DECISIONS = {
    "bare": Decided("a", 1.5, 1, np.arange(3), P, 0.7, 4),
    "unknown": Decided("a", 1.5, 1, np.arange(3), np.empty(0), math.nan, 0),
    "estimate": Decided("a", 1.5, 0, np.arange(3), np.array([0.3]), 0.3, 2),
    "some arms": Decided("a", 1.5, 900, np.array([2, 7, 900]), P, 0.25, 2**40),
    "one arm": Decided("a", 1.5, 0, np.arange(1), np.ones(1), 0.0, 2),
    "asked": Decided("a", 1.5, 2, np.arange(3), P, -0.0, 1, request=b"12345678", names=(*"xyü",)),
    "rows": Decided("a", 1.5, 2, np.arange(3), P, 0.2, 1, np.array([math.nan, 1e300]), np.eye(3)),
    "codes": Decided(
        "a", 1.5, 2, np.arange(3), P, 0.2, 1, SPARSE,
        SparseRows(np.array([0, 2, 2, 3]), np.array([1, 5, 1]), np.array([0.5, 1.0, 1.0])),
    ),
    "as many codes each": Decided(
        "a", 1.5, 2, np.arange(3), P, 0.2, 1, SPARSE,
        SparseRows(np.array([0, 2, 4, 6]), np.array([1, 5, 1, 7, 2, 9]), np.arange(6) / 7),
    ),
    "many": Decided("a", 1.5, 299, np.arange(300), np.full(300, 1 / 300), 1 / 300, 1),
}  # fmt: skip


@pytest.mark.parametrize("event", DECISIONS.values(), ids=DECISIONS)
def test_a_decision_comes_back_bit_by_bit(event: Decided) -> None:
    row = row_of(event)
    back = event_of(row)
    assert isinstance(back, Decided)
    for mine, other in zip(event, back, strict=True):
        assert _bits(mine) == _bits(other)


def _bits(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tobytes(), value.size
    if isinstance(value, tuple):
        return tuple(map(_bits, value))
    return struct.pack("<d", value) if isinstance(value, float) else value


def test_what_most_decisions_have_in_common_takes_no_room() -> None:
    n = 10
    event = Decided("a", 1.0, 3, np.arange(n), np.full(n, 0.1), 0.1, 7)
    assert len(row_of(event).data or b"") == 8 * n + 10
    some = event._replace(arms=np.arange(1, n + 1), own=0.2)
    assert len(row_of(some).data or b"") == 8 * n + 10 + 4 * n + 8
    alike = event._replace(context=np.ones(500))
    assert len(row_of(alike).data or b"") < 200


def test_features_that_arms_share_are_written_side_by_side() -> None:
    rng, n, k = stream(1), 20, 10
    numbers = rng.integers(1_000, size=(n, k)).astype(float)
    codes = np.tile(np.where(np.arange(k) < k // 2, 0, rng.integers(2**32, size=k)), (n, 1))
    codes[:, : k // 2] = rng.integers(2**32, size=(n, k // 2))
    rows = SparseRows(np.arange(0, n * k + 1, k), codes.ravel(), numbers.ravel())
    nothing = SparseRow(np.empty(0, np.int64), np.empty(0))
    event = Decided("a", 1.5, 2, np.arange(n), np.empty(0), 0.2, 1, nothing, rows)
    plain = codes.astype("<u4").tobytes() + numbers.tobytes()
    assert len(row_of(event).data or b"") < 0.85 * len(zlib.compress(plain, 1))


@pytest.mark.parametrize("event", DECISIONS.values(), ids=DECISIONS)
def test_a_decision_that_is_cut_short_is_damaged(event: Decided) -> None:
    row = row_of(event)
    data = row.data or b""
    for size in (0, 1, len(data) // 2):
        with pytest.raises(BadFile, match="decision 'a' in the log is damaged"):
            event_of(row._replace(data=data[:size]))
