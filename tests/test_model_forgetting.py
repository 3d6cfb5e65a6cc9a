"""What still counts of a sample, for the models that learn from it."""

import numpy as np
from laws import assert_follows
from models.contexts import dense, drawn_counts, rows_of
from scipy.stats import binom

from giro.kernels.memory import HalfLife, Memory, Window, empty_window, half_life_memory, note_row
from giro.kernels.memory import exchange as learn_one
from giro.kernels.regression.rows import positions_of
from giro.model import Sample, faded_counts, recent, recent_rows, whole_counts
from giro.seeds import stream

ROWS, OTHERS = 60, 3  # between two rows of the sample come rewards of other arms
AGES = (1 + OTHERS) * np.arange(ROWS)[::-1]


def sample_with(memory: Memory, seed: int) -> Sample:
    """Return a sample whose rows came one after the other, with rewards of others between them."""
    X = dense(ROWS, 2, seed)
    for row in range(ROWS):
        for arm in [1] * OTHERS + [0]:
            learn_one(memory, arm, 0.5)
        note_row(memory, row)
    rows = rows_of(X, stream(seed).random(ROWS))
    return Sample(rows, positions_of(rows, 0), drawn_counts(ROWS, seed), memory=memory)


def a_half_life(half_life: float) -> HalfLife:
    return half_life_memory(half_life, kept=ROWS)


def a_window(size: int) -> Window:
    return empty_window(size, (1 + OTHERS) * ROWS, kept=ROWS)


def test_counts_fade_by_the_rewards_of_all_arms(seed: int) -> None:
    sample = sample_with(a_half_life(10.0), seed)
    wanted = sample.counts * 0.5 ** (AGES / 10.0)[:, None]
    np.testing.assert_allclose(faded_counts(sample), wanted, rtol=1e-12)


def test_rows_are_recent_while_they_are_in_the_window_or_count_at_all(seed: int) -> None:
    in_window = recent(sample_with(a_window(10), seed))
    assert in_window.positions.tolist() == np.flatnonzero(AGES < 10).tolist()
    np.testing.assert_array_equal(faded_counts(in_window), in_window.counts)
    in_reach = recent(sample_with(a_half_life(1.0), seed))
    assert in_reach.positions.tolist() == np.flatnonzero(AGES < 50).tolist()
    everything = sample_with(a_window(1_000), seed)
    assert recent(everything).positions.tolist() == list(range(ROWS))


def test_there_are_as_many_recent_rows_as_weights_amount_to(seed: int) -> None:
    sample = sample_with(a_half_life(40.0), seed)
    assert abs(recent_rows(sample) - (0.5 ** (AGES / 40.0)).sum()) < 1.0
    assert recent_rows(sample_with(a_window(12), seed)) == 3


def test_a_row_that_counts_a_quarter_is_drawn_a_quarter_of_the_time(seed: int) -> None:
    sample = sample_with(a_half_life(20.0), seed)
    row = int(np.flatnonzero(AGES == 40)[0])
    sample.counts[row] = 2, 0, 0
    rng = stream(seed, 5)
    drawn = [int(whole_counts(sample, rng)[row, 0]) for _ in range(2_000)]
    assert_follows(drawn, pmf=binom.pmf(np.arange(3), 2, 0.25))
