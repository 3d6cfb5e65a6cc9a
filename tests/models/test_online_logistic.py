"""Online logistic regression against direct solves."""

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
from scipy.special import expit

from giro.errors import BadParameter
from giro.kernels.memory import exchange, half_life_memory
from giro.model import Sample
from giro.models.online_logistic import OnlineLogistic
from giro.seeds import stream


def solved(X: np.ndarray, y: np.ndarray, counts: np.ndarray, penalty: float) -> np.ndarray:
    """Return θ after one Newton step for each row, A and all written out."""
    A, theta = penalty * np.eye(X.shape[1]), np.zeros(X.shape[1])
    for x, reward, (real, one, zero) in zip(X, y, counts, strict=True):
        p = expit(x @ theta)
        A = A + (real + one + zero) * p * (1 - p) * np.outer(x, x)
        slope = real * (reward - p) + one * (1 - p) + zero * (0 - p)
        theta = theta + np.linalg.solve(A, x) * slope
    return theta


def cases(seed: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    X, Z = dense(80, 5, seed), one_hot(80, seed)
    return {"dense": (X, rewards_for(X, seed)), "one-hot": (Z, stream(seed, 4).random(80))}


@pytest.mark.parametrize("penalty", [1.0, 0.1])
@pytest.mark.parametrize("kind", cases(0))
def test_a_refit_gives_the_coefficients_of_direct_solves(
    kind: str, penalty: float, seed: int
) -> None:
    X, y = cases(seed)[kind]
    state = OnlineLogistic(penalty=penalty).start(2, X.shape[1], 80, stream(seed))
    for again in range(2):  # begins anew each time
        counts = drawn_counts(80, seed + again)
        OnlineLogistic.refit(state, 1, sample_of(X, y, counts), stream(seed))
        wanted = solved(X, y, counts, penalty)
        np.testing.assert_allclose(state.theta[1], wanted, rtol=1e-10, atol=1e-10)
    found = [OnlineLogistic.value(state, 1, x) for x in X]
    np.testing.assert_allclose(found, expit(X @ wanted), rtol=1e-9)
    assert not state.theta[0].any()


def test_rows_are_taken_in_one_after_the_other_shown_all_or_only_the_last(seed: int) -> None:
    X, y = cases(seed)["dense"]
    counts = drawn_counts(80, seed)
    whole = sample_of(X, y, counts)
    refitted, shown_all, shown_one = (OnlineLogistic().start(1, 5, 80, stream(0)) for _ in range(3))
    OnlineLogistic.refit(refitted, 0, whole, stream(0))
    for n in range(1, 81):
        sample = Sample(whole.rows, whole.positions[:n], whole.counts[:n])
        OnlineLogistic.partial_fit(shown_all, 0, sample, stream(0))
        only = Sample(rows_of(X[n - 1 : n], y[n - 1 : n]), np.zeros(1, np.int64), counts[n - 1 : n])
        OnlineLogistic.partial_fit(shown_one, 0, only, stream(0))
    assert np.array_equal(shown_all.theta, refitted.theta)
    assert np.array_equal(shown_one.theta, refitted.theta)
    assert np.array_equal(shown_one.factor, refitted.factor)


def test_with_a_half_life_the_curvature_fades_but_not_its_penalty(seed: int) -> None:
    X, y = cases(seed)["dense"]
    counts, memory, penalty = drawn_counts(80, seed), half_life_memory(20.0), 0.7
    state, theta, others = (
        OnlineLogistic(penalty=penalty).start(1, 5, 80, stream(0)),
        np.zeros(5),
        3,
    )
    curvature = penalty * np.eye(5)
    for n in range(80):
        for _ in range(others + 1):  # rewards of other arms come in between
            exchange(memory, 0, y[n])
        only = Sample(rows_of(X[n : n + 1], y[n : n + 1]), np.zeros(1, np.int64), counts[n : n + 1])
        OnlineLogistic.partial_fit(state, 0, only._replace(memory=memory), stream(0))
        left = 0.5 ** ((others + 1) / 20.0)
        curvature = left * curvature + (1.0 - left) * penalty * np.eye(5)
        theta = theta - np.linalg.solve(curvature, (1.0 - left) * penalty * theta)
        w, p = counts[n].sum(), expit(X[n] @ theta)
        curvature = curvature + w * p * (1.0 - p) * np.outer(X[n], X[n])
        slope = counts[n, 0] * y[n] + counts[n, 1] - w * p
        theta = theta + np.linalg.solve(curvature, slope * X[n])
        np.testing.assert_allclose(state.theta[0], theta, rtol=1e-9, atol=1e-9)


def test_a_row_not_drawn_changes_nothing(seed: int) -> None:
    X, y = cases(seed)["dense"]
    state = OnlineLogistic().start(1, 5, 80, stream(0))
    OnlineLogistic.refit(state, 0, sample_of(X, y, np.zeros((80, 3))), stream(0))
    assert OnlineLogistic.value(state, 0, X[0]) == 0.5


@pytest.mark.parametrize("reward", [0.0, 1.0])
@pytest.mark.parametrize("kind", hard_contexts(0))
def test_hard_inputs_have_probabilities(kind: str, reward: float, seed: int) -> None:
    X = hard_contexts(seed)[kind]
    y = rewards_for(X, seed)
    y[: len(X) // 2] = reward
    state = OnlineLogistic().start(1, X.shape[1], len(X), stream(0))
    OnlineLogistic.refit(state, 0, sample_of(X, y, np.ones((len(X), 3))), stream(0))
    values = np.array([OnlineLogistic.value(state, 0, x) for x in X])
    assert np.isfinite(state.theta).all() and np.all((values >= 0.0) & (values <= 1.0))


def test_chances_are_learned(seed: int) -> None:
    X, rng = dense(4000, 4, seed), stream(seed, 8)
    chances = expit(X @ np.array([1.0, -1.0, 0.5, 0.2]))
    y = 1.0 * (rng.random(4000) < chances)
    counts = np.tile([1, 0, 0], (4000, 1))
    state = OnlineLogistic().start(1, 4, 4000, stream(0))
    OnlineLogistic.refit(state, 0, sample_of(X, y, counts), stream(0))
    values = np.array([OnlineLogistic.value(state, 0, x) for x in X])
    assert np.abs(values - chances).mean() < 0.03  # far from 0.5, which is 0.2 away


@pytest.mark.parametrize("text", ["0", "-1", "inf"])
def test_a_penalty_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(BadParameter, match="online-logistic needs a finite penalty > 0"):
        OnlineLogistic.parse(f"online-logistic:penalty={text}")
