"""Online Newton steps and their projection, against a solver of the definition."""

import numpy as np
import pytest
from policies.online_newton_twin import literal_step

from giro.policies._online_newton import newton_step
from giro.seeds import stream


@pytest.mark.parametrize("norm", [1e-3, 0.5, 100.0])
@pytest.mark.parametrize("stretch", [1.0, 1e3])
def test_a_step_ends_at_the_nearest_point_of_the_ball(
    norm: float, stretch: float, seed: int
) -> None:
    rng = stream(seed)
    for _ in range(20):
        x, theta = rng.normal(size=5), rng.normal(size=5)
        theta *= norm * rng.random() / np.linalg.norm(theta)
        rows = rng.normal(size=(9, 5)) * [stretch, 1, 1, 1, 1 / stretch]
        metric, slope = np.eye(5) + rows.T @ rows, 9 * rng.normal()
        wanted = literal_step(theta, metric, slope * x, norm)
        factor = np.ascontiguousarray(np.linalg.cholesky(metric).T)
        width = newton_step(factor, theta, x, slope, norm)
        assert theta == pytest.approx(wanted, rel=1e-6, abs=1e-9 * norm)
        assert np.linalg.norm(theta) <= norm * (1 + 1e-9)
        assert width == pytest.approx(x @ np.linalg.solve(metric, x))


def test_a_step_in_the_metric_of_lengths_is_no_projection_in_another(seed: int) -> None:
    rng = stream(seed)
    rows, x, theta = rng.normal(size=(9, 3)) * [9, 1, 1], rng.normal(size=3), np.zeros(3)
    metric = np.eye(3) + rows.T @ rows
    newton_step(np.ascontiguousarray(np.linalg.cholesky(metric).T), theta, x, 5.0, 1e-3)
    shortened = -np.linalg.solve(metric, x)
    assert np.linalg.norm(theta - 1e-3 * shortened / np.linalg.norm(shortened)) > 1e-5
