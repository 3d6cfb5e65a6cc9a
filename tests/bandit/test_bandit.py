"""Decide now, reward later: what a bandit does and what it refuses."""

import os
import threading
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from bandit.clock import Clock, bandit_of, live_of, state_of

import giro
from giro import BadParameter, Bandit, GiroError, Policy, live
from giro.errors import ModelWarning
from giro.policy import Case, Offer, Shape


def test_rewards_reach_the_arm_that_was_chosen() -> None:
    bandit = bandit_of("greedy", "ab", seed=1)
    for _ in range(2):
        decision = bandit.decide()
        bandit.reward(decision.id, 1.0 if decision.arm == "b" else 0.0)
    assert {bandit.decide().arm for _ in range(20)} == {"b"}


def test_the_first_decisions_spread_over_arms_while_rewards_are_under_way(seed: int) -> None:
    for policy in ("ucb1", "giro", "greedy"):
        bandit = bandit_of(policy, "abcd", seed=seed)
        assert {bandit.decide().arm for _ in range(60)} == set("abcd"), policy


def test_the_same_seed_and_calls_give_the_same_decisions() -> None:
    first, second, other = (bandit_of("thompson", seed=seed) for seed in (5, 5, 6))

    def arms(bandit: Bandit) -> list[str]:
        return [decision.arm for decision in bandit.decide_many(40)]

    assert arms(first) == arms(second) != arms(other)


def test_a_decision_depends_on_its_number_and_not_on_who_asked_before() -> None:
    one, many = bandit_of("uniform"), bandit_of("uniform")
    many.decide_many(7)
    for _ in range(7):
        one.decide()
    assert one.decide().arm == many.decide().arm


def test_a_number_of_decisions_may_be_of_any_integer_type() -> None:
    bandit = bandit_of("uniform")
    assert len(bandit.decide_many(np.int64(3))) == 3
    assert bandit.decide_many(0) == []
    with pytest.raises(BadParameter, match="a number >= 0, got -3"):
        bandit.decide_many(-3)
    with pytest.raises(BadParameter, match="a number >= 0, got True"):
        bandit.decide_many(True)
    assert bandit.n_decisions == 3


def test_the_same_report_again_changes_nothing() -> None:
    bandit = bandit_of()
    decision = bandit.decide()
    bandit.reward(decision.id, 0.5)
    before = state_of(bandit)
    bandit.reward(decision.id, 0.5)
    bandit.reward_many({decision.id: 0.5})
    assert state_of(bandit) == before


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.01, 1.01, "1", None, [1.0]])
def test_rewards_outside_the_range_are_refused_and_change_nothing(value: Any) -> None:
    bandit = bandit_of()
    decision = bandit.decide()
    before = state_of(bandit)
    with pytest.raises(BadParameter, match=r"a number in \[0, 1\]"):
        bandit.reward(decision.id, value)
    assert state_of(bandit) == before


def test_another_reward_for_the_same_decision_is_an_error_that_changes_nothing() -> None:
    bandit = bandit_of()
    decision = bandit.decide()
    bandit.reward(decision.id, 1.0)
    before = state_of(bandit)
    with pytest.raises(BadParameter, match=r"already has the reward 1, got 0$"):
        bandit.reward(decision.id, 0.0)
    assert state_of(bandit) == before


def test_rewards_that_differ_by_rounding_are_shown_so_that_they_differ() -> None:
    bandit = bandit_of()
    decision = bandit.decide()
    bandit.reward(decision.id, 0.1 + 0.2)
    with pytest.raises(BadParameter, match=r"the reward 0\.30000000000000004, got 0\.3$"):
        bandit.reward(decision.id, 0.3)


@pytest.mark.parametrize("id", ["", "nobody", "1", "00", " 0", 7, None])
def test_unknown_ids_are_an_error_that_changes_nothing(id: Any) -> None:
    bandit = bandit_of(name="x")
    bandit.decide()
    before = state_of(bandit)
    with pytest.raises(BadParameter, match=r"no decision has the id|an id is a word of 1 to 256"):
        bandit.reward(id, 1.0)
    assert state_of(bandit) == before


def test_of_several_rewards_none_counts_if_one_is_refused() -> None:
    bandit = bandit_of()
    first, second = bandit.decide(), bandit.decide()
    before = state_of(bandit)
    for second_value in (2.0, float("nan")):
        with pytest.raises(BadParameter):
            bandit.reward_many([(first.id, 1.0), (second.id, second_value)])
    with pytest.raises(BadParameter, match="two different rewards"):
        bandit.reward_many([(first.id, 1.0), (first.id, 0.0)])
    assert state_of(bandit) == before
    bandit.reward_many([(second.id, 1.0), (first.id, 1.0)])
    assert bandit.pending() == []


def test_rewards_in_other_units_teach_the_same() -> None:
    unit, other = bandit_of("giro"), bandit_of("giro", reward_range=(-10, 40))
    for i in range(30):
        first, second = unit.decide(), other.decide()
        assert first.arm == second.arm
        unit.reward(first.id, i % 2)
        other.reward(second.id, -10 + 50 * (i % 2))
    assert other.events()["reward"].drop_nulls().unique().sort().to_list() == [-10.0, 40.0]


def test_rewards_in_any_order_are_learned_in_the_order_they_come() -> None:
    forth, back = bandit_of("giro", "ab"), bandit_of("giro", "ab")
    ids = [[d.id for d in bandit.decide_many(9)] for bandit in (forth, back)]
    assert ids[0] == ids[1]
    for i in range(9):
        forth.reward(ids[0][i], i % 3 == 0)
        back.reward(ids[0][8 - i], (8 - i) % 3 == 0)
    laws = [bandit.decide().propensities for bandit in (forth, back)]
    assert laws[0] == pytest.approx(laws[1], abs=1e-12)


def test_decisions_never_rewarded_expire_with_a_default() -> None:
    clock = Clock()
    bandit = bandit_of(clock=clock)
    old, rewarded = bandit.decide(), bandit.decide()
    bandit.reward(rewarded.id, 1.0)
    clock.now += 100.0
    young = bandit.decide()
    assert bandit.expire(older_than=timedelta(seconds=60)) == [old]
    assert bandit.pending() == [young]
    assert bandit.events()["kind"][-1] == "expired"
    assert bandit.events()["reward"][-1] == 0.0
    bandit.reward(old.id, 0.0)  # says the same
    with pytest.raises(BadParameter, match="already has the reward 0 since it expired, got 1"):
        bandit.reward(old.id, 1.0)
    assert bandit.expire(older_than=0.0, reward=0.25) == [young]
    for refused in (
        {"older_than": -1.0},
        {"older_than": "1h"},
        {"older_than": float("nan")},
        {"older_than": 1.0, "reward": 2.0},
    ):
        with pytest.raises(BadParameter):
            bandit.expire(**refused)


def test_a_default_is_learned_like_a_reward() -> None:
    expired, rewarded = bandit_of("giro", "ab"), bandit_of("giro", "ab")
    for bandit in (expired, rewarded):
        bandit.decide_many(6)
    expired.expire(0.0)
    for decision in rewarded.pending():
        rewarded.reward(decision.id, 0.0)
    assert expired.decide().propensities == rewarded.decide().propensities


# -- arms ------------------------------------------------------------------------------------


def taught(policy: str = "greedy", arms: str = "abc", rounds: int = 60, **rest: Any) -> Bandit:
    """Return a bandit that knows c to be best."""
    bandit = bandit_of(policy, arms, **rest)
    for _ in range(rounds):
        decision = bandit.decide()
        bandit.reward(decision.id, {"a": 0.2, "b": 0.4, "c": 0.9}.get(decision.arm, 0.0))
    return bandit


def test_a_new_arm_is_explored_from_the_start() -> None:
    bandit = taught()
    assert bandit.decide().arm == "c"
    bandit.add_arm("d")
    assert bandit.arms == ["a", "b", "c", "d"]
    assert bandit.decide().arm == "d"


def test_a_retired_arm_is_not_chosen_but_its_rewards_under_way_are_accepted() -> None:
    bandit = taught()
    waiting = bandit.decide()
    assert waiting.arm == "c"
    bandit.retire_arm("c")
    assert {decision.arm for decision in bandit.decide_many(20)} == {"b"}
    bandit.reward(waiting.id, 1.0)
    assert bandit.decide().arm == "b"
    assert waiting.propensities == {"a": 0.0, "b": 0.0, "c": 1.0}


def test_an_arm_that_comes_back_brings_its_past() -> None:
    bandit = taught()
    bandit.retire_arm("c")
    bandit.decide()
    bandit.add_arm("c")
    assert bandit.decide().arm == "c"


def test_a_choice_among_some_arms_knows_their_rewards() -> None:
    bandit = taught()
    assert bandit.decide(arms=["b", "a"]).arm == "b"
    assert bandit.decide(arms=["a"]).arm == "a"
    assert bandit.decide(arms=["a"]).propensities == {"a": 1.0}
    assert bandit.decide().arm == "c"


def test_a_choice_among_some_arms_has_the_law_of_a_bandit_that_has_no_others() -> None:
    all_arms, only_ab = bandit_of("thompson", "abc"), bandit_of("thompson", "ab")
    for i in range(40):
        decision = all_arms.decide()
        all_arms.reward(decision.id, i % 2)
        if decision.arm in "ab":
            mine = only_ab.decide(arms=[decision.arm])
            only_ab.reward(mine.id, i % 2)
    expected = only_ab.decide().propensities
    assert all_arms.decide(arms=["a", "b"]).propensities == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda b: b.decide(arms=["a", "z"]), "no arm is called 'z'"),
        (lambda b: b.decide(arms=["c"]), "'c' is retired"),
        (lambda b: b.decide(arms=[]), "not empty"),
        (lambda b: b.decide(arms="ab"), "a list of names"),
        (lambda b: b.decide(arms=["a", "a"]), "named twice"),
        (lambda b: b.decide(id="mine", arms=["a"]), "was asked for by another request"),
        (lambda b: b.decide(id=""), "an id is a word of 1 to 256 characters without NUL, got ''"),
        (lambda b: b.decide([1.0]), "wants no context"),
        (lambda b: b.add_arm("a"), "already is an arm 'a'"),
        (lambda b: b.add_arm(""), "a list of names"),
        (lambda b: b.retire_arm("z"), "no arm is called 'z'"),
        (lambda b: b.retire_arm("c"), "'c' is retired"),
    ],
)
def test_what_is_refused_changes_nothing(call: Any, words: str) -> None:
    bandit = bandit_of("ucb1", "abc", name="x")
    bandit.decide(id="mine")
    bandit.retire_arm("c")
    before = state_of(bandit)
    with pytest.raises(giro.GiroError, match=words):
        call(bandit)
    assert state_of(bandit) == before


def test_the_last_arm_stays() -> None:
    bandit = bandit_of("ucb1", "a")
    with pytest.raises(BadParameter, match="last arm"):
        bandit.retire_arm("a")
    assert bandit.decide().arm == "a"


def test_a_policy_that_plans_for_rounds_is_told_them() -> None:
    bandit = bandit_of("epsilon-greedy:share=0.5", rounds=100)
    law = bandit.decide().propensities
    assert law == pytest.approx(dict.fromkeys("abc", 1 / 3))
    assert bandit_of("epsilon-greedy:epsilon=0.1").decide().arm in "abc"


def test_a_bandit_shows_what_it_has_seen() -> None:
    bandit = taught("uniform", "ab", rounds=3)
    assert repr(bandit) == "Bandit(['a', 'b'], 'uniform': 3 decisions, 3 rewards)"


def test_a_policy_in_plain_python_works_the_same_way() -> None:
    policy = giro.policies.randomized.Randomized(lambda history, rng: history.mean())
    bandit = Bandit(["a", "b"], policy, seed=2, votes=5)
    for _ in range(30):
        decision = bandit.decide()
        bandit.reward(decision.id, float(decision.arm == "b"))
    law = bandit.decide().propensities
    assert law is not None
    assert law["b"] > 0.99
    assert np.isclose(sum(law.values()), 1.0)


def test_a_policy_that_chooses_an_arm_it_does_not_have_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy = giro.policies.randomized.Randomized(lambda history, rng: history.mean())
    bandit = Bandit(["a", "b", "c"], policy, propensities=False)
    monkeypatch.setattr(live, "choose", lambda state, offer, rng: 1)
    bandit.decide()
    assert bandit.decide().arm == "b"
    with pytest.warns(ModelWarning, match="chose an arm that is not on offer"):
        decision = bandit.decide(arms=["a", "c"])
    assert decision.propensities == {"a": 0.5, "c": 0.5}  # by chance, which is known


class _Rewards(NamedTuple):
    values: list[float]


@dataclass(frozen=True)
class Choking(Policy, name="choking-of-tests"):
    """Takes the first arm, and cannot learn 0.5."""

    def start(self, shape: Shape, rng: np.random.Generator) -> _Rewards:
        return _Rewards([])

    @staticmethod
    def choose(state: _Rewards, offer: Offer, rng: np.random.Generator) -> int:
        return int(offer.arms[0])

    @staticmethod
    def learn(state: _Rewards, case: Case, arm: int, reward: float, rng: Any) -> None:
        state.values.append(reward)
        if reward == 0.5:
            raise GiroError("this model cannot learn 0.5")


del Policy._known["choking-of-tests"]  # no policy for the contract tests


def test_a_reward_that_cannot_be_learned_is_kept_and_the_bandit_goes_on(tmp_path: Path) -> None:
    """With giro 0.1.0 the bandit was dead from then on, and its file too."""
    bandit = bandit_of(Choking(), propensities=False)
    ids = [decision.id for decision in bandit.decide_many(6)]
    bandit.reward_many({ids[0]: 0.0, ids[1]: 1.0})
    with pytest.warns(ModelWarning, match=r"goes on without it: this model cannot learn 0\.5"):
        bandit.reward(ids[2], 0.5)
    with pytest.warns(ModelWarning):
        bandit.reward_many({ids[3]: 0.25, ids[4]: 0.5, ids[5]: 1.0})
    assert bandit.n_rewards == live_of(bandit._state).learned == 6
    assert live_of(bandit._state).state.values == [0.0, 1.0, 0.5, 0.25, 0.5, 1.0]
    assert bandit.decide().arm == "a"
    bandit.save(tmp_path / "x.giro")
    with pytest.warns(ModelWarning):
        loaded = Bandit.load(tmp_path / "x.giro", Choking())
    assert loaded.n_rewards == 6


class _Silence(NamedTuple):
    values: list[float]


@dataclass(frozen=True)
class Silent(Choking, name="silent-of-tests"):
    """Cannot choose."""

    def start(self, shape: Shape, rng: np.random.Generator) -> Any:
        return _Silence([])

    @staticmethod
    def choose(state: _Rewards, offer: Offer, rng: np.random.Generator) -> int:
        raise ValueError("input contains NaN")


del Policy._known["silent-of-tests"]


def test_a_policy_that_fails_is_replaced_by_chance() -> None:
    bandit = bandit_of(Silent())
    with pytest.warns(ModelWarning, match="an arm was taken at random: input contains NaN"):
        decisions = bandit.decide_many(60)
    assert {decision.arm for decision in decisions} == set("abc")
    assert decisions[0].propensities == dict.fromkeys("abc", 1 / 3)


# -- other processes -------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_process_goes_on_with_ids_of_its_own() -> None:
    """With giro 0.1.0 children gave the same ids, or hung if a thread was at work."""
    bandit, stop = Bandit(["a", "b"], "thompson"), threading.Event()
    bandit.decide()

    def busy() -> None:
        while not stop.is_set():
            bandit.events()
            bandit.decide()

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for _ in range(5):
            read, write = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    os.write(write, bandit.decide().id.encode())
                finally:
                    os._exit(0)
            os.close(write)
            id = os.read(read, 100).decode()
            os.waitpid(child, 0)
            assert len(id) == 16
            with pytest.raises(BadParameter, match="no decision"):
                bandit.decision(id)
    finally:
        stop.set()
        thread.join()
