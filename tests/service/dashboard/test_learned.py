"""What a bandit has learned, and rewards that are late."""

import pytest
from service.dashboard.conftest import POLICY, played

from giro import Bandit
from giro.service.dashboard.learned import late, learned


def test_features_that_matter_are_sorted_by_arm() -> None:
    bandit = Bandit(["a", "b"], "lin-ts", features={"hot": "number"}, seed=2)
    for i in range(200):
        decision = bandit.decide({"hot": i % 2})
        bandit.reward(decision.id, float((decision.arm == "a") == bool(i % 2)))
    content = learned(bandit, {})
    changes = {arm: rows[0].change for arm, rows in content["influences"].items()}
    assert changes["a"] > 0.5 > -0.5 > changes["b"]
    assert content["largest"] == max(map(abs, changes.values()))


def test_nothing_is_known_without_decisions() -> None:
    content = learned(Bandit(["a", "b"], POLICY), {})
    assert content["influences"] == {}
    assert content["drifts"] == []
    assert content["collisions"] is None
    assert content["apprenticeship"].agreement is None


def test_a_hashed_policy_shows_its_table() -> None:
    bandit = Bandit(None, "giro-ensemble:model=[hashed:bits=8]", seed=1)
    for i in range(5):
        decision = bandit.decide(arms={"x": {"n": i}, "y": {"n": -i}})
        bandit.reward(decision.id, 1.0)
    assert learned(bandit, {})["collisions"].columns == 256


def test_delays_are_told_with_the_share_that_came_within_them() -> None:
    now = [1e6]
    bandit = Bandit(["a", "b"], POLICY, clock=lambda: now[0], reward_wait=1000)
    for delay in (1.5, 1.5, 1.5, 100.0):
        decision = bandit.decide()
        now[0] += delay
        bandit.reward(decision.id, 1.0)
    content = late(bandit, {})
    assert [(row["within"], row["rewards"], row["together"]) for row in content["delays"]] == [
        (2.0, 3, 0.75),
        (128.0, 1, 1.0),
    ]


def test_pending_and_defaults_add_up_to_the_decisions() -> None:
    now = [1e6]
    bandit = Bandit(["a", "b"], POLICY, clock=lambda: now[0])
    played(bandit)
    now[0] += 5000.0
    bandit.expire(older_than=1000, reward=0.0)
    played(bandit, 12)
    rows = late(bandit, {})["rows"]
    for row in rows:
        assert row["decisions"] == row["rewards"] + row["expired"] + row["pending"]
    assert sum(row["expired"] for row in rows) == late(bandit, {})["expired"] == 10
    assert sum(row["pending"] for row in rows) == len(bandit.pending()) == 2


def test_a_bandit_without_decisions_has_a_page_of_late_rewards() -> None:
    content = late(Bandit(["a", "b"], POLICY), {})
    assert content["rows"] == content["bars"] == content["delays"] == []
    assert content["begin"] is None
    assert content["expired"] == pytest.approx(0)
