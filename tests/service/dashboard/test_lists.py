"""The line of a bandit in the list."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from service.dashboard.conftest import POLICY, played

from giro import Bandit
from giro.service.about import About
from giro.service.bandits import Running
from giro.service.dashboard.lists import line_of, mean_of_all
from giro.service.metrics import Metrics


def running(bandit: Bandit) -> Running:
    return Running(bandit, About(), ThreadPoolExecutor(1), Metrics(), queue=1)


def test_a_line_has_the_counts_and_the_mean_of_all_rewards() -> None:
    bandit = played(Bandit(["a", "b"], POLICY, seed=1))
    line = line_of(running(bandit))
    summary = bandit.summary()
    total = (summary["mean"] * summary["rewards"]).sum()
    assert (line["decisions"], line["rewards"], line["n_arms"]) == (60, 50, 2)
    assert line["mean"]["mean"] == pytest.approx(total / 50)
    assert line["mean"]["low"] < line["mean"]["mean"] < line["mean"]["high"]
    assert line["alarms"] == []
    assert line["traffic"]


def test_the_arm_that_is_shown_lately_counts_and_not_the_one_before() -> None:
    now = [1e6]
    bandit = Bandit(["old", "new"], POLICY, clock=lambda: now[0])
    for arm, n in (("old", 40), ("new", 30)):
        for _ in range(n):
            now[0] += 60.0
            bandit.decide(arms=[arm])
    arm, share = line_of(running(bandit))["leader"]
    assert (arm, share) == ("new", 1.0)


def test_a_bandit_without_decisions_has_a_line() -> None:
    line = line_of(running(Bandit(["a", "b"], POLICY)))
    assert line["mean"] == {"mean": None, "low": None, "high": None}
    assert line["leader"] is None
    assert (line["traffic"], line["reward"]) == ([], "")


def test_decisions_without_rewards_have_no_mean() -> None:
    bandit = Bandit(["a", "b"], POLICY)
    bandit.decide()
    assert mean_of_all(bandit)["mean"] is None
    assert line_of(running(bandit))["leader"][1] == 1.0
