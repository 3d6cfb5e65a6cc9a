"""Films that a user rated: which are on offer, what is known of them, where ratings are found."""

from pathlib import Path

import films
import numpy as np
import pytest
from laws import assert_follows

from giro import BadFile, BadParameter, Problem, simulate
from giro.datasets.movielens import VARIABLE, read_movielens
from giro.kernels.draws.uniform import integer_below
from giro.offer import SparseRows
from giro.problem import reveal, reward, start
from giro.problems import Movielens
from giro.seeds import stream

GROUPS = [0, 18, 25, 35, 56, 56]  # of films.AGES; nobody is 45 to 55


class Literally:
    """The problem from its words: the user, a set of ten, and the rewards by film."""

    def __init__(self) -> None:
        self.stars = {(user, film): stars for user, film, stars in films.ratings()}
        users = range(1, films.N_USERS + 1)
        self.rated = {u: sorted(film for user, film in self.stars if user == u) for u in users}
        self.users = [user for user in users if len(self.rated[user]) >= 10]

    def reveal(self, rng: np.random.Generator) -> tuple[int, dict[int, float]]:
        """Return the user, and (stars - 1) / 4 by film."""
        user = self.users[integer_below(len(self.users), rng)]
        rated, places = self.rated[user], set[int]()
        for last in range(len(rated) - 10, len(rated)):
            place = integer_below(last + 1, rng)
            places.add(last if place in places else place)
        return user, {rated[i]: (self.stars[user, rated[i]] - 1) / 4 for i in sorted(places)}


def words_of(film: int) -> set[str]:
    decade = {"1994": {"decade=1990"}, "1931": {"decade=1930"}, "V": set[str]()}
    genres = {f"genre={genre}" for genre in films.GENRES[film % 4].split()}
    return decade[films.YEARS[film % 3]] | genres


@pytest.mark.parametrize("ids", [True, False])
def test_rounds_are_those_of_the_literal_twin(ids: bool, seed: int) -> None:
    problem, twin = Movielens(ids=ids), Literally()
    words = problem.ratings.film_columns
    rng, same = stream(seed, 1), stream(seed, 1)
    instance = start(problem, stream(seed))
    for t in range(200):
        offer, means, highest = reveal(instance, t, rng)
        user, rewards = twin.reveal(same)
        assert (offer.arms + 1).tolist() == list(rewards)
        assert means[offer.arms].tolist() == list(rewards.values())
        assert (highest, means.sum()) == (max(rewards.values()), sum(rewards.values()))
        assert [reward(instance, means, arm, rng) for arm in offer.arms] == list(rewards.values())
        known = {problem.ratings.user_columns[j] for j in np.flatnonzero(offer.context)}
        occupation = ("artist", "none")[(user - 1) // 3]
        assert known == {
            f"age={GROUPS[user - 1]:02}",
            f"gender={'FM'[(user - 1) % 2]}",
            f"occupation={occupation}",
        }
        for i, film in enumerate(rewards):
            if ids:
                assert isinstance(offer.features, SparseRows)
                begin, end = offer.features.begin[i : i + 2]
                columns = offer.features.column[begin:end].tolist()
                assert columns.pop() == len(words) + film - 1
                assert (offer.features.value[begin:end] == 1.0).all()
            else:
                columns = np.flatnonzero(offer.features[i] == 1.0).tolist()
                assert offer.features[i].sum() == len(columns)
            assert {words[j] for j in columns} == words_of(film)


def test_users_and_sets_of_films_are_as_likely(seed: int) -> None:
    """User 3 rated eleven films: one is left out in each round."""
    problem = Movielens()
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    eleven = np.array(Literally().rated[3]) - 1
    users, left_out = [], []
    for t in range(6_000):
        offer, _, _ = reveal(instance, t, rng)
        user = int(np.flatnonzero((problem.ratings.users == offer.context).all(axis=1))[0])
        users.append(user - 1)
        if user == 2:
            left_out.append(int(np.flatnonzero(~np.isin(eleven, offer.arms))[0]))
    assert_follows(users, [0.2] * 5)
    assert_follows(left_out, [1 / 11] * 11)


@pytest.mark.parametrize("ids", ["true", "false"])
def test_it_can_be_simulated_and_films_tell_what_is_liked(ids: str) -> None:
    problem = Problem.parse(f"movielens:ids={ids}")
    learned, guessed = (
        simulate(policy, problem, rounds=2_000, runs=4).reward[:, -1]
        for policy in ("lin-ucb", "uniform")
    )
    assert (learned > guessed).all()


def test_ratings_that_are_nowhere_or_make_no_sense_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BadFile, match="pip install --no-deps recbole"):
        Problem.parse("movielens")
    (tmp_path / "no.whl").write_text("no wheel")
    for path in (tmp_path / "nowhere", tmp_path / "no.whl"):
        with pytest.raises(BadFile, match=r"has no readable ml-100k.inter"):
            read_movielens(path)
    for more, complaint in (
        ("7\t1\t3\t0", "'7'"),
        ("1\t99\t3\t0", "'99'"),
        ("2\t{film}\t3\t0", "the same film twice"),
        ("1\t{free}\t6\t0", "a rating is a number from 1 to 5"),
        ("1\t{free}\tnan\t0", "a rating is a number from 1 to 5"),
        ("1\t{free}\tgood\t0", "good"),
    ):
        folder, rated = films.write(tmp_path / "bad"), Literally().rated
        free = min(set(range(1, films.N_FILMS + 1)) - set(rated[1]))
        with (folder / "ml-100k.inter").open("a") as file:
            file.write(more.format(film=rated[2][0], free=free) + "\n")
        with pytest.raises(BadFile, match=f"holds no ratings of films by users: .*{complaint}"):
            read_movielens(folder)
    few = films.write(tmp_path / "few")
    lines = (few / "ml-100k.inter").read_text().splitlines()[:10]
    (few / "ml-100k.inter").write_text("\n".join(lines) + "\n")
    with pytest.raises(BadParameter, match="users with 10 ratings"):
        Movielens(str(few))
    with pytest.raises(BadParameter, match="cannot be part of the text"):
        Movielens("a,b")


def test_the_real_ratings_if_they_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    try:
        problem = Movielens(films.REAL)
    except BadFile:
        pytest.skip(f"neither is recbole installed, nor does {VARIABLE} name it")
    shape = problem.n_arms, problem.n_features, problem.n_arm_features
    assert (shape, problem.ratings.film.size) == ((1_682, 30, 27 + 1_682), 100_000)
    assert np.diff(problem.ratings.begin).min() == 20
