"""What callers know becomes numbers, in the same way ever after."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from bandit.clock import bandit_of, state_of

from giro import BadParameter, Bandit, GiroError, Policy
from giro.policy import Case, Offer, Shape

FEATURES = {"age": "number", "country": ["de", "fr"], "page": "hashed:4"}


def context_of(bandit: Bandit) -> list[float]:
    return bandit.events()["context"][-1].to_list()


@pytest.mark.parametrize("context", [[1, 2.5], (1, 2.5), np.array([1, 2.5], np.float32)])
def test_sequences_keep_their_numbers_and_nothing_is_added(context: Any) -> None:
    bandit = bandit_of()
    bandit.decide(context)
    assert context_of(bandit) == [1.0, 2.5]


@pytest.mark.parametrize("policy", ["lin-ucb:scale=0.1", "ensemble", "giro-ensemble"])
def test_an_arm_that_is_always_good_is_found_without_a_constant_in_the_context(policy: str) -> None:
    """Contexts have mean 0, so that only a constant of the policy's own can tell arms apart."""
    bandit = bandit_of(policy, "ab", seed=1, propensities=False)
    for i in range(60):
        decision = bandit.decide([1.0 - 2.0 * (i % 2)], arms=["ab"[i // 2 % 2]])
        bandit.reward(decision.id, 0.9 if decision.arm == "b" else 0.1)
    chosen = [decision.arm for decision in bandit.decide_many([[0.0], [1.0], [-1.0]] * 4)]
    assert chosen.count("b") >= 11


def test_a_context_may_change_after_the_decision() -> None:
    bandit, context = bandit_of(), np.array([1.0, 2.0])
    bandit.decide(context)
    context[:] = 9.0
    assert context_of(bandit) == [1.0, 2.0]


def test_declared_features_become_their_columns() -> None:
    bandit = bandit_of(features=FEATURES)
    bandit.decide({"page": "home", "country": "fr", "age": 31})
    row = context_of(bandit)
    assert row[:3] == [31.0, 0.0, 1.0]
    assert sorted(row[3:]) == [0.0, 0.0, 0.0, 1.0]


def test_the_first_mapping_decides_on_columns_if_none_were_declared() -> None:
    bandit = bandit_of()
    bandit.decide({"word": "x", "flag": True, "number": 2.5})
    row = context_of(bandit)
    assert row[:2] == [1.0, 2.5]
    assert len(row) == 2 + 16
    bandit.decide({"word": "never seen before", "flag": False, "number": -1})
    assert sum(context_of(bandit)[2:18]) == 1.0


def test_a_word_has_the_same_column_on_every_machine_and_for_ever() -> None:
    bandit = bandit_of(features={"page": "hashed:8", "other": 8})
    bandit.decide({"page": "home", "other": "home"})
    assert [i for i, value in enumerate(context_of(bandit)) if value] == [7, 13]


@pytest.mark.parametrize(
    ("context", "words"),
    [
        (None, "needs a context"),
        ([1.0], "wants a context of the features age, country, page, got 1 numbers"),
        ({"age": 1, "country": "de"}, "got age, country"),
        ({"age": 1, "country": "de", "pag": "x"}, "got age, country, pag"),
        ({"age": 1, "country": "de", "page": "x", "more": 1}, "got age, country, page, more"),
        ({"age": 1, "country": "it", "page": "x"}, "'country' is one of de, fr; got 'it'"),
        ({"age": "old", "country": "de", "page": "x"}, "'age' is a number, got 'old'"),
        ({"age": None, "country": "de", "page": "x"}, "'age' is a number, got None"),
        ({"age": [1], "country": "de", "page": "x"}, "'age' is a number"),
        ({"age": float("nan"), "country": "de", "page": "x"}, "'age' is a finite number"),
        ({"age": 1, "country": 2, "page": "x"}, "'country' is a word, got 2"),
    ],
)
def test_mappings_of_another_form_are_refused_and_change_nothing(context: Any, words: str) -> None:
    bandit = bandit_of(features=FEATURES)
    with pytest.raises(BadParameter):
        bandit.decide(context if context is not None else {})
    bandit.decide({"age": 1, "country": "de", "page": "x"})
    before = state_of(bandit)
    with pytest.raises(BadParameter, match=words):
        bandit.decide(context)
    assert state_of(bandit) == before


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ([1.0], "wants a context of 2 numbers, got 1 numbers"),
        ([1.0, float("nan")], "finite numbers"),
        ([1.0, float("inf")], "finite numbers"),
        (["1", "2"], "list of numbers"),
        ("ab", "list of numbers"),
        ([[1.0, 2.0]], "list of numbers"),
        ([[1.0], [2.0, 3.0]], "holds numbers"),
        (3.0, "list of numbers"),
        ([], "list of numbers"),
        ([1.0, None], "list of numbers"),
        ({"x": 1.0}, "wants a context of 2 numbers, got x"),
        (None, "needs a context"),
    ],
)
def test_sequences_of_another_form_are_refused_and_change_nothing(context: Any, words: str) -> None:
    bandit = bandit_of()
    bandit.decide([1.0, 2.0])
    before = state_of(bandit)
    with pytest.raises(BadParameter, match=words):
        bandit.decide(context)
    with pytest.raises(BadParameter, match=words):
        bandit.decide_many([[1.0, 2.0], context])
    assert state_of(bandit) == before


def test_a_context_refused_at_first_decides_nothing() -> None:
    bandit = bandit_of()
    for context, arms in ([1.0], ["z"]), ({"x": 1}, []), ([1.0, None], None):
        with pytest.raises(GiroError):
            bandit.decide(context, arms=arms)
    with pytest.raises(GiroError):
        bandit.decide_many([[1.0], [1.0, 2.0]])
    bandit.decide([1.0, 2.0, 3.0])
    assert context_of(bandit) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("features", [{"x": 0}, {"x": []}, {"x": ["a", "a"]}, {"x": "hashed:x"}])
def test_features_are_declared_in_one_of_three_ways(features: Any) -> None:
    with pytest.raises(BadParameter, match="'number', a list of different words, or 'hashed:32'"):
        bandit_of(features=features)


class _Seen(NamedTuple):
    rows: list[tuple[list[float], int, float]]
    n_features: int


@dataclass(frozen=True)
class Nearest(Policy, name="nearest-of-tests"):
    """Takes the arm with the best reward in the nearest context."""

    def start(self, shape: Shape, rng: np.random.Generator) -> _Seen:
        return _Seen([], shape.n_features)

    @staticmethod
    def choose(state: _Seen, offer: Offer, rng: np.random.Generator) -> int:
        assert offer.context.shape == (state.n_features,)
        near = [row for row in state.rows if np.allclose(row[0], offer.context)]
        return max(near, key=lambda row: row[2])[1] if near else int(rng.choice(offer.arms))

    @staticmethod
    def learn(state: _Seen, case: Case, arm: int, reward: float, rng: Any) -> None:
        state.rows.append((case.context.tolist(), int(arm), float(reward)))


del Policy._known["nearest-of-tests"]  # no policy for the contract tests


def test_a_reward_is_learned_in_the_context_of_its_decision() -> None:
    bandit = bandit_of(Nearest(), "ab", propensities=False)
    for best, colour in (("a", "red"), ("b", "blue")):
        for arm in "ab":
            decision = bandit.decide({"colour": colour}, arms=[arm])
            bandit.reward(decision.id, float(arm == best))
    chosen = bandit.decide_many([{"colour": "red"}, {"colour": "blue"}, {"colour": "red"}])
    assert [decision.arm for decision in chosen] == ["a", "b", "a"]


def test_policies_without_contexts_still_log_them() -> None:
    bandit = bandit_of("thompson")
    for i in range(100):
        decision = bandit.decide([float(i), 1.0])
        bandit.reward(decision.id, 1.0)
    events = bandit.events()
    assert events["context"].drop_nulls().to_list() == [[float(i), 1.0] for i in range(100)]
