"""Another policy takes over: whose decisions are whose is never forgotten."""

from pathlib import Path
from typing import Any

import pytest
from bandit.clock import Clock, bandit_of

from giro import BadParameter, Bandit, evaluate

N = 30


def taught(policy: str = "ucb1") -> Bandit:
    bandit = bandit_of(policy, "ab", name="x")
    for i in range(N):
        bandit.reward(bandit.decide().id, float(i % 3 == 0))
    return bandit


def by_file(bandit: Bandit, folder: Path, policy: str | None = None) -> Bandit:
    bandit.save(folder / "x.giro")
    return Bandit.load(folder / "x.giro", policy, clock=Clock())


def by_events(bandit: Bandit, folder: Path, policy: str | None = None) -> Bandit:
    del folder
    return Bandit.replay(bandit.events(propensities=False), policy, clock=Clock())


def by_lines(bandit: Bandit, folder: Path, policy: str | None = None) -> Bandit:
    bandit.write_events(folder / "x.jsonl", propensities=False)
    return Bandit.replay(folder / "x.jsonl", policy, clock=Clock())


WAYS = {way.__name__: way for way in (by_file, by_events, by_lines)}
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@each_way
@pytest.mark.parametrize("then", WAYS.values(), ids=WAYS)
def test_probabilities_that_nobody_knew_stay_unknown(way: Any, then: Any, tmp_path: Path) -> None:
    bandit = way(taught(), tmp_path, "thompson")
    for _ in range(3):
        bandit = then(bandit, tmp_path)
        assert bandit.policy.name == "thompson"
        assert [bandit.decision(f"x-{i}").propensities for i in range(N)] == [None] * N
        new = bandit.decide()
        assert sum(new.propensities.values()) == pytest.approx(1.0)
        bandit.reward(new.id, 1.0)
    known = bandit.events().filter(kind="decision")["propensity"].to_list()
    assert known[:N] == [None] * N
    assert None not in known[N:]


@each_way
def test_probabilities_that_were_read_are_those_of_the_policy_that_decided(
    way: Any, tmp_path: Path
) -> None:
    before = taught("epsilon-greedy:epsilon=0.3")
    read = {i: dict(before.decision(f"x-{i}").propensities) for i in range(0, N, 3)}
    bandit = way(way(before, tmp_path, "thompson"), tmp_path)
    for i in range(N):
        assert bandit.decision(f"x-{i}").propensities == read.get(i)


@each_way
def test_a_policy_that_comes_back_does_not_claim_the_decisions(way: Any, tmp_path: Path) -> None:
    bandit = way(way(taught(), tmp_path, "thompson"), tmp_path, "ucb1")
    assert bandit.decision("x-3").propensities is None
    assert bandit.decide().propensities is not None


@each_way
def test_the_same_policy_by_its_text_changes_nothing(way: Any, tmp_path: Path) -> None:
    bandit = way(taught("thompson"), tmp_path, "thompson")
    assert bandit.decision("x-3").propensities == taught("thompson").decision("x-3").propensities


@each_way
def test_a_new_policy_goes_on_the_same_when_saved_again(way: Any, tmp_path: Path) -> None:
    first = by_file(taught(), tmp_path, "giro")
    second = way(first, tmp_path)
    chosen = [[decision.arm for decision in each.decide_many(20)] for each in (first, second)]
    assert chosen[0] == chosen[1]


def test_an_evaluation_does_not_take_one_policys_probabilities_for_the_others(
    tmp_path: Path,
) -> None:
    changed = by_file(by_file(taught(), tmp_path, "thompson"), tmp_path)
    with pytest.raises(BadParameter, match="decision 'x-0', has no propensity"):
        evaluate(changed.events(), "always:a")
