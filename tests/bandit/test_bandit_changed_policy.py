"""Another policy takes over: whose decisions are whose is never forgotten."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from bandit.clock import Clock, bandit_of, counted

from giro import Bandit, evaluate

N = 30


def taught(policy: str = "ucb1") -> Bandit:
    bandit = bandit_of(policy, "ab")
    for i in range(N):
        bandit.reward(bandit.decide().id, float(i % 3 == 0))
    return bandit


def by_file(bandit: Bandit, folder: Path, policy: str | None = None) -> Bandit:
    bandit.save(folder / "x.giro")
    return Bandit.load(folder / "x.giro", policy, clock=Clock())


def by_events(bandit: Bandit, folder: Path, policy: str | None = None) -> Bandit:
    del folder
    return Bandit.replay(bandit.events(), policy, clock=Clock())


def by_lines(bandit: Bandit, folder: Path, policy: str | None = None) -> Bandit:
    bandit.write_events(folder / "x.jsonl")
    return Bandit.replay(folder / "x.jsonl", policy, clock=Clock())


WAYS = {way.__name__: way for way in (by_file, by_events, by_lines)}
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@each_way
@pytest.mark.parametrize("then", WAYS.values(), ids=WAYS)
def test_probabilities_stay_those_of_the_policy_that_decided(
    way: Any, then: Any, tmp_path: Path
) -> None:
    """With giro 0.1.0 they became those of the new policy after the next save and load."""
    before = taught("epsilon-greedy:epsilon=0.3")
    decided = [before.decision(f"{i}").propensities for i in range(N)]
    bandit = way(before, tmp_path, "thompson")
    for _ in range(3):
        bandit = then(bandit, tmp_path)
        assert bandit.policy.name == "thompson"
        assert [bandit.decision(f"{i}").propensities for i in range(N)] == decided
        new = bandit.decide()
        assert sum(new.propensities.values()) == pytest.approx(1.0)
        bandit.reward(new.id, 1.0)
    assert bandit.events().filter(kind="decision")["propensity"].null_count() == 0


@each_way
def test_a_policy_that_comes_back_has_learned_everything(way: Any, tmp_path: Path) -> None:
    changed = way(taught(), tmp_path, "thompson")
    new = changed.decide()
    changed.reward(new.id, 1.0)
    back = way(changed, tmp_path, "ucb1")
    assert back.n_rewards == back._state.live.learned == N + 1
    assert back.decide().propensities is not None


@each_way
def test_the_same_policy_by_its_text_changes_nothing(way: Any, tmp_path: Path) -> None:
    bandit = way(taught("thompson"), tmp_path, "thompson")
    assert bandit.events().drop("setting").equals(taught("thompson").events().drop("setting"))


@each_way
def test_a_new_policy_goes_on_the_same_when_saved_again(way: Any, tmp_path: Path) -> None:
    first = by_file(taught(), tmp_path, "giro")
    second = way(first, tmp_path)
    for each in (first, second):
        each._new_id = counted("next")
    chosen = [[decision.arm for decision in each.decide_many(20)] for each in (first, second)]
    assert chosen[0] == chosen[1]


def test_an_evaluation_of_a_changed_bandit_takes_each_policys_own_probabilities(
    tmp_path: Path,
) -> None:
    changed = by_file(by_file(taught("uniform"), tmp_path, "thompson"), tmp_path)
    found = evaluate(changed.events(), "always:a", estimators=["ips"])
    decisions = taught("uniform").events()
    chosen = decisions.filter((pl.col("kind") == "reward") & (pl.col("arm") == "a"))
    assert found.rows[0].value == pytest.approx(chosen["reward"].sum() * 2 / N)
