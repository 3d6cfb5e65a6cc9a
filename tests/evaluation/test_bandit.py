"""The events of a giro.Bandit are evaluated."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from evaluation.known_log import assert_covers

from giro import Bandit, evaluate
from giro.cli.main import status_of
from giro.evaluation import read_log
from giro.seeds import stream

MEANS = {"red": 0.3, "green": 0.7}


def events_of(seed: int, number: int, decisions: int = 150) -> pl.DataFrame:
    """Rewards come ten decisions late, every tenth never."""
    bandit = Bandit(arms=list(MEANS), policy="epsilon-greedy:epsilon=0.3", seed=number)
    rng, waiting = stream(seed, number), []
    for i in range(decisions):
        decision = bandit.decide()
        if i % 10:
            waiting.append((decision.id, float(rng.random() < MEANS[decision.arm])))
        if len(waiting) > 10:
            bandit.reward(*waiting.pop(0))
    for late in waiting:
        bandit.reward(*late)
    return bandit.events()


def test_true_values_are_recovered_from_the_logs_of_bandits(seed: int) -> None:
    truth, values = 0.8 * 0.3 + 0.2 * 0.7, []
    covered: dict[str, list[bool]] = {"ips": [], "snips": [], "dr": []}
    for number in range(60):
        evaluation = evaluate(events_of(seed, number), {"red": 0.8, "green": 0.2})
        assert (evaluation.events, evaluation.left_out) == (135, 15)
        values.append(evaluation["ips"].value)
        for row in evaluation.rows:
            covered[row.estimator].append(row.low <= truth <= row.high)
    assert abs(np.mean(values) - truth) < 5 * np.std(values) / np.sqrt(60)
    for inside in covered.values():
        assert_covers(inside, 0.95)


def test_decisions_stay_in_their_order_with_their_own_rewards() -> None:
    events = events_of(0, 0)
    log = read_log(events)
    rewards = dict(events.filter(kind="reward").select("id", "reward").iter_rows())
    decisions = events.filter(kind="decision").filter(pl.col("id").is_in(list(rewards)))
    assert [log.arm_names[i] for i in log.arm] == decisions["arm"].to_list()
    assert log.reward.tolist() == [rewards[id] for id in decisions["id"]]
    assert log.probability.tolist() == decisions["propensity"].to_list()
    assert log.probabilities is not None
    assert np.array_equal(log.probabilities[np.arange(135), log.arm], log.probability)


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_events_in_a_file_are_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    path = tmp_path / f"events.{ending}"
    events = events_of(0, 0)
    events.write_parquet(path) if ending == "parquet" else events.write_ndjson(path)
    assert evaluate(path, "always:green") == evaluate(events, "always:green")
    assert status_of(["evaluate", str(path), "--policy", "always:green"]) == 0
    assert "events   135   left out 15 without reward" in capsys.readouterr().out


def test_arms_that_come_and_go_are_eligible_while_they_are_there(seed: int) -> None:
    bandit = Bandit(arms=["a", "b"], policy="epsilon-greedy:epsilon=0.5", seed=seed)
    for arms in (["a", "b"], ["a", "b", "c"], ["b", "c"]):
        if "c" in arms and "c" not in bandit.arms:
            bandit.add_arm("c")
        if "a" not in arms:
            bandit.retire_arm("a")
        for _ in range(20):
            bandit.reward(bandit.decide().id, 0.5)
    log = read_log(bandit.events())
    assert log.arm_names == ("a", "b", "c")
    assert log.eligible is not None
    wanted = [[True, True, False], [True, True, True], [False, True, True]]
    assert np.array_equal(log.eligible, np.repeat(wanted, 20, axis=0))
    evaluation = evaluate(log, {"a": 0.2, "b": 0.3, "c": 0.5})
    assert evaluation["snips"].value == pytest.approx(0.5)
    assert "not 1" not in evaluation["snips"].note
