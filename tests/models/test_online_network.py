"""The online network against a plain NumPy one, the law of its draws, and what it learns."""

from typing import Any

import numpy as np
import pytest
from kernels.plain_adam import PlainAdam
from laws import assert_follows
from models.contexts import dense, drawn_counts

from giro.errors import BadParameter
from giro.kernels.draws.uniform import integer_below, shuffle
from giro.kernels.memory import empty_window, exchange, half_life_memory, note_row
from giro.kernels.network import NetworkWeights, entries_of
from giro.kernels.regression.rows import Rows, append_row, empty_rows, positions_of
from giro.model import Sample
from giro.models.online_network import OnlineNetwork
from giro.seeds import stream

SMALL = OnlineNetwork(hidden=5, copies=2, steps=3, batch=4, rate=0.05, decay=0.01)


def two_arms(contexts: np.ndarray, rewards: np.ndarray) -> Rows:
    """Return rows that arms 1 and 0 have in turn, so that an arm's rows are every second one."""
    rows = empty_rows(2, contexts.shape[1], len(contexts))
    for i, (context, reward) in enumerate(zip(contexts, rewards, strict=True)):
        append_row(rows, context, 1 - i % 2, float(reward))
    return rows


def sample_of_arm(rows: Rows, arm: int, n: int | None = None) -> Sample:
    """Return the arm's first n rows, each once."""
    positions = positions_of(rows, arm)[:n]
    counts = np.zeros((positions.size, 3), np.int32)
    counts[:, 0] = 1
    return Sample(rows, positions, counts)


def some_rows(n: int, seed: int) -> Rows:
    return two_arms(dense(n, 4, seed), stream(seed, 3).random(n))


def weights_of(state: Any, number: int) -> NetworkWeights:
    return NetworkWeights(*(array[number] for array in state.networks))


def started(model: OnlineNetwork, seed: int, *, slots: int = 2, d: int = 4) -> Any:
    return model.start(slots, d, 0, stream(seed, 1))


def twins(state: Any, slot: int) -> list[PlainAdam]:
    """Return a plain one for each of the slot's networks of SMALL."""
    numbers = range(slot * SMALL.copies, (slot + 1) * SMALL.copies)
    how = {"rate": SMALL.rate, "decay": SMALL.decay}
    return [PlainAdam(weights_of(state, number), SMALL.hidden, **how) for number in numbers]


def assert_equal(state: Any, slot: int, plain: list[PlainAdam]) -> None:
    for i, twin in enumerate(plain):
        twin.assert_equals(weights_of(state, slot * SMALL.copies + i))


def test_each_reward_takes_a_fixed_number_of_steps_at_the_newest_row_and_others(seed: int) -> None:
    rows, state = some_rows(24, seed), started(SMALL, seed)
    ours, theirs, plain = stream(seed, 2), stream(seed, 2), twins(state, 1)
    for n in range(1, 13):
        sample = sample_of_arm(rows, 1, n)
        OnlineNetwork.partial_fit(state, 1, sample, ours)
        for twin in plain:
            for _ in range(SMALL.steps):
                others = [integer_below(n, theirs) for _ in range(min(n, SMALL.batch) - 1)]
                twin.learn(rows, 4 * sample.positions[[n - 1, *others]])
        assert_equal(state, 1, plain)


def test_the_other_rows_of_a_step_are_drawn_uniformly_with_replacement(seed: int) -> None:
    model, rng, n, batch = OnlineNetwork(copies=1, steps=1, batch=7), stream(seed, 2), 9, 7
    sample, state = sample_of_arm(some_rows(2 * n, seed), 0), started(model, seed)
    drawn = []
    for _ in range(3_000):
        OnlineNetwork.partial_fit(state, 0, sample, rng)
        drawn.append(np.searchsorted(sample.positions, state.batch // 4))
        assert (state.batch % 4 == 0).all()  # its own reward
    of_step = np.array(drawn)
    assert (of_step[:, 0] == n - 1).all()
    assert_follows(of_step[:, 1:].ravel(), [1 / n] * n)
    different = np.array([np.unique(several).size for several in of_step[:, 1:]])
    assert_follows(different - 1, different_values(n, batch - 1))


def test_where_rewards_are_forgotten_the_other_rows_are_drawn_by_how_much_they_count(
    seed: int,
) -> None:
    model, rng, n = OnlineNetwork(copies=1, steps=1, batch=16), stream(seed, 2), 9
    fading, window = half_life_memory(3.0, kept=2 * n), empty_window(7, 2 * n, kept=2 * n)
    for row in range(2 * n):
        for memory in (fading, window):
            exchange(memory, 0, 0.5)
            note_row(memory, row)
    sample, state = sample_of_arm(some_rows(2 * n, seed), 0), started(model, seed)
    ages = sample.positions[-1] - sample.positions  # every other row, the last is the newest
    weights = 0.5 ** (ages / 3.0)
    laws = (fading, weights / weights.sum()), (window, (ages < 7) / (ages < 7).sum())
    for memory, law in laws:
        drawn = []
        for _ in range(1_000):
            OnlineNetwork.partial_fit(state, 0, sample._replace(memory=memory), rng)
            drawn.append(np.searchsorted(sample.positions, state.batch[1:n] // 4))
        assert_follows(np.array(drawn).ravel(), law)


def different_values(n: int, draws: int) -> np.ndarray:
    """Return the probabilities of 1, 2, ... different values among draws with replacement."""
    law = np.zeros(draws + 1)
    law[0] = 1.0
    for _ in range(draws):
        known = np.arange(draws + 1) / n
        law = law * known + np.append(0.0, (law * (1.0 - known))[:-1])
    return law[1:]


def test_a_refit_goes_once_through_the_sample_from_the_last_weights(seed: int) -> None:
    rows, state = some_rows(24, seed), started(SMALL, seed)
    ours, theirs, plain = stream(seed, 2), stream(seed, 2), twins(state, 1)
    for again in range(2):
        sample = Sample(rows, positions_of(rows, 1), drawn_counts(12, seed + again))
        OnlineNetwork.refit(state, 1, sample, ours)
        entries = entries_of(sample.positions, sample.counts)
        for twin in plain:
            shuffle(entries, theirs)
            for first in range(0, entries.size, SMALL.batch):
                twin.learn(rows, entries[first : first + SMALL.batch])
        assert_equal(state, 1, plain)


def test_the_mean_of_the_copies_is_expected(seed: int) -> None:
    rows, state = some_rows(40, seed), started(SMALL, seed)
    OnlineNetwork.refit(state, 1, sample_of_arm(rows, 1), stream(seed, 2))
    each = [twin.expected(rows.contexts) for twin in twins(state, 1)]
    found = [OnlineNetwork.value(state, 1, x) for x in rows.contexts]
    assert not np.allclose(each[0], each[1], atol=0.01)  # they begin and draw differently
    np.testing.assert_allclose(found, np.mean(each, axis=0), rtol=1e-12)


def test_slots_do_not_touch_each_other_and_begin_alike_however_many(seed: int) -> None:
    rows, state = some_rows(24, seed), started(SMALL, seed, slots=3)
    for array, fewer in zip(state.networks, started(SMALL, seed).networks, strict=True):
        assert np.array_equal(array[: 2 * SMALL.copies], fewer)
    parts = [*state.networks, *state.mean, *state.square, state.missing]
    before = [array.copy() for array in parts]
    OnlineNetwork.partial_fit(state, 1, sample_of_arm(rows, 1), stream(seed, 2))
    for old, new in zip(before, parts, strict=True):
        assert np.array_equal(old[[0, 1, 4, 5]], new[[0, 1, 4, 5]])
        assert not np.array_equal(old[2:4], new[2:4])


def test_it_learns_as_it_goes_what_a_linear_model_cannot(seed: int) -> None:
    rng, n = stream(seed, 4), 400
    x = np.column_stack([rng.choice([-1.0, 1.0], (n, 2)), np.ones((n, 2))])
    y = 1.0 * (x[:, 0] * x[:, 1] > 0)
    rows, errors = two_arms(np.repeat(x, 2, axis=0), np.repeat(y, 2)), []
    state = started(OnlineNetwork(), seed)
    for i in range(n):
        errors.append(OnlineNetwork.value(state, 1, x[i]) - y[i])
        OnlineNetwork.partial_fit(state, 1, sample_of_arm(rows, 1, i + 1), rng)
    assert np.mean((x @ np.linalg.lstsq(x, y)[0] - y) ** 2) > 0.2
    assert np.mean(np.square(errors[n // 2 :])) < 0.02


@pytest.mark.parametrize(
    "text", ["hidden=0", "copies=0", "steps=0", "batch=0", "rate=0", "rate=inf", "decay=-1"]
)
def test_bad_parameters_are_refused(text: str) -> None:
    with pytest.raises(BadParameter, match=f"online-network needs .*{text.partition('=')[0]}"):
        OnlineNetwork.parse(f"online-network:{text}")
