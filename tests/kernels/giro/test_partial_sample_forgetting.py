"""Histories that lose rewards again hold what plain lists hold."""

import numpy as np
import pytest
from kernels.histories import some_rewards

from giro.kernels.giro.partial_sample import add, empty_samples, mean_and_variance, part_of, remove
from giro.seeds import stream


@pytest.mark.parametrize("kind", ["binary", "three values", "any", "equal"])
@pytest.mark.parametrize("window", [1, 20, 700])
def test_after_rewards_have_come_and_gone_a_history_is_that_of_those_left(
    kind: str, window: int, seed: int
) -> None:
    n = 3 * window + 50
    rewards, arms = some_rewards(kind, n, seed), stream(seed).integers(0, 2, n)
    samples = empty_samples(2, min(n, 2 * window))
    for i in range(n):
        if i >= window:
            remove(samples, int(arms[i - window]), float(rewards[i - window]))
        add(samples, int(arms[i]), float(rewards[i]))
        if i % 97 == 0 or i == n - 1:
            left = range(max(0, i + 1 - window), i + 1)
            for arm in range(2):
                _judge(samples, arm, np.sort([rewards[j] for j in left if arms[j] == arm]))


def _judge(samples, arm: int, left: np.ndarray) -> None:
    """Fail unless the arm's history is these rewards, in parts with the sums they should have."""
    its, pool = samples.rewards.arms[arm], samples.rewards.pool
    assert its.pulls == left.size
    assert its.total == pytest.approx(left.sum(), abs=1e-12)
    assert its.squares == pytest.approx((left**2).sum(), abs=1e-12)
    if not its.fractional:
        return
    kept = pool[its.begin : its.begin + its.length]
    assert np.sort(kept).tolist() == left.tolist()
    assert np.all(np.diff(kept[: its.ordered]) >= 0.0)
    assert its.ordered % 16 == 0
    for part in range(1 << its.levels) if its.ordered else ():
        low, high = part_of(its.ordered, its.levels, part)
        mean, _ = mean_and_variance(samples.rewards, arm, its.levels, part)
        assert mean == pytest.approx(kept[low:high].mean(), abs=1e-12)
