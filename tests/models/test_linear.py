"""The linear model against scikit-learn's ridge regression."""

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
from sklearn.linear_model import Ridge

from giro.errors import BadParameter
from giro.kernels.regression.rows import positions_of
from giro.model import Model, Sample
from giro.models.linear import Linear, _partial_fit, _refit, _value
from giro.seeds import stream


def twin(X: np.ndarray, rewards: np.ndarray, counts: np.ndarray, penalty: float) -> Ridge:
    """Return scikit-learn's fit to each row with its reward, with 1 and with 0."""
    model = Ridge(alpha=penalty, fit_intercept=False, solver="cholesky")
    targets = np.concatenate([rewards, np.ones(len(X)), np.zeros(len(X))])
    return model.fit(np.vstack([X, X, X]), targets, np.asarray(counts, float).T.ravel())


@pytest.mark.parametrize("kind", [dense, one_hot])
@pytest.mark.parametrize("penalty", [1.0, 0.01, 50.0])
def test_refit_is_scikit_learns_ridge(kind, penalty: float, seed: int) -> None:
    X = dense(300, 7, seed) if kind is dense else one_hot(400, seed)
    rewards, counts = stream(seed).random(len(X)), drawn_counts(len(X), seed)
    state = Linear(penalty=penalty).start(2, X.shape[1], 10, stream(seed))
    _refit(state, 1, sample_of(X, rewards, counts), stream(seed))
    theirs = twin(X, rewards, counts, penalty)
    assert state.theta[1] == pytest.approx(theirs.coef_, rel=1e-9, abs=1e-9)
    values = [_value(state, 1, x) for x in X]
    assert values == pytest.approx(theirs.predict(X), rel=1e-9, abs=1e-9)
    assert np.all(state.theta[0] == 0.0)  # the other slot


def test_taking_in_row_after_row_is_fitting_them_all(seed: int) -> None:
    X = one_hot(200, seed)
    rewards, counts = rewards_for(X, seed), drawn_counts(200, seed)
    rows = rows_of(X, rewards)
    state = Linear().start(1, X.shape[1], 200, stream(seed))
    for n in range(1, 201):
        _partial_fit(state, 0, Sample(rows, positions_of(rows, 0)[:n], counts[:n]), stream(seed))
        if n in (1, 3, 50, 200):
            values = [_value(state, 0, x) for x in X]
            theirs = twin(X[:n], rewards[:n], counts[:n], 1.0).predict(X)
            assert values == pytest.approx(theirs, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("rewards", ["all 0", "all 1", "mixed"])
@pytest.mark.parametrize("kind", hard_contexts(0))
def test_hard_inputs_are_fitted_as_scikit_learn_fits_them(
    kind: str, rewards: str, seed: int
) -> None:
    X = hard_contexts(seed)[kind]
    y = {"all 0": np.zeros(len(X)), "all 1": np.ones(len(X)), "mixed": rewards_for(X, seed)}
    counts = drawn_counts(len(X), seed)
    state = Linear().start(1, X.shape[1], 10, stream(seed))
    _refit(state, 0, sample_of(X, y[rewards], counts), stream(seed))
    values = [_value(state, 0, x) for x in X]
    assert values == pytest.approx(twin(X, y[rewards], counts, 1.0).predict(X), abs=1e-6)


@pytest.mark.parametrize("penalty", ["0", "-1", "inf"])
def test_a_penalty_out_of_range_is_refused(penalty: str) -> None:
    with pytest.raises(BadParameter, match="penalty"):
        Model.parse(f"linear:penalty={penalty}")
