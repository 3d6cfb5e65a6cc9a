"""The logistic model against scikit-learn and SciPy."""

import numpy as np
import pytest
from models.contexts import (
    dense,
    drawn_counts,
    hard_contexts,
    one_hot,
    rewards_for,
    rows_of,
    sample_of,
)
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from giro.errors import BadParameter
from giro.kernels.giro.pseudo_rewards import draw_counts, weights_and_totals
from giro.kernels.regression.rows import positions_of
from giro.model import Model, Sample
from giro.models.logistic import Logistic, _refit, _value
from giro.seeds import stream

CONTEXTS = {
    "dense": lambda seed: dense(400, 6, seed),
    "one-hot": lambda seed: one_hot(500, seed),
    "rows of length one": lambda seed: (
        (X := one_hot(500, seed)) / np.linalg.norm(X, axis=1, keepdims=True)
    ),
}


def fitted(model: Logistic, sample: Sample, seed: int) -> np.ndarray:
    state = model.start(1, sample.rows.base.size, 10, stream(seed))
    _refit(state, 0, sample, stream(seed))
    return state.theta[0]


def twin(X: np.ndarray, weight: np.ndarray, total: np.ndarray, penalty: float) -> np.ndarray:
    """Return scikit-learn's coefficients; a row is there with reward 1 and with reward 0."""
    model = LogisticRegression(
        C=1.0 / penalty, fit_intercept=False, solver="newton-cholesky", tol=1e-10, max_iter=1000
    )
    labels = np.repeat([1, 0], len(X))
    return model.fit(np.vstack([X, X]), labels, np.append(total, weight - total)).coef_[0]


@pytest.mark.parametrize("kind", CONTEXTS)
@pytest.mark.parametrize("penalty", [1.0, 0.05, 30.0])
def test_coefficients_are_scikit_learns(kind: str, penalty: float, seed: int) -> None:
    X = CONTEXTS[kind](seed)
    sample = sample_of(X, rewards_for(X, seed), drawn_counts(len(X), seed))
    weight, total = weights_and_totals(sample.counts, sample.rows.rewards, sample.positions)
    ours = fitted(Logistic(penalty=penalty, tolerance=1e-7), sample, seed)
    assert ours == pytest.approx(twin(X, weight, total, penalty), abs=1e-6)


def test_rewards_between_0_and_1_are_fitted_by_cross_entropy(seed: int) -> None:
    X = dense(200, 4, seed)
    rewards = stream(seed).random(200)
    sample = sample_of(X, rewards, drawn_counts(200, seed))
    weight, total = weights_and_totals(sample.counts, rewards, sample.positions)

    def loss(theta: np.ndarray) -> float:
        return weight @ np.logaddexp(0.0, X @ theta) - total @ X @ theta + 0.5 * theta @ theta

    def slope(theta: np.ndarray) -> np.ndarray:
        return X.T @ (weight * expit(X @ theta) - total) + theta

    best = minimize(loss, np.zeros(4), jac=slope, method="BFGS", options={"gtol": 1e-9}).x
    assert fitted(Logistic(tolerance=1e-7), sample, seed) == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("kind", CONTEXTS)
def test_predictions_are_right_to_a_millionth_in_a_growing_history(kind: str, seed: int) -> None:
    X, rng = CONTEXTS[kind](seed), stream(seed)
    y, model = rewards_for(X, seed), Logistic()
    state = model.start(1, X.shape[1], 10, rng)
    for n in (20, 21, 60, 61, 62, 200, 201, 400):
        rows = rows_of(X[:n], y[:n])
        counts = np.empty((n, 3), np.int32)
        draw_counts(counts, 1.0, rng)
        _refit(state, 0, Sample(rows, positions_of(rows, 0), counts), rng)
        weight, total = weights_and_totals(counts, rows.rewards, positions_of(rows, 0))
        ours = np.array([_value(state, 0, x) for x in X])
        assert ours == pytest.approx(expit(X @ twin(X[:n], weight, total, 1.0)), abs=1e-5)
        assert np.median(np.abs(ours - expit(X @ twin(X[:n], weight, total, 1.0)))) < 1e-6


@pytest.mark.parametrize("rewards", ["all 0", "all 1", "mixed"])
@pytest.mark.parametrize("kind", hard_contexts(0))
def test_hard_inputs_have_finite_predictions(kind: str, rewards: str, seed: int) -> None:
    X = hard_contexts(seed)[kind]
    y = {"all 0": np.zeros(len(X)), "all 1": np.ones(len(X)), "mixed": rewards_for(X, seed)}
    counts = drawn_counts(len(X), seed)
    counts[:, 1:] *= rewards == "mixed"
    sample = sample_of(X, y[rewards], counts)
    model = Logistic()
    state = model.start(1, X.shape[1], 10, stream(seed))
    _refit(state, 0, sample, stream(seed))
    values = np.array([_value(state, 0, x) for x in X])
    assert np.all((values >= 0.0) & (values <= 1.0))
    weight, total = weights_and_totals(counts, sample.rows.rewards, sample.positions)
    slope = X.T @ (weight * expit(X @ state.theta[0]) - total) + state.theta[0]
    assert np.abs(slope).max() < 0.05  # hundreds if it were not fitted: 200 standard deviations


def test_rows_that_were_not_drawn_leave_only_the_penalty(seed: int) -> None:
    X = dense(10, 3, seed)
    assert fitted(Logistic(), sample_of(X, np.ones(10), np.zeros((10, 3))), seed) == (
        pytest.approx(np.zeros(3))
    )


@pytest.mark.parametrize("text", ["penalty=0", "penalty=-1", "tolerance=0", "tolerance=1"])
def test_parameters_out_of_range_are_refused(text: str) -> None:
    with pytest.raises(BadParameter, match=text.split("=", maxsplit=1)[0]):
        Model.parse(f"logistic:{text}")
