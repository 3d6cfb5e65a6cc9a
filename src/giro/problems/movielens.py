"""MovieLens: find the film that a user likes best among ten."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from giro.compiling import bind, dispatched, inline_kernel, kernel
from giro.datasets.movielens import Ratings, read_movielens
from giro.errors import BadParameter
from giro.kernels.draws.uniform import integer_below
from giro.named import check_word
from giro.offer import Offer, SparseRows
from giro.problem import Means, Problem

ON_OFFER = 10


class _Instance(NamedTuple):
    begin: np.ndarray  # [user + 1] of all users' ratings
    film: np.ndarray  # [rating] ascending for each user
    reward: np.ndarray  # [rating]
    contexts: np.ndarray  # [user, feature]
    films: Any  # [film, feature], or `SparseRows`
    users: np.ndarray  # [i] those with enough ratings
    places: np.ndarray  # [i] indices of this round's ratings among the user's, ascending
    arms: np.ndarray  # [i] films of these ratings
    means: np.ndarray  # [arm] 0 for films that are not on offer
    features: Any  # of the films on offer, in the form of `films`


@kernel
def _reveal(instance: _Instance, t: int, rng: np.random.Generator) -> tuple[Offer, Means, float]:
    arms, means = instance.arms, instance.means
    user = instance.users[integer_below(instance.users.size, rng)]
    first = instance.begin[user]
    _draw_some(instance.places, instance.begin[user + 1] - first, rng)
    for arm in arms:
        means[arm] = 0.0
    highest = 0.0
    for i in range(arms.size):
        rating = first + instance.places[i]
        arms[i] = instance.film[rating]
        means[arms[i]] = instance.reward[rating]
        highest = max(highest, instance.reward[rating])
    features = _features_of(instance.films, arms, instance.features)
    return Offer(arms, instance.contexts[user], features), means, highest


@inline_kernel
def _draw_some(places: np.ndarray, n: int, rng: np.random.Generator) -> None:
    """Write distinct numbers below n in ascending order, with all sets equally likely.

    Each step adds a random number up to `last`, or `last` itself if that number is already there
    (Floyd, in Bentley, 1987, Programming Pearls: a sample of brilliance).
    """
    for size in range(places.size):
        last = n - places.size + size
        place, before = integer_below(last + 1, rng), 0
        while before < size and places[before] < place:
            before += 1
        if before < size and places[before] == place:
            place, before = last, size
        for i in range(size, before, -1):
            places[i] = places[i - 1]
        places[before] = place


@dispatched
def _features_of(films: Any, arms: np.ndarray, out: Any) -> Any:
    """Write the features of some films into `out` and return it."""
    raise TypeError("replaced by dispatch")


@inline_kernel
def _dense_of(films: np.ndarray, arms: np.ndarray, out: np.ndarray) -> np.ndarray:
    for i in range(arms.size):
        for j in range(films.shape[1]):
            out[i, j] = films[arms[i], j]
    return out


@inline_kernel
def _sparse_of(films: SparseRows, arms: np.ndarray, out: SparseRows) -> SparseRows:
    end = 0
    for i in range(arms.size):
        for j in range(films.begin[arms[i]], films.begin[arms[i] + 1]):
            out.column[end], out.value[end] = films.column[j], films.value[j]
            end += 1
        out.begin[i + 1] = end
    return SparseRows(out.begin, out.column[:end], out.value[:end])


bind(_features_of, np.ndarray, _dense_of)
bind(_features_of, SparseRows, _sparse_of)


@kernel
def _reward(instance: _Instance, means: Means, arm: int, rng: np.random.Generator) -> float:
    return float(means[arm])


@dataclass(frozen=True)
class Movielens(Problem, name="movielens"):
    """A user and ten films that the user rated, with reward (stars - 1) / 4 for the chosen one.

    In each round the user is drawn among those with ten ratings or more, and the films among those
    that the user rated, all sets of ten equally likely. The context holds the age group, the gender
    and the occupation, as columns of 0 and 1. Features of a film are its genres, its decade and,
    with `ids`, a column of its own. With `ids` features are sparse, without they are dense and few.
    Regret is counted against the best of the ten. Films that are not on offer have mean 0.

    The ratings are the 100,000 of MovieLens in the package recbole 1.2.1. They are read from `path`
    (a folder with ml-100k.inter, .item and .user, or a wheel), else from the environment variable
    GIRO_MOVIELENS, else from the installed package (pip install --no-deps recbole==1.2.1).
    """

    source = "ratings of Harper and Konstan 2015; ten films a round are giro's own"
    reveal = staticmethod(_reveal)
    reward = staticmethod(_reward)
    offers_all = False

    path: str | None = None
    ids: bool = True
    n_arms: int = field(init=False, repr=False, compare=False)
    n_features: int = field(init=False, repr=False, compare=False)  # type: ignore[misc]  # known with the data
    n_arm_features: int = field(init=False, repr=False, compare=False)  # type: ignore[misc]  # likewise
    ratings: Ratings = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the parameters and read the ratings, which travel with the problem."""
        if self.path is not None:
            check_word(self.path)
        ratings = read_movielens(None if self.path is None else Path(self.path))
        if not (np.diff(ratings.begin) >= ON_OFFER).any():
            raise BadParameter(f"movielens needs users with {ON_OFFER} ratings, got none")
        n_arms, n_shared = ratings.films.shape
        for key, value in (
            ("ratings", ratings),
            ("n_arms", n_arms),
            ("n_features", ratings.users.shape[1]),
            ("n_arm_features", n_shared + (n_arms if self.ids else 0)),
        ):
            object.__setattr__(self, key, value)

    def start(self, rng: np.random.Generator) -> _Instance:
        """Return the ratings and buffers for a round, without drawing anything."""
        data = self.ratings
        users = np.flatnonzero(np.diff(data.begin) >= ON_OFFER)
        films: np.ndarray | SparseRows = data.films
        features: np.ndarray | SparseRows = np.empty((ON_OFFER, self.n_arm_features))
        if self.ids:
            films = _with_ids(data.films)
            most = ON_OFFER * int(np.diff(films.begin).max())
            features = SparseRows(
                np.zeros(ON_OFFER + 1, np.int64), np.empty(most, np.int64), np.empty(most)
            )
        places, arms = np.zeros((2, ON_OFFER), np.int64)
        means = np.zeros(self.n_arms)
        rewards = (data.stars - 1.0) / 4.0
        return _Instance(
            data.begin, data.film, rewards, data.users, films, users, places, arms, means, features
        )


def _with_ids(films: np.ndarray) -> SparseRows:
    """Return the nonzero features of films, with the film's own column last in each row."""
    n = films.shape[0]
    rows, columns = np.nonzero(np.column_stack([films, np.eye(n)]))
    begin = np.searchsorted(rows, np.arange(n + 1))
    return SparseRows(begin, columns, np.ones(columns.size))
