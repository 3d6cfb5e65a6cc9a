"""Numbers with their uncertainty, against numbers worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from simulation.traces import small_trace

from giro import BadParameter
from giro.seeds import stream
from giro.simulation.metrics import (
    best_share,
    curve_of,
    curve_records,
    estimate,
    final_record,
    final_regret,
    mean_reward,
    paired_difference,
    rounds_per_second,
    usual_metric,
)

T_1 = 12.706204736432095  # 97.5 % point of Student's t with one degree of freedom


def test_final_regret_has_mean_standard_error_and_interval() -> None:
    regret = final_regret(small_trace([[1, 2], [3, 6]]))
    assert (regret.mean, regret.se) == (4.0, 2.0)  # sd is sqrt(8), over sqrt(2)
    assert (regret.low, regret.high) == pytest.approx((4 - 2 * T_1, 4 + 2 * T_1))
    assert regret.margin == pytest.approx(2 * T_1)


def test_one_run_has_a_mean_and_no_uncertainty() -> None:
    regret = final_regret(small_trace([[1, 2]]))
    assert regret.mean == 2.0
    assert all(math.isnan(value) for value in regret[1:])


def test_no_value_has_no_mean() -> None:
    with pytest.raises(BadParameter, match="at least one value"):
        estimate(np.array([]))


def test_reward_is_per_round() -> None:
    assert mean_reward(small_trace()).mean == 0.5  # 10 in 20 rounds
    assert curve_of(small_trace(), "reward").mean.tolist() == [0.5, 0.5]  # 9 in 18 and 10 in 20


def test_best_share_counts_the_last_tenth_only() -> None:
    assert best_share(small_trace()).mean == 0.5  # 1 of the last 2 pulls


def test_curves_have_a_band_at_every_checkpoint() -> None:
    curve = curve_of(small_trace([[1, 2], [3, 6]]), "regret")
    assert curve.rounds.tolist() == [18, 20]
    assert curve.mean.tolist() == [2.0, 4.0]
    assert curve.high - curve.mean == pytest.approx([T_1, 2 * T_1])
    assert curve.mean - curve.low == pytest.approx([T_1, 2 * T_1])


def test_paired_differences_use_the_runs_that_both_have() -> None:
    first = small_trace([[0, 5], [0, 9], [0, 70]], runs=[1, 2, 3])
    second = small_trace([[0, 100], [0, 4], [0, 6]], runs=[0, 1, 2], policy="greedy")
    difference = paired_difference(first, second)
    assert (difference.mean, difference.se) == (2.0, 1.0)  # of 5 - 4 and 9 - 6


def test_pairing_removes_what_the_instances_contribute(seed: int) -> None:
    hard = stream(seed).normal(100, 50, 200)
    noise = stream(seed, 1).normal(0, 1, (2, 200))
    first, second = (
        small_trace(np.stack([hard, hard + noise[i] + i], axis=1).tolist(), policy=str(i))
        for i in range(2)
    )
    assert paired_difference(second, first).se < final_regret(first).se / 10


def test_paired_differences_of_rewards_are_per_round() -> None:
    first = small_trace()
    second = replace(first, reward=first.reward - np.array([[0.0, 1.0], [0.0, 3.0]]))
    difference = paired_difference(first, second, metric="reward")
    assert (difference.mean, difference.se) == pytest.approx((0.1, 0.05))  # of 1/20 and 3/20


def test_classification_is_judged_by_reward_and_anything_else_by_regret() -> None:
    coins, rows = small_trace(), small_trace(problem="classification:data=adult,scale=column")
    assert usual_metric([rows, rows]) == "reward"
    assert usual_metric([coins]) == usual_metric([coins, rows]) == "regret"


def test_paired_differences_need_the_same_problem_rounds_seed_and_version() -> None:
    trace = small_trace()
    older = replace(trace, setting=replace(trace.setting, version="0.0"))
    for other in (small_trace(seed=2), small_trace(problem="bernoulli:means=[0.6,0.4]"), older):
        with pytest.raises(BadParameter, match="same problem, rounds, seed and version"):
            paired_difference(small_trace(), other)


def test_the_interval_holds_the_truth_in_95_of_100_cases(seed: int) -> None:
    samples = stream(seed).normal(1.0, 2.0, (10_000, 4))
    held = sum(low <= 1.0 <= high for _, _, low, high in map(estimate, samples))
    assert stats.binomtest(held, 10_000, 0.95).pvalue > 1e-6


def test_speed_is_per_second_of_computing() -> None:
    assert rounds_per_second(small_trace()) == 40.0  # 2 runs of 20 rounds in 2 x 0.5 s


MARGIN = 12.706204736432095  # half the 95 % interval of two values with standard error 1


def test_a_final_record_has_regret_and_reward_with_their_uncertainty() -> None:
    final = final_record(small_trace([[1, 2], [3, 6]]))
    assert (final["regret"], final["regret_se"]) == (4.0, 2.0)
    assert final["regret_high"] == pytest.approx(4.0 + 2 * MARGIN)
    assert (final["reward"], final["reward_se"]) == (0.5, 0.0)


def test_curves_have_a_record_for_each_checkpoint() -> None:
    first, last = curve_records(small_trace([[1, 2], [3, 6]]))
    assert (first["round"], last["round"]) == (18, 20)
    assert (first["regret"], last["regret"]) == (2.0, 4.0)
    assert (last["regret_low"], last["regret_high"]) == pytest.approx(
        (4 - 2 * MARGIN, 4 + 2 * MARGIN)
    )
    assert [first[key] for key in ("reward", "reward_low", "reward_high")] == [0.5, 0.5, 0.5]
