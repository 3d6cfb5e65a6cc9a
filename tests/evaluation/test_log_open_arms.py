"""Logs in which arms come and go, and are known by their features."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from bandit.clock import Clock, counted
from evaluation.open_logs import BY_NAME, IN_COLUMNS, made
from laws import assert_follows

from giro import BadParameter, Bandit, GiroError, evaluate
from giro.evaluation import Log, read_log
from giro.evaluation.replay import replayed
from giro.evaluation.target import Learning, target_of
from giro.features import Schema
from giro.offer import SparseRow, rows_at
from giro.policy import Policy
from giro.seeds import stream

ENSEMBLE = "giro-ensemble:model=[hashed:bits=6],replicas=5"
SIZES = (2, 3, 5)


# -- reading ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", "parquet", "jsonl"])
@pytest.mark.parametrize("policy", [BY_NAME, IN_COLUMNS])
def test_the_log_of_an_open_bandit_has_places_for_arms(
    policy: str, ending: str, tmp_path: Path
) -> None:
    """Names would be thousands of columns, in each of which one event has an arm."""
    mine = made(1, 40, policy=policy, sizes=SIZES)
    source: Any = mine.bandit.events()
    if ending:
        source = tmp_path / f"events.{ending}"
        mine.bandit.write_events(source)
    log = read_log(source)
    assert log.arm_names == ("1", "2", "3", "4", "5")
    assert log.names == mine.log.names
    assert log.schema == mine.log.schema
    for name in ("arm", "reward", "probability", "eligible", "probabilities"):
        np.testing.assert_array_equal(getattr(log, name), getattr(mine.log, name))
    assert log.features is not None and mine.log.features is not None
    for pair in zip(log.contexts, mine.log.contexts, strict=True):
        assert_same_rows(*pair)
    for pair in zip(log.features, mine.log.features, strict=True):
        assert_same_rows(*pair)


def assert_same_rows(one: Any, other: Any) -> None:
    """Fail unless two rows, dense or sparse, are the same."""
    assert type(one) is type(other)
    for mine, its in zip(
        *((each,) if isinstance(each, np.ndarray) else each for each in (one, other)), strict=True
    ):
        np.testing.assert_array_equal(mine, its)


def test_features_by_name_may_be_of_any_number() -> None:
    bandit = Bandit(["a", "b"], ENSEMBLE, seed=1, ids=counted(), clock=Clock())
    for i in range(12):
        known = {f"w{k}": 1 for k in range(i % 4)}
        arms = {"b": known, "a": {"x": 2}} if i % 2 else ["a", "b"]
        bandit.reward(bandit.decide({"day": i} if i % 3 else None, arms=arms).id, 0.5)
    log = read_log(bandit.events())
    assert log.schema.is_sparse and log.names is None
    assert [row.column.size for row in log.contexts] == [int(i % 3 > 0) for i in range(12)]
    assert log.features is not None
    assert len({rows.column.size for rows in log.features}) > 1
    found = evaluate(bandit.events(), ENSEMBLE)
    assert [row.value for row in found.rows] == pytest.approx([found["ips"].value, 0.5, 0.5])
    for policy in ("ucb1", "uniform", "thompson"):  # which have no use for features
        blind = replace(log, contexts=np.empty((12, 0)), schema=Schema(), features=None)
        assert evaluate(log, policy)["ips"] == evaluate(blind, policy)["ips"]


@pytest.mark.parametrize("policy", ["lin-ucb", "ensemble", "contextual-giro", "lin-phe", "default"])
def test_hashed_features_are_not_for_models_with_columns(policy: str) -> None:
    with pytest.raises(BadParameter, match="needs features in fixed columns"):
        evaluate(made(1, 10).log, policy)


@pytest.mark.parametrize("policy", ["ucb1", "thompson", "epsilon-greedy", "phe:a=1"])
@pytest.mark.parametrize("estimator", ["ips", "replay"])
def test_policies_that_know_arms_by_name_are_refused(policy: str, estimator: Any) -> None:
    with pytest.raises(BadParameter, match="other arms are on offer in each event"):
        evaluate(made(1, 10, policy=IN_COLUMNS).log, policy, estimators=[estimator])


def test_wrong_logs_of_hashed_features_are_refused() -> None:
    log = made(1, 10).log
    assert log.features is not None
    first, *rest = log.features
    infinite, code = first.value.copy(), first.column.copy()
    infinite[1], code[0] = np.inf, 2**53
    for wrong in (
        first._replace(value=first.value[:-1]),
        first._replace(value=infinite),
        first._replace(column=code),
        rows_at(first, np.arange(2)),
    ):
        with pytest.raises(BadParameter, match="event 1 needs codes and finite values of each of"):
            read_log(replace(log, features=[wrong, *rest]))
    negative = [SparseRow(-context.column, context.value) for context in log.contexts]
    with pytest.raises(BadParameter, match="event 1 needs codes and finite values"):
        read_log(replace(log, contexts=negative))
    with pytest.raises(BadParameter, match="needs those of the eligible arms"):
        read_log(replace(log, features=None))
    events = made(1, 10).bandit.events()
    with pytest.raises(BadParameter, match="must hold the setting of the bandit"):
        read_log(made(1, 10).bandit.events(since=4))
    assert read_log(made(1, 10, policy=IN_COLUMNS).bandit.events(since=4)).features is not None
    other = pl.when(kind="decision").then(pl.lit("other")).otherwise("arm")
    with pytest.raises(BadParameter, match="event 1 has the arm 'other', which was not eligible"):
        read_log(events.with_columns(arm=other))


# -- the truth -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "policy", [ENSEMBLE, "squarecb:gamma=30,model=[hashed:bits=6]", BY_NAME.replace("=1,", "=0.3,")]
)
def test_a_policy_has_its_own_probabilities_on_its_own_log(policy: str, seed: int) -> None:
    """Every reward comes at once, so that the log leads to the state that decided."""
    mine = made(seed, 60, policy=policy, sizes=SIZES)
    log = read_log(mine.bandit.events())
    walked = target_of(policy, log, Learning(seed=seed))
    assert walked.probabilities == pytest.approx(log.probabilities, abs=1e-9)


def skewed(log: Log, means: np.ndarray, seed: int) -> Log:
    """Return the log as a policy would have made it that prefers places at the front."""
    rng, n_places = stream(seed, 7), len(log.arm_names)
    eligible = np.ones(means.shape, bool) if log.eligible is None else log.eligible
    chances = eligible * np.linspace(3.0, 1.0, n_places)
    chances /= chances.sum(axis=1, keepdims=True)
    arm = np.array([rng.choice(n_places, p=row) for row in chances])
    every = np.arange(log.events)
    reward = (rng.random(log.events) < means[every, arm]).astype(float)
    return replace(
        log, arm=arm, reward=reward, probability=chances[every, arm], probabilities=chances
    )


@pytest.mark.parametrize("policy", [ENSEMBLE, "lin-ucb:scale=0.3"])
def test_estimates_are_unbiased(policy: str, seed: int) -> None:
    """What a policy was worth follows from its probabilities and the mean reward of each arm."""
    mine = made(seed, 50, policy=BY_NAME if "hashed" in policy else IN_COLUMNS, sizes=SIZES)
    errors: dict[str, list[float]] = {"ips": [], "dr": []}
    for number in range(100):
        log = skewed(mine.log, mine.means, seed + number)
        target = target_of(policy, log, Learning(seed=number))
        truth = float(np.sum(target.probabilities * mine.means, axis=1).mean())
        found = evaluate(log, target.probabilities, estimators=["ips", "dr"])
        for name, each in errors.items():
            each.append(found[name].value - truth)
    for each in errors.values():
        assert abs(np.mean(each)) < 4.5 * np.std(each) / 10
    assert np.std(errors["dr"]) < np.std(errors["ips"])


def test_an_event_is_kept_as_often_whatever_its_offer(seed: int) -> None:
    """Replay without thinning would keep those with few arms more often."""
    mine = made(seed, 60, sizes=SIZES)
    assert mine.log.eligible is not None
    sizes, kept = mine.log.eligible.sum(axis=1), []
    for number in range(60):
        log = skewed(mine.log, mine.means, seed + number)
        which = replayed(Policy.parse("uniform"), log, Learning(seed=number), rejection=True)
        kept += [SIZES.index(size) for size in sizes[which]]
    assert_follows(kept, [float((sizes == size).mean()) for size in SIZES])
    with pytest.raises(BadParameter, match="'rejection-replay' thins another"):
        evaluate(mine.log, "uniform", estimators=["replay"])


# -- learning from them ----------------------------------------------------------------------------


def test_a_bandit_learns_from_the_log_of_another() -> None:
    mine = made(2, 40, policy=ENSEMBLE, sizes=SIZES)
    again = Bandit(policy=ENSEMBLE, seed=2, clock=Clock(), ids=counted("x"))
    assert again.learn_from(read_log(mine.bandit.events())) == 40
    told = ["arm", "reward", "propensity", "arms", "propensities"]
    told += ["context", "context_codes", "features", "feature_codes"]
    assert again.events().select(told).rows() == mine.bandit.events().select(told).rows()
    arms = {"a": {"topic": "sport", "length": 3.0}, "b": {"topic": "art", "length": 3.0}}
    new = [bandit.decide({"user": {"from": "it"}}, arms=arms) for bandit in (mine.bandit, again)]
    assert new[0].propensities == new[1].propensities
    assert again.summary().equals(mine.bandit.summary())
    assert Bandit.replay(again.events()).n_rewards == 40


def test_an_open_bandit_learns_from_a_log_with_columns() -> None:
    mine = made(2, 40, policy=IN_COLUMNS, sizes=SIZES)
    bandit = Bandit(policy="lin-ucb", seed=1, ids=counted())
    assert bandit.learn_from(read_log(mine.bandit.events())) == 40
    assert bandit.decide([1.0, 0.5], arms={"x": [1.0, 0.0, 0.0, 2.0]}).arm == "x"
    before = bandit.position
    with pytest.raises(BadParameter, match="hashed features, and this bandit has them in columns"):
        bandit.learn_from(made(2, 5).log)
    assert bandit.position == before


@pytest.mark.parametrize(
    ("bandit", "policy", "problem"),
    [
        ({"policy": "lin-ucb"}, BY_NAME, "hashed features, and this bandit has them in columns"),
        ({"arms": ["a", "b"], "policy": ENSEMBLE}, BY_NAME, "made without arms"),
        ({"arms": ["a", "b"], "policy": "lin-ucb"}, IN_COLUMNS, "made without arms"),
    ],
)
def test_a_log_of_another_form_is_not_learned(
    bandit: dict[str, Any], policy: str, problem: str
) -> None:
    learner = Bandit(**bandit)
    before = learner.position
    with pytest.raises(GiroError, match=problem):
        learner.learn_from(made(2, 5, policy=policy).log)
    assert learner.position == before


def test_a_bandit_that_hashes_learns_from_a_log_with_columns() -> None:
    """Features keep their names: a decision after it has the same codes."""
    mine = made(2, 5, policy=IN_COLUMNS)
    bandit = Bandit(policy=ENSEMBLE, seed=1, ids=counted())
    assert bandit.learn_from(mine.log) == 5
    first = bandit.events().filter(kind="decision")
    context, arms = mine.log.contexts[0].tolist(), (mine.log.features or [])[0].tolist()
    bandit.decide(context, arms={str(i): row for i, row in enumerate(arms)})
    last = bandit.events().filter(kind="decision")[-1]
    for name in ("context", "context_codes", "features", "feature_codes"):
        assert last[name].to_list() == first[:1][name].to_list()
