"""Logistic fits: where they begin, and how many passes they take."""

import numpy as np
import pytest
from models.contexts import one_hot, rewards_for, rows_of

from giro.kernels.giro.pseudo_rewards import draw_counts, weights_and_totals
from giro.kernels.regression.logistic import fit_logistic, no_curvature
from giro.kernels.regression.rows import positions_of
from giro.seeds import stream


def test_where_the_fit_begins_does_not_matter(seed: int) -> None:
    X, rng = one_hot(300, seed), stream(seed)
    rows = rows_of(X, rewards_for(X, seed))
    positions, weight = positions_of(rows, 0), rng.poisson(3.0, 300).astype(float)
    total = weight * rng.random(300)
    thetas: list[np.ndarray] = [
        np.zeros(X.shape[1]),
        rng.normal(size=(X.shape[1],)),
        np.full(X.shape[1], 50.0),
    ]
    for theta in thetas:
        curvature = no_curvature(theta.size)
        assert fit_logistic(rows, positions, weight, total, 1.0, 1e-7, theta, curvature) < 40
    assert thetas[1] == pytest.approx(thetas[0], abs=1e-7)
    assert thetas[2] == pytest.approx(thetas[0], abs=1e-7)


def test_warm_fits_take_few_passes_over_rare_categories(seed: int) -> None:
    X, rng, passes = one_hot(1000, seed), stream(seed), []
    rows = rows_of(X, rewards_for(X, seed))
    positions, counts = positions_of(rows, 0), np.empty((1000, 3), np.int32)
    theta, curvature = np.zeros(X.shape[1]), no_curvature(X.shape[1])
    for _ in range(20):
        draw_counts(counts, 1.0, rng)
        weight, total = weights_and_totals(counts, rows.rewards, positions)
        passes.append(fit_logistic(rows, positions, weight, total, 1.0, 1e-4, theta, curvature))
    assert np.mean(passes) < 9
