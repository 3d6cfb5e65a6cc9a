"""Estimates worked by hand, and against slow, obvious twins."""

import math
from dataclasses import replace

import numpy as np
import pytest
from evaluation.known_log import contextual_log, target, uniform_log

from giro import BadParameter, evaluate
from giro.evaluation import Log, fitted_rewards, read_log

SMALL = {"arm": ["a", "b", "a", "b"], "reward": [1, 2, 3, 5], "probability": [0.5, 0.5, 0.25, 0.75]}


def test_ips_by_hand() -> None:
    row = evaluate(SMALL, {"a": 0.5, "b": 0.5})["ips"]
    weighted = [1 * 1, 1 * 2, 2 * 3, 2 / 3 * 5]
    assert row.value == pytest.approx(np.mean(weighted))
    assert row.se == pytest.approx(np.std(weighted, ddof=1) / 2)
    assert row.high - row.value == pytest.approx(1.959964 * row.se)
    assert row.value - row.low == pytest.approx(1.959964 * row.se)
    assert row.effective == pytest.approx((1 + 1 + 2 + 2 / 3) ** 2 / (1 + 1 + 4 + 4 / 9))
    assert (row.largest, row.clipped, row.events) == (2.0, 0, 4)


def test_snips_by_hand() -> None:
    row = evaluate(SMALL, {"a": 0.5, "b": 0.5})["snips"]
    w, r = np.array([1, 1, 2, 2 / 3]), np.array([1, 2, 3, 5])
    assert row.value == pytest.approx(np.sum(w * r) / np.sum(w))
    spread = math.sqrt(np.sum(w**2 * (r - row.value) ** 2) * 4 / 3)
    assert row.se == pytest.approx(spread / np.sum(w))


def naive_dr(log: Log, probabilities: np.ndarray, folds: int) -> float:
    """Doubly robust with the other folds' means, drawn to that of all arms by one more event."""
    total = 0.0
    for t in range(log.events):
        others = [s for s in range(log.events) if s % folds != t % folds]
        model = []
        for arm in range(len(log.arm_names)):
            its = [log.reward[s] for s in others if log.arm[s] == arm]
            model.append(np.mean([*its, np.mean(log.reward[others])]))
        weight = probabilities[t, log.arm[t]] / log.probability[t]
        total += probabilities[t] @ model + weight * (log.reward[t] - model[log.arm[t]])
    return total / log.events


@pytest.mark.parametrize("folds", [2, 5])
def test_dr_without_contexts_uses_arm_means_of_the_other_folds(seed: int, folds: int) -> None:
    log = uniform_log(seed, 0, events=40, means=[0.3, 0.6, 0.1])
    law = np.tile([0.5, 0.4, 0.1], (40, 1))
    assert evaluate(log, law, folds=folds)["dr"].value == pytest.approx(naive_dr(log, law, folds))


def test_dr_is_exact_for_rewards_that_its_model_predicts(seed: int) -> None:
    log = contextual_log(seed, 0, events=300)
    exact = replace(log, reward=log.arm.astype(float))
    wanted = [target(context) @ np.arange(3) for context in log.contexts]
    se = np.std(wanted, ddof=1) / np.sqrt(300)
    told = evaluate(exact, target, predicted=np.tile(np.arange(3.0), (300, 1)))["dr"]
    assert (told.value, told.se) == pytest.approx((np.mean(wanted), se))
    fitted = evaluate(exact, target)["dr"]  # drawn to the mean a little, as by one event
    assert (fitted.value, fitted.se) == pytest.approx((np.mean(wanted), se), rel=0.02)


def test_dr_has_the_smaller_error_where_contexts_tell_the_reward(seed: int) -> None:
    rows = evaluate(contextual_log(seed, 0, events=5000), target)
    assert rows["dr"].se < rows["snips"].se < rows["ips"].se


def test_dr_takes_predictions_of_the_callers(seed: int) -> None:
    log = contextual_log(seed, 0, events=200)
    own = evaluate(log, target)["dr"]
    assert evaluate(log, target, predicted=fitted_rewards(log, 5))["dr"] == own
    nothing = evaluate(log, target, predicted=np.zeros((200, 3)))
    assert nothing["dr"].value == pytest.approx(nothing["ips"].value)
    for wrong in (np.zeros((200, 2)), np.full((200, 3), np.nan), "many"):
        with pytest.raises(BadParameter, match="predicted rewards"):
            evaluate(log, target, predicted=wrong)


def test_predictions_outside_the_rewards_widen_the_bernstein_interval(seed: int) -> None:
    log = contextual_log(seed, 0, events=200)
    for prediction, width in ((0.0, 1.0), (-3.0, 4.0)):
        row = evaluate(
            replace(log, reward=np.clip(log.reward, 0.0, 1.0)),
            "logged",
            predicted=np.full((200, 3), prediction),
            reward_range=(0.0, 1.0),
            interval="bernstein",
        )["dr"]
        bound = 1.0 + 2.0 / log.probability.min()
        second = 7.0 * width * bound * math.log(4.0 / 0.05) / (3.0 * 199)
        first = row.se * math.sqrt(2.0 * math.log(4.0 / 0.05))
        assert row.high - row.value == pytest.approx(first + second)


def test_clipped_weights_are_cut_and_counted() -> None:
    clipped = evaluate(SMALL, {"a": 0.5, "b": 0.5}, clip=1.5)["ips"]
    assert clipped.value == pytest.approx(np.mean([1, 2, 1.5 * 3, 2 / 3 * 5]))
    assert (clipped.clipped, clipped.largest) == (1, 1.5)
    assert "1 of 4 weights clipped at 1.5" in clipped.note
    assert evaluate(SMALL, {"a": 0.5, "b": 0.5}, clip=2.0)["ips"].clipped == 0


def test_nothing_is_clipped_unless_asked_for(seed: int) -> None:
    log = contextual_log(seed, 0, events=200)
    a_little_more = np.eye(3)[log.arm] * (1 + 1e-9)  # as a policy's own sums may be
    row = evaluate(log, a_little_more)["ips"]
    assert row.clipped == 0
    assert row.largest == pytest.approx(5.0)
    assert "clipped" not in row.note


def test_the_logging_policy_has_the_mean_of_the_log(seed: int) -> None:
    log = contextual_log(seed, 0, events=200)
    for row in evaluate(log, "logged").rows:
        assert row.value == pytest.approx(log.reward.mean())
        assert row.effective == pytest.approx(200)
        assert row.largest == 1.0


def test_a_policy_that_never_agrees_has_no_value() -> None:
    log = {"arm": ["a"] * 9, "reward": [1.0] * 9, "probability": [0.5] * 9}
    frame = evaluate(read_log(log, arms=["a", "b"]), "always:b").to_frame()
    assert frame["value"].is_nan().all()
    assert "nothing is known" in frame["note"][0]


def test_one_event_has_no_standard_error() -> None:
    row = evaluate({"arm": ["a"], "reward": [2.0], "probability": [1.0]}, "always:a")["ips"]
    assert row.value == 2.0
    assert math.isnan(row.se) and math.isnan(row.low)


def test_estimates_shift_and_scale_with_the_rewards(seed: int) -> None:
    log = contextual_log(seed, 0, events=300)
    scaled = replace(log, reward=50 * log.reward - 10)
    for name in ("snips", "dr"):
        before, after = evaluate(log, target)[name], evaluate(scaled, target)[name]
        assert after.value == pytest.approx(50 * before.value - 10)
        assert after.se == pytest.approx(50 * before.se)
