"""What the policy adds to its baseline, against sums over the log."""

import math
from typing import Any

import numpy as np
import pytest
from bandit.clock import bandit_of

from giro import Bandit
from giro.seeds import stream


def weights_of(bandit: Bandit, baseline: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights of the policy and of the baseline, and rewards, from the log."""
    events = bandit.events()
    rewards = {row["id"]: row["reward"] for row in events.filter(kind="reward").rows(named=True)}
    rows = [row for row in events.filter(kind="decision").rows(named=True) if row["id"] in rewards]
    w = [row["own"] / row["propensity"] for row in rows]
    v = [(row["arm"] == baseline) / row["propensity"] for row in rows]
    return np.array(w), np.array(v), np.array([rewards[row["id"]] for row in rows])


def played(seed: int, n: int = 1_500, **options: Any) -> Bandit:
    """Return a bandit in a world where a, b and c pay 3, 4 and 5 in ten times."""
    bandit, rng = bandit_of("thompson", "abc", seed=seed, **options), stream(seed, 5)
    baseline = "b" if bandit.setting["share"] < 1.0 else None
    for _ in range(n):
        decision = bandit.decide(baseline=baseline)
        chance = {"a": 0.3, "b": 0.4, "c": 0.5}[decision.arm]
        bandit.reward(decision.id, 10.0 + 2.0 * (rng.random() < chance))
    return bandit


@pytest.mark.parametrize("share", [0.6, 1.0])
def test_the_estimate_is_that_of_the_whole_log(seed: int, share: float) -> None:
    floor = 0.2 if share == 1.0 else None
    bandit = played(seed, share=share, floor=floor, reward_range=(10.0, 12.0))
    w, v, r = weights_of(bandit, "b" if share < 1.0 else "a")
    report = bandit.uplift()
    assert report is not None
    assert report.is_shared == (share < 1.0)
    assert report.decisions == r.size == 1_500
    policy, baseline = (w @ r) / w.sum(), (v @ r) / v.sum()
    own, other = w * (r - policy) / w.sum(), v * (r - baseline) / v.sum()
    n, m = w.sum() ** 2 / (w @ w), v.sum() ** 2 / (v @ v)
    for estimate, value, parts, sample in (
        (report.policy, policy, own, n),
        (report.baseline, baseline, other, m),
        (report.uplift, policy - baseline, own - other, min(n, m)),
    ):
        assert estimate.value == pytest.approx(value)
        wider = math.sqrt(sample / (sample - 1))
        assert estimate.se == pytest.approx(np.linalg.norm(parts) * wider)
        assert estimate.high - value == pytest.approx(value - estimate.low)
    assert (report.policy_sample, report.baseline_sample) == pytest.approx((n, m))
    truth = 10.8 if share < 1.0 else 10.6
    assert abs(report.baseline.value - truth) < 5 * report.baseline.se
    assert report.uplift.value > 0


def test_decisions_that_were_forgotten_count_as_those_in_memory(seed: int, tmp_path: Any) -> None:
    bandit = bandit_of("thompson", "abc", seed=seed, share=0.5)
    waiting = [bandit.decide(baseline="c").id for _ in range(40)]
    bandit.save(tmp_path / "x.giro")
    loaded = Bandit.load(tmp_path / "x.giro")
    for each in (bandit, loaded):
        for i, id in enumerate(waiting):
            each.reward(id, float(i % 2))
    assert loaded.uplift() == bandit.uplift() is not None


def test_equal_rewards_have_no_uplift_and_no_error() -> None:
    bandit = bandit_of("uniform", "ab", share=0.5)
    assert bandit.uplift() is None
    for _ in range(50):
        bandit.reward(bandit.decide(baseline="a").id, 1.0)
    report = bandit.uplift()
    assert report is not None
    assert report.uplift == pytest.approx((0.0, 0.0, 0.0, 0.0))


def test_without_probabilities_there_is_no_estimate() -> None:
    bandit = bandit_of("giro", "ab", propensities=False)
    for _ in range(20):
        bandit.reward(bandit.decide().id, 1.0)
    assert bandit.uplift() is None


def test_a_single_reward_has_no_interval() -> None:
    bandit = bandit_of("uniform", "a")
    bandit.reward(bandit.decide().id, 1.0)
    report = bandit.uplift()
    assert report is not None
    assert report.uplift.value == 0.0
    assert (report.uplift.low, report.uplift.high) == (-math.inf, math.inf)


def test_an_apprentice_is_compared_where_it_agrees() -> None:
    bandit = bandit_of("uniform", "ab", share=0.0)
    for i in range(20):
        bandit.reward(bandit.decide(baseline="b").id, float(i % 2))
    report = bandit.uplift()
    assert report is not None
    assert report.is_shared
    assert report.policy.value == report.baseline.value == 0.5
    assert report.baseline_sample == 20


def test_a_baseline_that_came_later_takes_the_place_of_the_first_arm() -> None:
    bandit = bandit_of("uniform", "ab")
    for _ in range(30):
        bandit.reward(bandit.decide().id, 0.0)
    before = bandit.uplift()
    bandit.change(share=0.5)
    for _ in range(30):
        bandit.reward(bandit.decide(baseline="b").id, 1.0)
    after = bandit.uplift()
    assert before is not None
    assert after is not None
    assert (before.is_shared, after.is_shared) == (False, True)
    assert (before.decisions, after.decisions) == (30, 30)
    assert after.baseline.value == 1.0


def test_one_reward_of_the_baseline_tells_no_interval() -> None:
    bandit = bandit_of("uniform", "abcdefghijklmnopqrstuvwxyz")
    while bandit.uplift() is None:  # until the first arm has a reward
        bandit.reward(bandit.decide().id, 1.0)
    report = bandit.uplift()
    assert report is not None
    assert report.baseline_sample == 1.0
    assert (report.uplift.low, report.uplift.high) == (-math.inf, math.inf)
