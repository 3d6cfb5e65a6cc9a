"""New arms whose rewards take long get some decisions, and then wait for the first reward."""

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from bandit.clock import Clock, bandit_of, chances_of, counted, state_of
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import ALPHA, assert_follows
from scipy import stats

from giro import Bandit
from giro.policies.randomized import Randomized
from giro.seeds import stream

MEANS = {"a": 0.3, "b": 0.5, "c": 0.6, "new": 0.7}
POLICIES = ("giro:a=1/3", "thompson", "ucb1")


def taught(policy: Any = "giro:a=1/3", **rest: Any) -> Bandit:
    """Return a bandit that knows all of its three arms, and just now has a new one."""
    bandit = bandit_of(policy, "abc", **rest)
    for i in range(30):
        arm = i % 3
        bandit.reward(bandit.decide(arms=["abc"[arm]]).id, float(i % 10 < 3 + 2 * arm))
    bandit.add_arm("new")
    return bandit


def played(bandit: Bandit, n: int, *, delay: int, seed: int) -> list[str]:
    """Return the arms of n decisions, each rewarded `delay` decisions later."""
    rng, waiting, arms = stream(seed), deque(bandit.pending()), []
    for _ in range(n):
        waiting.append(bandit.decide())
        arms.append(waiting[-1].arm)
        if len(waiting) > delay:
            decision = waiting.popleft()
            bandit.reward(decision.id, float(rng.random() < MEANS[decision.arm]))
    return arms


@pytest.mark.parametrize("policy", ["giro:a=1/3", "ucb1", "greedy"])
def test_a_new_arm_gets_ten_decisions_before_its_first_reward(policy: str, seed: int) -> None:
    bandit = taught(policy, seed=seed)
    assert played(bandit, 200, delay=200, seed=seed).count("new") == 10
    bandit.reward(bandit.pending()[0].id, 1.0)  # the first decision was for the new arm
    assert "new" in played(bandit, 20, delay=200, seed=seed)


@pytest.mark.parametrize(("first", "expected"), [(1, 1), (25, 25), (None, 200)])
def test_how_many_decisions_a_new_arm_gets_is_a_parameter(
    first: int | None, expected: int, seed: int
) -> None:
    bandit = taught("ucb1", first_decisions=first)
    assert played(bandit, 200, delay=200, seed=seed).count("new") == expected


@pytest.mark.parametrize("policy", POLICIES)
def test_without_delay_nothing_changes(policy: str, seed: int) -> None:
    limited, unlimited = (taught(policy, first_decisions=first) for first in (10, None))
    arms = played(limited, 200, delay=0, seed=seed)
    assert arms == played(unlimited, 200, delay=0, seed=seed)
    assert limited.events().drop("setting").equals(unlimited.events().drop("setting"))


def test_decisions_for_a_new_arm_that_expire_let_it_in_again() -> None:
    clock = Clock()
    bandit = taught("ucb1", clock=clock)
    assert [d.arm for d in bandit.decide_many(12)].count("new") == 10
    clock.now += 100.0
    bandit.expire(older_than=50.0, reward=1.0)
    assert "new" in chances_of(bandit.decide())


def test_while_no_arm_has_a_reward_none_is_left_out(seed: int) -> None:
    bandit = bandit_of("giro", "abcd", seed=seed)
    decisions = bandit.decide_many(2_000)
    assert_follows(["abcd".index(decision.arm) for decision in decisions], np.full(4, 0.25))
    bandit.reward(decisions[0].id, 1.0)
    assert list(chances_of(bandit.decide())) == [decisions[0].arm]


def test_a_choice_among_new_arms_only_is_not_empty() -> None:
    bandit = taught()
    bandit.add_arm("newer")
    for arms in (["new"], ["new", "newer"]):
        assert {d.arm for d in bandit.decide_many(40, arms=arms)} == set(arms)
    assert list(chances_of(bandit.decide(arms=["new", "newer"]))) == ["new", "newer"]
    assert list(chances_of(bandit.decide(arms=["new", "b"]))) == ["b"]
    assert list(chances_of(bandit.decide())) == ["a", "b", "c"]


def test_a_retired_arm_comes_back_with_the_decisions_it_had() -> None:
    bandit = taught("ucb1")
    bandit.decide_many(10)
    bandit.retire_arm("new")
    bandit.add_arm("new")
    assert list(chances_of(bandit.decide())) == ["a", "b", "c"]


def test_arms_follow_their_probabilities_while_a_new_one_waits(seed: int) -> None:
    bandit = taught(seed=seed)
    assert [chances_of(d)["new"] for d in bandit.decide_many(10)] == [1.0] * 10
    decisions = bandit.decide_many(4_000)
    law = chances_of(decisions[0])
    assert list(law) == ["a", "b", "c"]
    assert 0.0 < min(law.values()) < max(law.values()) < 1.0
    assert_follows(["abc".index(d.arm) for d in decisions], np.array(list(law.values())))


def test_arms_are_drawn_from_votes_while_a_new_one_waits(seed: int) -> None:
    def drawn_reward(history: np.ndarray, rng: np.random.Generator) -> float:
        return float(history[rng.integers(0, history.size)])

    bandit = taught(Randomized(drawn_reward), seed=seed, votes=4, floor=0.1)
    while "new" in chances_of(bandit.decide()):  # it may miss some by the floor
        pass
    decisions = bandit.decide_many(1_000)
    chances = np.array([chances_of(decision)["a"] for decision in decisions])
    chosen = np.array([decision.arm == "a" for decision in decisions])
    assert np.unique(chances).size > 2
    for p in np.unique(chances):
        hits = chosen[chances == p]
        assert stats.binomtest(int(hits.sum()), hits.size, p).pvalue > ALPHA


# -- saved and replayed --------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("pending", [4, 10, 15])
def test_bandits_with_new_arms_under_way_go_on_the_same(
    policy: str, pending: int, tmp_path: Path, seed: int
) -> None:
    bandit = taught(policy, seed=seed, first_decisions=8)
    played(bandit, pending, delay=50, seed=seed)
    bandit.save(tmp_path / "x.giro")
    loaded = Bandit.load(tmp_path / "x.giro", clock=Clock())
    again = Bandit.replay(bandit.events(), clock=Clock())
    for each in (bandit, loaded, again):
        each._new_id = counted("next ")
    arms = played(bandit, 100, delay=30, seed=seed)
    for other in (loaded, again):
        assert played(other, 100, delay=30, seed=seed) == arms
        assert state_of(other) == state_of(bandit)


# -- the same, slowly ----------------------------------------------------------------------------


def left_by_the_rule(events: pl.DataFrame, arms: list[str], first: int) -> list[str]:
    """Return the arms of a choice that are eligible after these events."""
    rewarded = set(events.filter(pl.col("kind").is_in(["reward", "expired"]))["arm"])
    chosen = events.filter(pl.col("kind") == "decision")["arm"].to_list()
    left = [arm for arm in arms if arm in rewarded or chosen.count(arm) < first]
    return left if rewarded & set(arms) else arms


steps = st.one_of(
    st.tuples(st.just("decide"), st.sets(st.sampled_from("abcdef"))),
    st.tuples(st.just("decide"), st.just(frozenset())),
    st.tuples(st.just("reward"), st.integers(0, 20)),
    st.tuples(st.just("add"), st.sampled_from("def")),
    st.tuples(st.just("retire"), st.sampled_from("abcdef")),
    st.tuples(st.just("expire"), st.just(None)),
    st.tuples(st.just("replay"), st.just(None)),
)


@settings(deadline=None, max_examples=100)
@given(todo=st.lists(steps, min_size=10, max_size=60), first=st.integers(1, 3))
def test_the_arms_of_a_decision_are_those_that_the_rule_leaves(todo: list[Any], first: int) -> None:
    ids = counted()
    bandit = bandit_of("ucb1", "abc", first_decisions=first, ids=ids)
    for step, what in todo:
        if step == "decide":
            asked = [arm for arm in bandit.arms if arm in what] or bandit.arms
            expected = left_by_the_rule(bandit.events(), asked, first)
            bandit.decide(arms=asked)
            assert list(bandit.pending()[-1].arms) == expected
        elif step == "reward" and what < bandit.n_decisions:
            bandit.reward(f"{what}", 0.0)
        elif step == "add" and what not in bandit.arms:
            bandit.add_arm(what)
        elif step == "retire" and what in bandit.arms[1:]:
            bandit.retire_arm(what)
        elif step == "expire":
            bandit.expire(0.0)
        elif step == "replay":
            bandit = Bandit.replay(bandit.events(), clock=Clock(), ids=ids)


def test_choices_that_rewards_do_not_change_are_not_held_back() -> None:
    bandit = Bandit(["old", "older"], "uniform", seed=1, first_decisions=2)
    bandit.reward(bandit.decide().id, 1.0)
    bandit.add_arm("new")
    decisions = [bandit.decide() for _ in range(60)]
    assert all(set(chances_of(d)) == {"old", "older", "new"} for d in decisions)
    assert sum(d.arm == "new" for d in decisions) > 2
