"""The events of a giro.Bandit are evaluated."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from bandit.clock import counted
from evaluation.known_log import assert_covers

from giro import BadFile, BadParameter, Bandit, evaluate
from giro.cli.main import status_of
from giro.evaluation import read_log
from giro.evaluation.target import Learning, target_of
from giro.seeds import stream

MEANS = {"red": 0.3, "green": 0.7}
RANDOM = "epsilon-greedy:epsilon=1,model=linear"  # takes features, and any arm


def events_of(seed: int, number: int, decisions: int = 150) -> pl.DataFrame:
    """Rewards come ten decisions late, every tenth never."""
    bandit = Bandit(
        arms=list(MEANS), policy="epsilon-greedy:epsilon=0.3", seed=number, ids=counted()
    )
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


def test_a_saved_bandit_is_a_log(tmp_path: Path) -> None:
    bandit = Bandit(["a", "b"], "thompson", seed=2, ids=counted())
    for i in range(30):
        bandit.reward(bandit.decide().id, float(i % 3 == 0))
    bandit.save(tmp_path / "z.giro")
    assert evaluate(tmp_path / "z.giro", "always:a") == evaluate(bandit.events(), "always:a")
    assert status_of(["evaluate", str(tmp_path / "z.giro"), "--policy", "always:a"]) == 0
    (tmp_path / "z.giro").write_bytes(b"else")
    with pytest.raises(BadFile):
        evaluate(tmp_path / "z.giro", "always:a")


def test_arms_that_come_and_go_are_eligible_while_they_are_there(seed: int) -> None:
    bandit = Bandit(arms=["a", "b"], policy="epsilon-greedy:epsilon=0.5", seed=seed, ids=counted())
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


def bandit_with_features(policy: str, seed: int, decisions: int = 80) -> Bandit:
    """Two of four arms are offered, known by two features; the first one decides.

    Numbers are as they are, for `evaluate` standardises nothing.
    """
    options: dict[str, Any] = {"seed": seed, "first_decisions": None, "standardise": False}
    bandit, rng = Bandit(list("dbca"), policy, **options, ids=counted()), stream(seed, 3)
    for i in range(decisions):
        names = rng.permutation(list("abcd"))[: 2 + i % 3]
        arms = {str(name): rng.random(2).tolist() for name in names}
        decision = bandit.decide(rng.normal(size=1), arms=arms)
        bandit.reward(decision.id, float(rng.random() < arms[decision.arm][0]))
    return bandit


def test_features_of_arms_are_read_in_the_order_of_the_arms() -> None:
    events = bandit_with_features(RANDOM, 1).events()
    log = read_log(events)
    assert log.features is not None
    for event, row in enumerate(events.filter(kind="decision").iter_rows(named=True)):
        offer = log.offer_of(event)
        mine = {log.arm_names[arm]: known.tolist() for arm, known in zip(*offer[::2], strict=True)}
        assert mine == dict(zip(row["arms"], row["features"], strict=True))
    for file in (events.drop("features"), events.with_columns(features=None)):
        assert read_log(file).features is None


@pytest.mark.parametrize("policy", ["lin-ucb:scale=0.5", "ensemble", "giro-ensemble:replicas=5"])
def test_a_policy_with_a_shared_model_has_its_own_probabilities_on_its_own_log(
    policy: str, seed: int
) -> None:
    """Every reward comes at once, so that the log leads to the state that decided."""
    bandit = bandit_with_features(policy, seed)
    log = read_log(bandit.events())
    walked = target_of(policy, log, Learning(seed=seed))
    assert walked.probabilities == pytest.approx(log.probabilities, abs=1e-9)


def test_shared_models_learn_what_features_say(seed: int) -> None:
    bandit = bandit_with_features(RANDOM, seed, decisions=600)
    blind = read_log(bandit.events().drop("features"))
    with_features = evaluate(bandit.events(), "lin-ucb:scale=0.1")["snips"].value
    assert with_features > evaluate(blind, "lin-ucb:scale=0.1")["snips"].value + 0.05
    assert evaluate(bandit.events(), "ucb1")["ips"] == evaluate(blind, "ucb1")["ips"]


@pytest.mark.parametrize("policy", ["giro-ensemble", "poisson-bootstrap", "ensemble", "lin-ts"])
def test_the_logs_of_ensembles_are_evaluated(policy: str, seed: int) -> None:
    """Shares of 50 replicas sum to 1 but for rounding, which is no reason to refuse them."""
    bandit, rng = Bandit(["a", "b", "c"], policy, seed=seed, ids=counted()), stream(seed, 4)
    for _ in range(150):
        decision = bandit.decide([rng.normal()])
        bandit.reward(decision.id, float(rng.random() < 0.5))
        assert decision.propensity is not None
        assert 0.0 < decision.propensity <= 1.0
    found = evaluate(bandit.events(), "logged")
    assert found["ips"].value == pytest.approx(read_log(bandit.events()).reward.mean())


def events_frame(**changes: Any) -> pl.DataFrame:
    rows = [
        ("decision", "d1", "a", None, 0.5, ["a", "b"], [0.5, 0.5], [1.0]),
        ("arm_added", "", "c", None, None, [], [], []),
        ("decision", "d2", "c", None, 0.2, ["a", "c"], [0.8, 0.2], [2.0, 3.0]),
        ("decision", "d3", "b", None, 0.3, ["a", "b", "c"], [0.3, 0.3, 0.4], [4.0, 5.0]),
        ("reward", "d2", "c", 7.0, None, [], [], []),
        ("decision", "d4", "a", None, 1.0, ["a"], [1.0], [6.0, 7.0]),
        ("expired", "d1", "a", 0.0, None, [], [], []),
        ("reward", "d4", "a", 3.0, None, [], [], []),
    ]
    names = ("kind", "id", "arm", "reward", "propensity", "arms", "propensities", "context")
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    schema = {"reward": pl.Float64, "propensity": pl.Float64}
    return pl.DataFrame({"number": range(8), **columns, **changes}, schema_overrides=schema)


@pytest.mark.parametrize("ending", ["", "parquet", "jsonl"])
def test_decisions_of_a_bandit_are_joined_with_their_rewards(tmp_path: Path, ending: str) -> None:
    source: Any = events_frame()
    if ending:
        path = tmp_path / f"events.{ending}"
        source.write_parquet(path) if ending == "parquet" else source.write_ndjson(path)
        source = path
    log = read_log(source)
    assert [log.arm_names[i] for i in log.arm] == ["a", "c", "a"]
    assert log.reward.tolist() == [0.0, 7.0, 3.0]
    assert log.probability.tolist() == [0.5, 0.2, 1.0]
    np.testing.assert_array_equal(log.contexts, [[1, np.nan], [2, 3], [6, 7]])
    assert log.eligible is not None and log.probabilities is not None
    assert log.eligible[:, log.arm_names.index("b")].tolist() == [True, False, False]
    assert log.probabilities[:, log.arm_names.index("c")].tolist() == [0.0, 0.2, 0.0]
    assert (log.adaptive, log.left_out) == (True, 1)


def test_decisions_left_out_are_counted_in_the_result() -> None:
    evaluation = evaluate(events_frame(), "logged")
    assert (evaluation.events, evaluation.left_out) == (3, 1)
    assert "left out 1 without reward" in str(evaluation)


def test_wrong_events_are_refused() -> None:
    twice = events_frame(id=["d1", "", "d2", "d3", "d2", "d4", "d2", "d4"])
    with pytest.raises(BadParameter, match="a decision two rewards"):
        read_log(twice)
    with pytest.raises(BadParameter, match="no column 'propensity'"):
        read_log(events_frame().drop("propensity"), format="giro")
    with pytest.raises(BadParameter, match="none of its 3 decisions has a reward"):
        read_log(events_frame().filter(pl.col("kind") == "decision").head(3))
    with pytest.raises(BadParameter, match="which was not eligible"):
        read_log(events_frame(arms=[["a"], [], ["a", "b", "c"], [], [], ["b"], [], []]))
