"""Known synthetic truth is covered at the nominal rate."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from evaluation.known_log import (
    HEAVY,
    TRUTH,
    assert_covers,
    contextual_log,
    learning_log,
    p_value_of_coverage,
    target,
    uniform_log,
)
from laws import ALPHA

from giro import evaluate
from giro.evaluation import Row
from giro.evaluation.target import Learning, target_of

LOGS, FEWER = 500, 300
ESTIMATORS = ("ips", "snips", "dr")


@functools.cache  # three tests look at the same logs
def rows_of_logs(seed: int, level: float) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {name: [] for name in ESTIMATORS}
    for number in range(LOGS):
        log = contextual_log(seed, number, events=400)
        for row in evaluate(log, target, level=level).rows:
            rows[row.estimator].append(row)
    return rows


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_intervals_cover_the_truth_at_their_level(seed: int, level: float) -> None:
    for rows in rows_of_logs(seed, level).values():
        assert_covers([row.low <= TRUTH <= row.high for row in rows], level)


def test_estimates_are_right_on_average_and_their_standard_errors_are_true(seed: int) -> None:
    for rows in rows_of_logs(seed, 0.95).values():
        values, errors = np.array([(row.value, row.se) for row in rows]).T
        assert abs(values.mean() - TRUTH) < 5 * values.std() / np.sqrt(LOGS) + 1 / 400
        # a standard deviation of 500 values is known to 1 / sqrt(2 * 500) = 3 %
        assert np.sqrt(np.mean(errors**2)) == pytest.approx(values.std(), rel=5 * 0.032)


def test_the_judge_fails_intervals_that_are_too_short(seed: int) -> None:
    for rows in rows_of_logs(seed, 0.95).values():
        short = [abs(row.value - TRUTH) < 1.3 * row.se for row in rows]
        assert p_value_of_coverage(short, 0.95) < ALPHA


def test_the_judge_fails_a_wrong_estimator(seed: int) -> None:
    logs = [contextual_log(seed, number, events=400) for number in range(LOGS)]
    errors = [1.96 * log.reward.std() / np.sqrt(log.events) for log in logs]
    naive = [abs(log.reward.mean() - TRUTH) < e for log, e in zip(logs, errors, strict=True)]
    assert p_value_of_coverage(naive, 0.95) < ALPHA


def test_wrong_logged_probabilities_are_not_covered_but_noticed(seed: int) -> None:
    log = contextual_log(seed, 0, events=20_000)
    wrong = replace(log, probability=np.full(log.events, 0.25))
    for row in evaluate(wrong, target).rows:
        assert "not 1: the logged probabilities are wrong" in row.note
    for row in evaluate(log, target).rows:
        assert row.note == ""


def test_the_bootstrap_covers_better_where_few_events_have_large_weights(seed: int) -> None:
    covered = {"normal": 0, "bootstrap": 0}
    for number in range(300):
        log = contextual_log(seed, number, events=200, logging=HEAVY)
        for interval in covered:
            evaluation = evaluate(log, target, estimators=["ips", "snips"], interval=interval)
            for row in evaluation.rows:
                assert "as good as only" in row.note
                covered[interval] += row.low <= TRUTH <= row.high
    # of 600: the normal interval covers about 0.90, the bootstrap 0.95
    assert covered["normal"] < covered["bootstrap"]


def test_bernstein_intervals_cover_always_and_are_wide(seed: int) -> None:
    for number in range(100):
        log = contextual_log(seed, number, events=200, logging=HEAVY)
        narrow = evaluate(log, target)
        for row in evaluate(log, target, interval="bernstein").rows:
            assert row.low <= TRUTH <= row.high
            assert row.high - row.low > narrow[row.estimator].high - narrow[row.estimator].low


@pytest.mark.parametrize("policy", ["ucb1", "epsilon-greedy"])
def test_the_value_of_a_learning_policy_is_covered(seed: int, policy: str) -> None:
    means = np.array([0.3, 0.5, 0.7])
    covered: dict[str, list[bool]] = {name: [] for name in ESTIMATORS}
    for number in range(FEWER):
        log = uniform_log(seed, number, events=120, means=means.tolist())
        its = target_of(policy, log, Learning(votes=20)).probabilities  # led through the log once
        truth = float(np.mean(its @ means))
        for row in evaluate(log, its).rows:
            covered[row.estimator].append(row.low <= truth <= row.high)
    for name in ESTIMATORS:
        assert_covers(covered[name], 0.95)


def test_the_log_of_a_learning_policy_gives_honest_intervals(seed: int) -> None:
    means = [0.3, 0.5, 0.6]
    covered: dict[str, list[bool]] = {name: [] for name in ESTIMATORS}
    for number in range(FEWER):
        log = learning_log(seed, number, events=250, means=means)
        for row in evaluate(log, {"0": 0.2, "1": 0.5, "2": 0.3}).rows:
            covered[row.estimator].append(row.low <= 0.2 * 0.3 + 0.5 * 0.5 + 0.3 * 0.6 <= row.high)
    for name in ESTIMATORS:
        assert_covers(covered[name], 0.95)
