"""The hashed model as a model like others: a slot at a time, rows in fixed columns."""

import numpy as np
import pytest
from models.contexts import dense, drawn_counts, one_hot, rewards_for, sample_of

from giro import BadParameter, Policy, simulate
from giro.kernels.hashed import LARGEST
from giro.model import Sample, partial_fit, refit, start, value
from giro.models.hashed import Hashed
from giro.seeds import stream


def test_taking_in_row_by_row_is_a_refit_to_all() -> None:
    X, rng = dense(60, 4, 0), stream(1)
    whole = sample_of(X, rewards_for(X, 0), drawn_counts(60, 0))
    state = start(Hashed(), 2, 4, 60, rng)
    other = start(Hashed(), 2, 4, 60, rng)
    for each in (state, other):
        each.table.weights[:, LARGEST] = 10.0  # does not grow on the way
    for n in range(1, 61):
        partial_fit(state, 1, Sample(whole.rows, whole.positions[:n], whole.counts[:n]), rng)
    for _ in range(2):  # the second begins anew
        refit(other, 1, whole, rng)
    values = [[value(each, 1, x) for x in X] for each in (state, other)]
    np.testing.assert_array_equal(values[0], values[1])
    assert [value(state, 0, x) for x in X] == [1.0] * 60  # another slot has other columns


def test_what_is_linear_is_learned() -> None:
    X, rng = one_hot(4000, 0), stream(2)
    scores = X @ np.linspace(-1.0, 1.0, X.shape[1])
    rewards = (scores - scores.min()) / np.ptp(scores)
    counts = np.zeros((len(X), 3), np.int32)
    counts[:, 0] = 1
    state = start(Hashed(), 1, X.shape[1], len(X), rng)
    refit(state, 0, sample_of(X, rewards, counts), rng)
    errors = [value(state, 0, x) - reward for x, reward in zip(X, rewards, strict=True)]
    assert np.abs(errors).mean() < 0.2 * np.abs(rewards - rewards.mean()).mean()


def test_a_table_too_small_still_plays() -> None:
    trace = simulate(
        "giro-ensemble:model=[hashed:bits=1],replicas=3",
        "linear:n_arms=3,dimension=4",
        rounds=50,
        runs=1,
        seed=0,
    )
    assert trace.regret[0, -1] >= 0.0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("hashed:bits=0", "bits from 1 to 30"),
        ("hashed:bits=31", "bits from 1 to 30"),
        ("hashed:bits=2.5", "a whole number"),
        ("hashed:rate=0", "rate > 0"),
        ("hashed:offset=2", "offset in"),
    ],
)
def test_bad_parameters_are_refused(text: str, problem: str) -> None:
    with pytest.raises(BadParameter, match=problem):
        Policy.parse(f"squarecb:model=[{text}]")
