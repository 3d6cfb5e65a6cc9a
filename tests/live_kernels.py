"""The kernels of a live policy, for tests: with them nothing compiles twice."""

from collections.abc import Callable
from typing import Any

import numpy as np

from giro.live import _choose, _learn, _learn_sparse
from giro.offer import Case, Offer

Form = Callable[[Any], Any]
_NOT_COUNTED = np.empty(0, np.int64)


def as_it_is(function: Any) -> Any:
    """Return a kernel as it is, compiled; `plain` is the other form."""
    return function


def position_chosen(held: Any, offer: Offer, form: Form = as_it_is) -> int:
    """Return the place of the chosen arm in the offer, -1 if it is not there."""
    return int(form(_choose)(held, *offer, 1, -1, _NOT_COUNTED))


def voted(held: Any, offer: Offer, votes: int, form: Form = as_it_is) -> np.ndarray:
    """Return how often each arm on offer was chosen."""
    counts = np.zeros(offer.arms.size, np.int64)
    assert form(_choose)(held, *offer, votes, -1, counts) >= 0, "not on offer"
    return counts


def learn_one(held: Any, case: Case, arm: int, reward: float, form: Form = as_it_is) -> None:
    """Let a state learn a reward."""
    if not isinstance(case.features, np.ndarray):
        form(_learn_sparse)(held, *case, arm, reward)
        return
    rows = case.context.reshape(1, -1), case.features.reshape(1, -1)
    form(_learn)(held, *rows, np.array([arm]), np.array([reward]))


learn_all = _learn
