"""Rewards that a model expects, fitted to other events."""

from dataclasses import replace

import numpy as np
import pytest
from evaluation.open_logs import BY_NAME, IN_COLUMNS, made

from giro.evaluation import fitted_rewards, read_log


@pytest.mark.parametrize("policy", [BY_NAME, IN_COLUMNS])
@pytest.mark.parametrize("folds", [None, 3])
def test_rewards_are_predicted_by_features_from_other_events(
    policy: str, folds: int | None
) -> None:
    mine = made(3, 400, policy=policy, sizes=(2, 3, 5))
    log = read_log(mine.log)
    found, number = fitted_rewards(log, folds), 250
    eligible = mine.means > 0.0
    apart = np.corrcoef(found[200:][eligible[200:]], mine.means[200:][eligible[200:]])[0, 1]
    assert apart > 0.5
    assert found.min() >= 0.0 and found.max() <= 1.0
    other = log.reward.copy()
    other[number] = 1.0 - other[number]
    again = fitted_rewards(replace(log, reward=other), folds)
    np.testing.assert_array_equal(again[number], found[number])
    np.testing.assert_array_equal(fitted_rewards(replace(log, reward=0 * other), folds), 0 * found)
    assert (again != found).any()
