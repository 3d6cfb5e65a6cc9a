"""Rows with contexts of every difficult kind, and samples of them."""

import numpy as np
from scipy.special import expit

from giro.kernels.regression.rows import Rows, append_row, empty_rows, positions_of
from giro.model import Sample
from giro.seeds import stream


def rows_of(X: np.ndarray, rewards: np.ndarray) -> Rows:
    """Return rows of one arm."""
    rows = empty_rows(1, X.shape[1], len(X))
    for context, reward in zip(np.asarray(X, float), rewards, strict=True):
        append_row(rows, context, 0, float(reward))
    return rows


def sample_of(X: np.ndarray, rewards: np.ndarray, counts: np.ndarray) -> Sample:
    """Return all rows with these counts of their own reward, of 1 and of 0."""
    rows = rows_of(X, rewards)
    return Sample(rows, positions_of(rows, 0), np.asarray(counts, np.int32))


def drawn_counts(n: int, seed: int) -> np.ndarray:
    """Return counts as the bootstrap has them with a = 1, some rows with none."""
    return stream(seed, 9).poisson(1.0, (n, 3)).astype(np.int32)


def dense(n: int, d: int, seed: int) -> np.ndarray:
    """Return normal contexts with a bias."""
    X = stream(seed, 1).normal(size=(n, d))
    X[:, -1] = 1.0
    return X


def one_hot(n: int, seed: int) -> np.ndarray:
    """Return standardised contexts: 3 numbers, 2 one-hot groups with rare categories, a bias."""
    rng = stream(seed, 2)
    kinds = 12
    first = np.minimum(rng.geometric(0.35, n), kinds) - 1
    second = np.minimum(rng.geometric(0.5, n), kinds) - 1
    X = np.hstack([rng.normal(size=(n, 3)), np.eye(kinds)[first], np.eye(kinds)[second]])
    deviation = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
    return np.hstack([X, np.ones((n, 1))])


def rewards_for(X: np.ndarray, seed: int) -> np.ndarray:
    """Return zeros and ones that depend on the context."""
    rng = stream(seed, 3)
    theta = rng.normal(size=X.shape[1]) / np.sqrt(X.shape[1])
    return (rng.random(len(X)) < expit(X @ theta)).astype(float)


def hard_contexts(seed: int) -> dict[str, np.ndarray]:
    """Return contexts on which fits of linear models fail if anything does."""
    X = dense(60, 5, seed)
    far = X.copy()
    far[7, :4] = 200.0
    far[8, 1] = -200.0
    return {
        "duplicate columns": np.hstack([X, X, X[:, :2]]),
        "more columns than rows": dense(6, 40, seed),
        "200 standard deviations": far,
        "constant columns": np.hstack([X, np.full((60, 3), 7.0), np.zeros((60, 2))]),
        "one row": X[:1],
        "one value": np.ones((30, 1)),
        "equal rows": np.tile(X[:1], (40, 1)),
        "one-hot": one_hot(90, seed),
    }
