"""What is made of the times of calls."""

import bandit_costs as costs
import numpy as np
import pytest

from giro import Bandit


def test_medians_and_the_longest_are_in_microseconds() -> None:
    seconds = 1e-6 * np.array([[1.0, 10.0]] * 90 + [[3.0, 30.0]] * 10)
    found = costs.summary(seconds)
    assert (found["decide_p50"], found["reward_p50"], found["both_p50"]) == (1.0, 10.0, 11.0)
    assert (found["first_p50"], found["last_p50"], found["both_p99"]) == (11.0, 33.0, 33.0)
    assert (found["longest_decide"], found["longest_reward"], found["rounds"]) == (3.0, 30.0, 100)


def test_a_round_is_held_against_river_and_against_microseconds() -> None:
    entrant = costs.Entrant("ucb1", times_river=3.0)
    call = {"both_p50": 20.0, "reward_p50": 16.0, "river_p50": 8.0}
    beside, reward = costs.held("x", entrant, call)
    assert (beside.ratio, beside.verdict) == (2.5, "reached")
    assert (reward.ours, reward.theirs, reward.verdict) == (16.0, 15.0, "NOT reached")
    (limit,) = costs.held(
        "x", costs.Entrant("default", microseconds=10.0), call | {"river_p50": None}
    )
    assert (limit.ratio, limit.verdict) == (2.0, "NOT reached")


@pytest.mark.parametrize("numbers, features", [(0, 0), (3, 0), (0, 4)])
def test_every_round_is_a_decision_and_its_reward(numbers: int, features: int) -> None:
    entrant = costs.Entrant("uniform", arms=3, numbers=numbers, features=features)
    bandit = Bandit(None if features else ["arm 0", "arm 1", "arm 2"], "uniform", seed=1)
    seconds, river, _ = costs.played(bandit, entrant, 20, None)
    assert seconds.shape == (20, 2) and (seconds > 0.0).all() and river is None
    assert bandit.n_decisions == bandit.n_rewards == 20 + costs.WARM


def test_the_longest_calls_of_a_long_life_are_in_milliseconds() -> None:
    line = costs.long_lived("x", 2, 30)
    assert line["rounds"] == 30
    assert 0.0 < line["decide_p99_ms"] <= line["longest_decide_ms"] + 0.01
    assert 0.0 < line["reward_p99_ms"] <= line["longest_reward_ms"] + 0.01
