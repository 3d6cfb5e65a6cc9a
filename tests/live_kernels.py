"""The kernel of a live policy, for tests: with it nothing compiles twice."""

from collections.abc import Callable
from typing import Any

import numpy as np

from giro.compiling.held import hold
from giro.live import TO_CHOOSE, TO_LEARN, TO_TELL, UNCOUNTED, work
from giro.offer import Case, Offer, in_rows
from giro.seeds import stream

Form = Callable[[Any], Any]


def as_it_is(function: Any) -> Any:
    """Return a kernel as it is, compiled; `plain` is the other form."""
    return function


def position_chosen(held: Any, offer: Offer, form: Form = as_it_is) -> int:
    """Return the place of the chosen arm in the offer, -1 if it is not there."""
    known = in_rows(offer.context), offer.features
    return int(form(work)(held, TO_CHOOSE, offer.arms, *known, UNCOUNTED, 1, -1))


def voted(held: Any, offer: Offer, votes: int, form: Form = as_it_is) -> np.ndarray:
    """Return how often each arm on offer was chosen."""
    counts, known = np.zeros(offer.arms.size), (in_rows(offer.context), offer.features)
    place = form(work)(held, TO_CHOOSE, offer.arms, *known, counts, votes, -1)
    assert place >= 0, "not on offer"
    return counts.astype(np.int64)


def law(held: Any, offer: Offer, form: Form = as_it_is) -> np.ndarray:
    """Return the exact probability of each arm on offer, nothing if they are not known."""
    found, known = np.empty(offer.arms.size), (in_rows(offer.context), offer.features)
    return found[: form(work)(held, TO_TELL, offer.arms, *known, found, 0, -1)]


def learn_one(held: Any, case: Case, arm: int, reward: float, form: Form = as_it_is) -> None:
    """Let a state learn a reward."""
    rows, arms = (in_rows(case.context), in_rows(case.features)), np.array([arm])
    form(work)(held, TO_LEARN, arms, *rows, np.array([reward]), 0, -1)


def learn_all(
    held: Any, contexts: np.ndarray, features: np.ndarray, arms: np.ndarray, rewards: np.ndarray
) -> None:
    """Let a state learn rewards[i] of arms[i], at contexts[i] with features[i] of the arm."""
    work(held, TO_LEARN, arms, contexts, features, rewards, 0, -1)


# -- the same for a state that nobody holds ------------------------------------------------------


def law_of(state: Any, offer: Offer) -> np.ndarray:
    """Return the exact probability of each arm on offer."""
    return law(_held(state, stream(0)), offer)


def counted(state: Any, offer: Offer, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return how often each arm on offer was chosen."""
    return voted(_held(state, rng), offer, draws)


def taught(state: Any, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    """Let a state learn a reward."""
    learn_one(_held(state, rng), case, arm, reward)


def _held(state: Any, rng: np.random.Generator) -> Any:
    return hold(state, rng, rng)
