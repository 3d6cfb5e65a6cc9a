"""A snapshot comes back from bytes."""

import numpy as np

from giro.bandit.stores import Snapshot
from giro.bandit.stores._packed import PackedSnapshot


def test_a_snapshot_comes_back() -> None:
    snapshot = Snapshot(7, {"n": [1]}, {"a": np.arange(3.0), "b/c": np.empty(0)})
    back = PackedSnapshot.of(snapshot).unpacked()
    assert back[:2] == snapshot[:2]
    assert {name: values.tolist() for name, values in back.arrays.items()} == {
        "a": [0.0, 1.0, 2.0],
        "b/c": [],
    }
