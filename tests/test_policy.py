"""Messages name the policies that can do what was asked for."""

import re

import pytest

from giro import BadParameter, Bandit, Policy
from giro.offer import Shape
from giro.policy import policies_that_hash, policies_with_arm_features, start
from giro.seeds import stream


def test_policies_that_know_arms_by_features_are_named_as_they_are_written() -> None:
    named = policies_with_arm_features()
    assert {"lin-ucb", "greedy:model=...", "epsilon-greedy:model=..."} <= set(named)
    assert {"greedy", "uniform"}.isdisjoint(named)
    for text in named:
        if Policy.known()[text.partition(":")[0]].__module__.startswith("giro."):
            policy = Policy.parse(text.replace("...", "linear"))
            assert policy.uses_arm_features and policy.uses_contexts


def test_who_uses_greedy_without_a_model_is_shown_it_with_one() -> None:
    with pytest.raises(BadParameter, match=re.escape("greedy:model=...")) as error:
        Bandit(policy="greedy")
    assert not re.search(r"\bgreedy,|\bgreedy$|uniform", str(error.value))


def test_policies_that_hash_are_those_that_take_hashed_models() -> None:
    shape, able = Shape(3, 0, 0, 10, 10, sparse=True), policies_that_hash()
    assert "greedy" in able
    for name in able:
        start(Policy.parse(f"{name}:model=hashed"), shape, stream(0))
    with pytest.raises(BadParameter, match=re.escape(f"model=hashed: {', '.join(able)}")):
        start(Policy.parse("lin-ucb"), shape, stream(0))
