"""Columns of a log in memory keep the rows that stay, and no others."""

import numpy as np
from bandit.stores.events import decided, plain

from giro.bandit.event import Rewarded
from giro.bandit.stores import MemoryStore
from giro.bandit.stores._columns import column, without


def test_events_that_stay_are_as_they_were() -> None:
    store = MemoryStore()
    events = [
        event for i in range(4) for event in (decided(f"{i}", d=2, k=3), Rewarded(f"{i}", 2.0, i))
    ]
    store.append(events)
    stays = np.array([False] * 2 + [True] * 2 + [False] * 2 + [True] * 2)
    without(store, stays)
    assert plain(store.read(0, 99)) == plain([events[i] for i in (2, 3, 6, 7)])
    assert column(store.reward_of).tolist() == [0, 1]
    assert list(store.find(["0", "1", "2", "3"])) == ["1", "3"]
