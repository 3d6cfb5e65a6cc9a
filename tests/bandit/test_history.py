"""The decisions and rewards of a log as columns."""

import numpy as np
from bandit.clock import bandit_of

from giro import Bandit
from giro.bandit.history import History, history
from giro.progress import Task


def history_of(bandit: Bandit) -> History:
    state = bandit._state
    task = Task()
    past = history(bandit._rows(), [] if state.setting.open_arms else state.arms, task)
    assert task.done == bandit.position
    return past


def test_every_decision_has_its_arm_its_time_and_its_reward() -> None:
    bandit = bandit_of("thompson", "abc")
    made = []
    for i in range(50):
        decision = bandit.decide(arms=["a", "c"] if i % 2 else None)
        made.append(decision)
        if i >= 10 and i % 3:
            bandit.reward(made[i - 10].id, float(i % 2))
    past = history_of(bandit)
    assert past.names == ("a", "b", "c")
    assert [past.names[arm] for arm in past.arm] == [decision.arm for decision in made]
    assert past.time.tolist() == [decision.time for decision in made]
    rewards = {made[i - 10].id: float(i % 2) for i in range(10, 50) if i % 3}
    waiting = {decision.id for decision in bandit.pending()}
    for decision, reward in zip(made, past.reward, strict=True):
        assert np.isnan(reward) == (decision.id in waiting)
        assert decision.id in waiting or reward == rewards[decision.id]


def test_arms_without_numbers_are_named_as_they_come() -> None:
    bandit = Bandit(policy="uniform", seed=1, ids="numbered")
    chosen = [bandit.decide(arms={f"x{i}": {"a": 1.0}, "y": {"a": 2.0}}).arm for i in range(20)]
    past = history_of(bandit)
    assert [past.names[arm] for arm in past.arm] == chosen
    assert past.names == tuple(dict.fromkeys(chosen))
