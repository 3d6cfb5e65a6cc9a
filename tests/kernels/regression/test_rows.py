"""Sums over changes from the commonest values are the sums over whole rows."""

from collections.abc import Callable

import numpy as np
import pytest
from laws import assert_follows
from models.contexts import dense, one_hot, rows_of

from giro.kernels.regression.rows import (
    Rows,
    append_row,
    empty_rows,
    is_sparse,
    keep_newest,
    keep_row,
    positions_of,
    scores,
    weighted_gram,
    weighted_sum,
)
from giro.policy import _copy
from giro.seeds import stream


def constant(n: int, seed: int) -> np.ndarray:
    """Return columns of one value each, one of them all zeros."""
    return np.tile([3.5, 0.0, -1.0, 1.0], (n, 1))


def of_length_one(n: int, seed: int) -> np.ndarray:
    """Return one-hot rows divided by their lengths: no value is common."""
    X = one_hot(n, seed)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def changing(n: int, seed: int) -> np.ndarray:
    """Return columns whose commonest value is another one later."""
    X = one_hot(n, seed)
    X[n // 2 :] = -2.0 * X[n // 2 :] + 1.0
    return X


def dense_rows(n: int, seed: int) -> np.ndarray:
    """Return normal contexts."""
    return dense(n, 6, seed)


KINDS = [constant, of_length_one, changing, dense_rows, one_hot]
LENGTHS = [1, 2, 7, 8, 9, 15, 16, 17, 100, 131]


def whole_rows(rows: Rows) -> np.ndarray:
    """Return base plus changes and the dense columns, written out."""
    X = np.tile(rows.base, (rows.filled[0], 1))
    for i in range(len(X)):
        for p in range(rows.first[i], rows.middle[i]):
            X[i, rows.column[p]] += rows.change[p]
        k = rows.filled[1]
        X[i, rows.dense[:k]] = rows.packed[i * k : (i + 1) * k]
    return X


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_base_and_changes_are_the_row(
    kind: Callable[[int, int], np.ndarray], n: int, seed: int
) -> None:
    X = kind(131, seed)[:n]
    rows = rows_of(X, np.zeros(n))
    assert whole_rows(rows) == pytest.approx(X, rel=1e-14, abs=1e-14)
    assert np.array_equal(rows.contexts[:n], X)
    for i in range(n):
        dense, sparse = rows.dense[: rows.filled[1]], slice(rows.first[i], rows.middle[i])
        packed = rows.packed[i * dense.size : (i + 1) * dense.size]
        assert np.array_equal(packed, X[i, dense])
        assert np.all(np.diff(rows.column[sparse]) > 0)
        assert not np.isin(rows.column[sparse], dense).any()


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_sums_over_changes_are_sums_over_rows(
    kind: Callable[[int, int], np.ndarray], n: int, seed: int
) -> None:
    X, rng = kind(131, seed)[:n], stream(seed)
    rows, d = rows_of(X, np.zeros(n)), X.shape[1]
    positions = np.flatnonzero(rng.random(n) < 0.7)
    weight = rng.poisson(1.0, positions.size) * rng.random(positions.size)
    theta = rng.normal(size=(d,))
    score, total, gram = np.empty(positions.size), np.empty(d), np.full((d, d), 9.0)
    scores(rows, positions, theta, score)
    weighted_sum(rows, positions, weight, total)
    weighted_gram(rows, positions, weight, gram)
    near = {"rel": 1e-11, "abs": 1e-11 * n * np.abs(X).max() ** 2}
    chosen = X[positions]
    assert score == pytest.approx(chosen @ theta, **near)
    assert total == pytest.approx(chosen.T @ weight, **near)
    wanted = (chosen * weight[:, None]).T @ chosen
    assert np.triu(gram) == pytest.approx(np.triu(wanted), **near)


def test_bases_are_the_commonest_values(seed: int) -> None:
    X = one_hot(128, seed)
    rows = rows_of(X, np.zeros(128))
    for j in range(X.shape[1]):
        values, counts = np.unique(X[:, j], return_counts=True)
        if counts.max() > 64:
            assert rows.base[j] == values[counts.argmax()]


def test_one_hot_rows_are_sparse_and_others_are_not(seed: int) -> None:
    assert is_sparse(rows_of(one_hot(100, seed), np.zeros(100)))
    assert is_sparse(rows_of(constant(100, seed), np.zeros(100)))
    assert not is_sparse(rows_of(dense_rows(100, seed), np.zeros(100)))
    assert not is_sparse(rows_of(of_length_one(100, seed), np.zeros(100)))


def test_every_arm_has_its_own_rows_oldest_first(seed: int) -> None:
    X, arms = dense(50, 3, seed), stream(seed).integers(0, 4, 50)
    rows = empty_rows(4, 3, 50)
    for t in range(50):
        append_row(rows, X[t], int(arms[t]), float(t))
    for arm in range(4):
        assert positions_of(rows, arm).tolist() == np.flatnonzero(arms == arm).tolist()
    assert rows.rewards.tolist() == list(range(50))


# -- rows that are kept --------------------------------------------------------------------------


def kept(X: np.ndarray, arms: np.ndarray, most: int, rng: np.random.Generator) -> Rows:
    """Return rows of arms of which at most so many of each are kept; rewards are their numbers."""
    rows = empty_rows(2, X.shape[1], 2 * most, spaced=True)
    seen = [0, 0]
    for t, arm in enumerate(arms.tolist()):
        seen[arm] += 1
        keep_row(rows, X[t], arm, float(t), seen[arm], most, rng)
    return rows


@pytest.mark.parametrize("kind", KINDS)
def test_kept_rows_are_whole_and_the_last_is_the_newest(
    kind: Callable[[int, int], np.ndarray], seed: int
) -> None:
    rng, X = stream(seed), kind(131, seed)
    arms = (rng.random(131) < 0.3).astype(np.int64)
    rows = kept(X, arms, 20, rng)
    assert rows.filled[0] == 40
    written = whole_rows(rows)
    for arm in range(2):
        positions = positions_of(rows, arm)
        numbers = rows.rewards[positions].astype(int)
        assert numbers[-1] == np.flatnonzero(arms == arm)[-1]
        assert len(set(numbers)) == 20 and (arms[numbers] == arm).all()
        assert written[positions] == pytest.approx(X[numbers], rel=1e-14, abs=1e-14)
        assert np.array_equal(rows.contexts[positions], X[numbers])


def test_kept_rows_before_the_newest_are_a_uniform_sample(seed: int) -> None:
    n, most, times, rng = 12, 4, 3000, stream(seed)
    X, arms, chosen = np.zeros((n, 1)), np.zeros(n, np.int64), list[int]()
    for _ in range(times):
        rows = kept(X, arms, most, rng)
        older = rows.rewards[positions_of(rows, 0)][:-1].astype(int)
        assert len(set(older)) == most - 1
        chosen.append(int(older[rng.integers(most - 1)]))
    assert_follows(np.array(chosen), [1 / (n - 1)] * (n - 1))


def test_spaced_rows_stay_whole_when_columns_come(seed: int) -> None:
    X = np.round(changing(40, seed))
    before = kept(X, np.zeros(40, np.int64), 20, stream(seed))
    after = empty_rows(2, X.shape[1] + 3, 40, spaced=True)
    _copy(before, after)
    wide = np.hstack([whole_rows(before), np.zeros((20, 3))])
    assert np.array_equal(whole_rows(after), wide)
    keep_row(after, np.arange(X.shape[1] + 3.0), 0, 1.0, 41, 20, stream(seed, 1))
    newest = positions_of(after, 0)[-1]
    rest = np.setdiff1d(np.arange(20), newest)
    assert np.array_equal(whole_rows(after)[rest], wide[rest])
    assert whole_rows(after)[newest] == pytest.approx(np.arange(X.shape[1] + 3.0))


def test_the_newest_rows_of_every_arm_are_kept_oldest_first(seed: int) -> None:
    X, arms, most = one_hot(90, seed), stream(seed).integers(0, 2, 90), 20
    rows = empty_rows(2, X.shape[1], 2 * most, spaced=True)
    for t in range(90):
        row = keep_newest(rows, X[t], int(arms[t]), float(t), most)
        assert rows.rewards[row] == t
    for arm in range(2):
        positions, newest = positions_of(rows, arm), np.flatnonzero(arms == arm)[-most:]
        assert rows.rewards[positions].tolist() == newest.tolist()
        assert rows.contexts[positions].tolist() == X[newest].tolist()
        out = np.empty(X.shape[1])
        weighted_sum(rows, positions, np.ones(most), out)
        np.testing.assert_allclose(out, X[newest].sum(axis=0), atol=1e-9)
