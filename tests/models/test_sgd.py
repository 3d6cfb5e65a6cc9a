"""Linear models by stochastic gradient against scikit-learn's."""

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
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier, SGDRegressor

from giro.compiling import plain
from giro.errors import BadParameter
from giro.kernels.draws.uniform import shuffled
from giro.kernels.giro.pseudo_rewards import REAL
from giro.model import Model
from giro.models import sgd
from giro.models.sgd import Descent, SgdEntries, sgd_descend, sgd_entries
from giro.seeds import stream

TWINS = {
    False: SGDRegressor(fit_intercept=False, shuffle=False, warm_start=True),
    True: SGDClassifier(loss="log_loss", fit_intercept=False, shuffle=False, warm_start=True),
}
NAMES = ("linear-sgd", "logistic-sgd")


def each_once(X: np.ndarray, y: np.ndarray) -> SgdEntries:
    counts = np.zeros((len(X), 3), np.int32)
    counts[:, REAL] = 1
    return sgd_entries(rows_of(X, y), np.arange(len(X)), counts)


@pytest.mark.parametrize("kind", [dense, one_hot])
@pytest.mark.parametrize("logistic", [False, True])
@pytest.mark.parametrize("penalty", [1e-4, 0.5])  # with the second, θ is scaled anew often
def test_fits_are_scikit_learns_if_nothing_is_shuffled(
    penalty: float, logistic: bool, kind, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = dense(150, 5, seed) if kind is dense else 0.2 * one_hot(150, seed)
    theta, twin = np.zeros(X.shape[1]), clone(TWINS[logistic]).set_params(alpha=penalty)
    monkeypatch.setattr(sgd, "shuffled", lambda n, rng: np.arange(n))
    for again in range(3):  # the second and third begin where the one before ended
        y = rewards_for(X, seed + again)
        twin.fit(X, y)
        entries = each_once(X, y)
        passes = plain(sgd_descend)(Descent(logistic, penalty, 1e-3), entries, theta, stream(seed))
        assert passes == twin.n_iter_
        assert theta == pytest.approx(twin.coef_.ravel(), rel=1e-9, abs=1e-9)


def test_every_pass_has_an_order_of_its_own(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    orders: list[np.ndarray] = []

    def spy(n: int, rng: np.random.Generator) -> np.ndarray:
        orders.append(shuffled(n, rng))
        return orders[-1]

    monkeypatch.setattr(sgd, "shuffled", spy)
    X = dense(30, 3, seed)
    entries = each_once(X, rewards_for(X, seed))
    passes = plain(sgd_descend)(Descent(True, 1e-4, 1e-3), entries, np.zeros(3), stream(seed))
    assert len({tuple(order) for order in orders}) == passes > 1
    assert all(sorted(order) == list(range(30)) for order in orders)


def test_a_row_is_an_entry_as_often_as_it_was_drawn() -> None:
    X = np.arange(8.0).reshape(4, 2)
    counts = np.array([[1, 2, 0], [0, 0, 0], [0, 0, 1], [3, 1, 1]], np.int32)
    sample = sample_of(X, np.array([0.25, 1.0, 1.0, 0.5]), counts)
    entries = sgd_entries(sample.rows, sample.positions, sample.counts)
    assert entries.row.tolist() == [0, 0, 0, 2, 3, 3, 3, 3, 3]
    assert entries.target.tolist() == [0.25, 1.0, 1.0, 0.0, 0.5, 0.5, 0.5, 1.0, 0.0]


@pytest.mark.parametrize("rewards", ["all 0", "all 1", "mixed"])
@pytest.mark.parametrize("kind", hard_contexts(0))
@pytest.mark.parametrize("name", NAMES)
def test_hard_inputs_have_finite_predictions(name: str, kind: str, rewards: str, seed: int) -> None:
    X = hard_contexts(seed)[kind]
    y = {"all 0": np.zeros(len(X)), "all 1": np.ones(len(X)), "mixed": rewards_for(X, seed)}
    sample = sample_of(X, y[rewards], drawn_counts(len(X), seed))
    model = Model.parse(name)
    state = model.start(1, X.shape[1], 10, stream(seed))
    for _ in range(2):
        model.refit(state, 0, sample, stream(seed))
    values = np.array([model.value(state, 0, x) for x in X])
    assert np.all(np.isfinite(values))
    if name == "logistic-sgd":
        assert np.all((values >= 0.0) & (values <= 1.0))


def test_a_descent_that_diverges_ends_at_zero(seed: int) -> None:
    X = 500.0 * dense(50, 4, seed)
    entries, theta = each_once(X, rewards_for(X, seed)), np.full(4, 0.5)
    sgd_descend(Descent(False, 1e-4, 1e-3), entries, theta, stream(seed))
    assert theta.tolist() == [0.0] * 4


def test_nothing_drawn_leaves_the_fit_as_it_was(seed: int) -> None:
    rows = rows_of(dense(5, 3, seed), np.ones(5))
    entries = sgd_entries(rows, np.arange(5), np.zeros((5, 3), np.int32))
    theta = np.array([1.0, -2.0, 3.0])
    sgd_descend(Descent(True, 1e-4, 1e-3), entries, theta, stream(seed))
    assert theta.tolist() == [1.0, -2.0, 3.0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("parameter", ["penalty", "tolerance"])
def test_parameters_out_of_range_are_refused(name: str, parameter: str) -> None:
    with pytest.raises(BadParameter, match=f"{name} needs a finite {parameter} > 0"):
        Model.parse(f"{name}:{parameter}=0")
