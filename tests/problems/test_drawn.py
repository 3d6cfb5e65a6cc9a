"""Drawn contexts and parameters: points of a sphere."""

import math

import numpy as np
import pytest
from laws import assert_follows_cdf
from scipy import stats

from giro import BadParameter
from giro.problem import reveal, start
from giro.problems.linear import Linear
from giro.seeds import stream


def test_contexts_are_uniform_on_the_sphere(seed: int) -> None:
    instance, rng = start(Linear(dimension=3), stream(seed)), stream(seed, 1)
    contexts = np.array([reveal(instance, t, rng)[0].context.copy() for t in range(3_000)])
    assert np.allclose(np.linalg.norm(contexts, axis=1), 1.0)
    for j in range(3):  # Archimedes: each coordinate of a point of the sphere is uniform
        assert_follows_cdf(contexts[:, j], stats.uniform(-1, 2).cdf)
    signs = np.sign(contexts[:, 0] * contexts[:, 1])
    assert abs(signs.sum()) < 5 * math.sqrt(signs.size)


def test_parameters_are_uniform_on_a_sphere_and_drawn_anew_in_each_run(seed: int) -> None:
    problem = Linear(n_arms=3, dimension=2)
    thetas = np.array([start(problem, stream(seed, run)).drawn.theta for run in range(1_000)])
    radius = 1 / math.sqrt(8)
    assert np.allclose(np.linalg.norm(thetas, axis=2), radius)
    for j in range(3):
        assert_follows_cdf(thetas[:, 0, j], stats.uniform(-radius, 2 * radius).cdf)


def test_a_round_writes_where_the_last_one_did(seed: int) -> None:
    instance, rng = start(Linear(), stream(seed)), stream(seed, 1)
    first, second = reveal(instance, 0, rng), reveal(instance, 1, rng)
    assert np.shares_memory(first[0].context, second[0].context)
    assert np.shares_memory(first[1], second[1])


def test_a_dimension_that_is_no_whole_number_is_refused_from_python_too() -> None:
    with pytest.raises(BadParameter, match=r"whole number dimension >= 1, got dimension=1\.5"):
        Linear(dimension=1.5)  # type: ignore[arg-type]
