"""The network against a plain NumPy one, step by step."""

from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pytest
from laws import assert_follows, assert_follows_cdf
from scipy import stats

from giro.compiling.lanes import LANES
from giro.errors import BadParameter
from giro.kernels.draws.uniform import shuffle
from giro.kernels.giro.pseudo_rewards import draw_counts
from giro.kernels.network import (
    LARGEST,
    NetworkWeights,
    descend,
    entries_of,
    network_at,
    train,
)
from giro.kernels.regression.rows import Rows, append_row, empty_rows, is_sparse, positions_of
from giro.model import Sample
from giro.models.network import Network
from giro.seeds import stream

# -- the twin ----------------------------------------------------------------------------------


class Twin:
    """A network in plain NumPy."""

    def __init__(self, weights: NetworkWeights, hidden: int) -> None:
        width = weights.output.size
        self.w = weights.hidden.reshape(-1, width)[:, :hidden].copy()
        self.v = weights.output[:hidden].copy()
        self.b = weights.bias[0]

    def score(self, x: np.ndarray) -> np.ndarray:
        return np.maximum(x @ self.w, 0.0) @ self.v + self.b

    def loss(self, x: np.ndarray, y: np.ndarray) -> float:
        """Return the mean cross-entropy, -y log p - (1 - y) log(1 - p)."""
        s = self.score(x)
        return float(np.mean(np.logaddexp(0.0, s) - y * s))

    def step(self, x: np.ndarray, y: np.ndarray, rate: float) -> None:
        """Descend once along the mean gradient."""
        sums = x @ self.w
        error = (1.0 / (1.0 + np.exp(-self.score(x))) - y) / len(y)
        hidden_error = np.outer(error, self.v) * (sums > 0.0)
        self.v = self.v - rate * np.maximum(sums, 0.0).T @ error
        self.b = self.b - rate * error.sum()
        self.w = self.w - rate * x.T @ hidden_error

    def learn(
        self, rows: Rows, entries: np.ndarray, *, batch: int = 32, rate: float = 0.01
    ) -> None:
        """Go once through the entries."""
        x, y = expanded(rows, entries)
        for i in range(0, len(y), batch):
            self.step(x[i : i + batch], y[i : i + batch], rate)

    def assert_equals(self, weights: NetworkWeights) -> None:
        hidden, width = self.v.size, weights.output.size
        kept = weights.hidden.reshape(-1, width)
        np.testing.assert_allclose(kept[:, :hidden], self.w, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(weights.output[:hidden], self.v, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(weights.bias[0], self.b, rtol=1e-10, atol=1e-10)
        assert not kept[:, hidden:].any() and not weights.output[hidden:].any()  # idle


def expanded(rows: Rows, entries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return contexts and targets of the entries."""
    row, kind = entries // 4, entries % 4
    return rows.contexts[row], np.choose(kind, [rows.rewards[row], 1.0, 0.0])


# -- histories ---------------------------------------------------------------------------------


def rows_of(contexts: np.ndarray, rewards: np.ndarray) -> Rows:
    rows = empty_rows(1, contexts.shape[1], len(rewards))
    for x, reward in zip(contexts, rewards, strict=True):
        append_row(rows, x, 0, reward)
    return rows


def sample_of(rows: Rows, counts: np.ndarray) -> Sample:
    return Sample(rows, positions_of(rows, 0), np.asarray(counts, np.int32))


def taken_once(rows: Rows) -> Sample:
    """Each row with its reward, and no pseudo rewards."""
    return sample_of(rows, np.tile([1, 0, 0], (rows.filled[0], 1)))


def resampled(rows: Rows, rng: np.random.Generator) -> Sample:
    counts = np.empty((rows.filled[0], 3), np.int32)
    draw_counts(counts, 1.0, rng)
    return sample_of(rows, counts)


def numbers(n: int, rng: np.random.Generator) -> Rows:
    """Rows in which every entry differs from the others, but for the constant."""
    x = np.column_stack([rng.normal(size=(n, 8)), np.ones(n)])
    return rows_of(x, rng.random(n))


def categories(n: int, rng: np.random.Generator) -> Rows:
    """Rows that are mostly alike: one number, one of 30 categories standardised, the constant."""
    x = np.eye(30)[rng.integers(30, size=n)]
    x = (x - x.mean(axis=0)) / (x.std(axis=0) + 0.01)
    return rows_of(np.column_stack([rng.normal(size=n), x, np.ones(n)]), 1.0 * (x[:, 0] > 0))


@pytest.fixture(params=[numbers, categories])
def rows(request: pytest.FixtureRequest, seed: int) -> Iterator[Rows]:
    made = request.param(150, stream(seed, 0))
    assert is_sparse(made) == (request.param is categories)
    yield made


def weights_of(state, slot: int = 0) -> NetworkWeights:
    return network_at(state.networks, slot)


def begun(rows: Rows, rng: np.random.Generator, **parameters):
    return Network(**parameters).start(1, rows.base.size, 0, rng)


def values(state, contexts: np.ndarray) -> np.ndarray:
    return np.array([Network.value(state, 0, x) for x in contexts])


# -- steps -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hidden", "batch"), [(10, 32), (1, 7), (16, 1), (40, 33), (10, 10_000)], ids=str
)
def test_passes_give_the_weights_of_a_numpy_network(
    rows: Rows, hidden: int, batch: int, seed: int
) -> None:
    rng = stream(seed, 1)
    state = begun(rows, rng, hidden=hidden, batch=batch)
    weights = weights_of(state)
    twin = Twin(weights, hidden)
    for _ in range(3):
        sample = resampled(rows, rng)
        entries = entries_of(sample.positions, sample.counts)
        shuffle(entries, rng)
        descend(weights, state.workspace, rows, entries, 0.05)
        twin.learn(rows, entries, batch=batch, rate=0.05)
    twin.assert_equals(weights)


def test_a_step_follows_the_slope_of_the_cross_entropy(rows: Rows, seed: int) -> None:
    rng = stream(seed, 1)
    state = begun(rows, rng, batch=1000)
    weights = weights_of(state)
    twin, x, y = Twin(weights, 10), *expanded(rows, 4 * np.arange(150))
    before = [array.copy() for array in (twin.w, twin.v)]
    descend(weights, state.workspace, rows, entries_of(*taken_once(rows)[1:3]), 1.0)
    for array, old, new in zip(
        (twin.w, twin.v),
        before,
        (weights.hidden.reshape(-1, LANES)[:, :10], weights.output[:10]),
        strict=True,
    ):
        for place in np.ndindex(*array.shape):
            array[place] = old[place] + 1e-6
            above = twin.loss(x, y)
            array[place] = old[place] - 1e-6
            slope = (above - twin.loss(x, y)) / 2e-6
            array[place] = old[place]
            assert old[place] - new[place] == pytest.approx(slope, abs=1e-7)


def test_refitting_goes_on_from_the_last_weights_in_a_new_order(rows: Rows, seed: int) -> None:
    state = begun(rows, stream(seed, 1), passes=2)
    twin, ours, theirs = Twin(weights_of(state), 10), stream(seed, 2), stream(seed, 2)
    for fit in range(2):
        sample = resampled(rows, stream(seed, 3, fit))
        [Network.refit, Network.partial_fit][fit](state, 0, sample, ours)
        entries = entries_of(sample.positions, sample.counts)
        for _ in range(2):
            shuffle(entries, theirs)
            twin.learn(rows, entries)
    twin.assert_equals(weights_of(state))


def test_slots_do_not_touch_each_other(rows: Rows, seed: int) -> None:
    state = Network().start(3, rows.base.size, 0, stream(seed, 1))
    before = [array.copy() for array in state.networks]
    Network.refit(state, 1, taken_once(rows), stream(seed, 2))
    for old, new in zip(before, state.networks, strict=True):
        assert np.array_equal(old[[0, 2]], new[[0, 2]]) and not np.array_equal(old[1], new[1])


def test_training_alone_is_what_a_refit_does(rows: Rows, seed: int) -> None:
    state, other = (begun(rows, stream(seed, 1), passes=3) for _ in range(2))
    sample = taken_once(rows)
    Network.refit(state, 0, sample, stream(seed, 2))
    entries = entries_of(sample.positions, sample.counts)
    train(weights_of(other), other.workspace, rows, entries, (0.01, 3), stream(seed, 2))
    assert np.array_equal(state.networks.hidden, other.networks.hidden)


# -- order and beginning -----------------------------------------------------------------------


def test_entries_are_the_rows_as_often_as_they_were_drawn() -> None:
    counts = np.array([[0, 0, 3], [2, 0, 0], [0, 0, 0], [1, 5, 1]], np.int32)
    entries = entries_of(np.array([2, 3, 5, 8]), counts).tolist()
    assert entries == [10, 10, 10, 12, 12, 32, 33, 33, 33, 33, 33, 34]


def test_every_order_of_entries_is_equally_likely(seed: int) -> None:
    which = {order: i for i, order in enumerate(permutations(range(4)))}
    rng, orders = stream(seed), []
    for _ in range(20_000):
        entries = np.arange(4, dtype=np.int32)
        shuffle(entries, rng)
        orders.append(which[tuple(entries.tolist())])
    assert_follows(orders, [1 / 24] * 24)


def test_weights_begin_as_glorot_and_bengio_say(seed: int) -> None:
    state = Network(hidden=10).start(200, 55, 0, stream(seed))
    hidden = state.networks.hidden.reshape(200, 55, LANES)
    inner, outer = (6 / 65) ** 0.5, (6 / 11) ** 0.5
    assert_follows_cdf(hidden[:, :, :10].ravel(), stats.uniform(-inner, 2 * inner).cdf)
    assert_follows_cdf(state.networks.output[:, :10].ravel(), stats.uniform(-outer, 2 * outer).cdf)
    assert (
        not hidden[:, :, 10:].any()
        and not state.networks.output[:, 10:].any()
        and not state.networks.bias.any()
    )


# -- unusual histories -------------------------------------------------------------------------


def test_value_is_the_numpy_networks_output(rows: Rows, seed: int) -> None:
    state = begun(rows, stream(seed, 1), hidden=20)
    Network.refit(state, 0, taken_once(rows), stream(seed, 2))
    x = rows.contexts[:20]
    wanted = 1 / (1 + np.exp(-Twin(weights_of(state), 20).score(x)))
    np.testing.assert_allclose(values(state, x), wanted, rtol=1e-12)


@pytest.mark.parametrize("reward", [0.0, 0.3, 1.0])
def test_equal_rewards_are_learned(rows: Rows, reward: float, seed: int) -> None:
    rows.rewards[:] = reward
    state = begun(rows, stream(seed, 1), passes=1000)
    Network.refit(state, 0, taken_once(rows), stream(seed, 2))
    assert np.mean(np.abs(values(state, rows.contexts) - reward)) < 0.05


def test_one_row_of_one_feature_is_learned(seed: int) -> None:
    rows = rows_of(np.ones((1, 1)), np.array([0.25]))
    state = begun(rows, stream(seed, 1), passes=20_000)
    Network.refit(state, 0, taken_once(rows), stream(seed, 2))
    assert values(state, np.ones((1, 1)))[0] == pytest.approx(0.25, abs=1e-3)


def test_nothing_drawn_changes_nothing(rows: Rows, seed: int) -> None:
    state = begun(rows, stream(seed, 1))
    before = state.networks.hidden.copy()
    Network.refit(state, 0, sample_of(rows, np.zeros((150, 3))), stream(seed, 2))
    assert np.array_equal(state.networks.hidden, before)


@pytest.mark.parametrize("size", [200.0, 1e6])
def test_weights_stay_finite_where_descent_goes_astray(size: float, seed: int) -> None:
    rng = stream(seed, 1)
    x = np.column_stack([size * rng.choice([-1.0, 1.0], (40, 4)), np.ones(40)])
    rows = rows_of(x, 1.0 * (rng.random(40) < 0.5))
    state = begun(rows, rng, batch=1)
    twin = Twin(weights_of(state), 10)
    for _ in range(100):
        sample = resampled(rows, rng)
        Network.refit(state, 0, sample, rng)
        with np.errstate(all="ignore"):
            twin.learn(rows, entries_of(sample.positions, sample.counts), batch=1)
    for array in state.networks:
        assert np.isfinite(array).all() and np.abs(array).max() <= LARGEST
    assert ((values(state, x) >= 0.0) & (values(state, x) <= 1.0)).all()
    if size == 1e6:  # what would have happened
        assert not np.isfinite(twin.w).all()


def test_a_network_learns_what_a_linear_model_cannot(seed: int) -> None:
    rng = stream(seed, 1)
    x = np.column_stack([rng.choice([-1.0, 1.0], (400, 2)), np.ones(400)])
    rows = rows_of(x, 1.0 * (x[:, 0] * x[:, 1] > 0))
    state = begun(rows, rng, passes=300)
    Network.refit(state, 0, taken_once(rows), rng)
    linear = x @ np.linalg.lstsq(x, rows.rewards)[0]
    assert np.mean((linear - rows.rewards) ** 2) > 0.2
    assert np.mean((values(state, x) - rows.rewards) ** 2) < 0.1


@pytest.mark.parametrize(
    "text", ["hidden=0", "batch=0", "passes=0", "rate=0", "rate=-1", "rate=inf", "hidden=2.5"]
)
def test_bad_parameters_are_refused(text: str) -> None:
    with pytest.raises(BadParameter, match=text.partition("=")[0]):
        Network.parse(f"network:{text}")


# -- lanes -------------------------------------------------------------------------------------
