"""What stores in databases share."""

from typing import Any

import numpy as np
import pytest
from bandit.stores.events import Make

from giro.bandit.event import Began
from giro.bandit.stores import Snapshot, _sql


def test_a_large_snapshot_is_kept_in_parts(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sql, "PART", 100)
    store: Any = make()
    if not store.shared:
        pytest.skip("what a snapshot holds is in memory already")
    store.append([Began(1.0, "{}")])
    for position in (1, 2, 3):
        values = np.arange(200.0) + position
        store.keep(Snapshot(position, {"n": position}, {"a": values, "b": values[:0]}))
    kept = store.snapshots()
    assert [snapshot.position for snapshot in kept] == [3, 2]
    for snapshot in kept:
        np.testing.assert_array_equal(snapshot.arrays["a"], np.arange(200.0) + snapshot.position)
    parts = store._query("SELECT DISTINCT position FROM giro_parts ORDER BY position")
    assert [position for (position,) in parts] == [2, 3]
    store._write_aside(("DELETE FROM giro_parts WHERE position = 3 AND part = 4",))  # cut short
    assert [snapshot.position for snapshot in store.snapshots()] == [2]
