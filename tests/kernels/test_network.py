"""Steps by Adam against plain NumPy."""

import numpy as np
import pytest
from kernels.plain_adam import PlainAdam
from models.contexts import dense, one_hot, rows_of

from giro.kernels.network import (
    LARGEST,
    AdamMoments,
    NetworkWeights,
    Pace,
    Workspace,
    aligned_zeros,
    empty_workspace,
    take_adam_step,
    width_of,
)
from giro.kernels.regression.rows import Rows, is_sparse
from giro.seeds import stream

HIDDEN, BATCH = 11, 9  # some units and, with odd batches, some places are idle


@pytest.fixture(params=["dense", "one-hot"])
def rows(request: pytest.FixtureRequest, seed: int) -> Rows:
    contexts = dense(80, 6, seed) if request.param == "dense" else one_hot(80, seed)
    made = rows_of(contexts, stream(seed, 3).random(80))
    assert is_sparse(made) == (request.param == "one-hot")
    return made


def zeros(d: int) -> NetworkWeights:
    width = width_of(HIDDEN)
    return NetworkWeights(aligned_zeros(1, d * width)[0], aligned_zeros(1, width)[0], np.zeros(1))


def drawn(d: int, rng: np.random.Generator) -> NetworkWeights:
    weights = zeros(d)
    weights.hidden.reshape(d, -1)[:, :HIDDEN] = rng.normal(size=(d, HIDDEN)) / np.sqrt(d)
    weights.output[:HIDDEN] = rng.normal(size=HIDDEN)
    weights.bias[0] = rng.normal()
    return weights


def begun(d: int) -> tuple[AdamMoments, Workspace]:
    return AdamMoments(zeros(d), zeros(d), np.ones(2)), empty_workspace(d, width_of(HIDDEN), BATCH)


def some_entries(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return rows with their own rewards and with pseudo rewards."""
    return (4 * rng.integers(80, size=size) + rng.integers(3, size=size)).astype(np.int32)


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_steps_are_those_of_plain_numpy(rows: Rows, decay: float, seed: int) -> None:
    rng, d = stream(seed, 1), rows.base.size
    network = drawn(d, rng)
    twin = PlainAdam(network, HIDDEN, rate=0.05, decay=decay)
    moments, workspace = begun(d)
    for size in (BATCH, 1, 8, 5, BATCH, 2, 7, BATCH):
        entries = some_entries(rng, size)
        take_adam_step(network, moments, workspace, rows, entries, Pace(0.05, decay))
        twin.learn(rows, entries)
        twin.assert_equals(network)


def test_the_twin_descends_the_loss(rows: Rows, seed: int) -> None:
    twin = PlainAdam(drawn(rows.base.size, stream(seed, 1)), HIDDEN, rate=0.1, decay=0.3)
    x, y = rows.contexts[:20], rows.rewards[:20]

    def loss() -> float:
        s = twin.score(x)
        length = sum(np.sum(array**2) for array in twin.weights)
        return float(np.mean(np.logaddexp(0.0, s) - y * s) + 0.15 * length)

    for array, slopes in zip(twin.weights, twin.slopes(x, y), strict=True):
        for place in np.ndindex(*array.shape):
            old = array[place]
            array[place] = old + 1e-6
            above = loss()
            array[place] = old - 1e-6
            slope = (above - loss()) / 2e-6
            array[place] = old
            assert slopes[place] == pytest.approx(slope, abs=1e-7)


def test_nothing_is_left_in_the_workspace(rows: Rows, seed: int) -> None:
    rng, d = stream(seed, 1), rows.base.size
    first = drawn(d, rng)
    second = NetworkWeights(*(array.copy() for array in first))
    (moments, used), (others, _) = begun(d), begun(d)
    for size in (BATCH, 3, 8):
        entries = some_entries(rng, size)
        take_adam_step(first, moments, used, rows, entries, Pace(0.05, 0.1))
        take_adam_step(second, others, begun(d)[1], rows, entries, Pace(0.05, 0.1))
        assert not used.hidden.any()
    for array, other in zip(first, second, strict=True):
        assert np.array_equal(array, other)


def test_weights_are_held_within_bounds(rows: Rows, seed: int) -> None:
    rng, d = stream(seed, 1), rows.base.size
    network = drawn(d, rng)
    moments, workspace = begun(d)
    for _ in range(30):
        entries = some_entries(rng, BATCH)
        take_adam_step(network, moments, workspace, rows, entries, Pace(1e60, 0.1))
    assert max(np.abs(array).max() for array in network) == LARGEST  # NaN would not be equal
