"""What a bandit's parameters may be, and how they are written."""

from typing import Any

import pytest

from giro import BadParameter, Bandit, Policy, UnknownName
from giro.bandit.setting import Setting


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"arms": []}, "not empty"),
        ({"arms": "ab"}, "list of names"),
        ({"arms": ["a", "a"]}, "named twice"),
        ({"arms": ["a", 2]}, "list of names"),
        ({"seed": -1}, "a whole number seed >= 0"),
        ({"seed": 1.5}, "a whole number seed >= 0"),
        ({"reward_range": (1, 1)}, "low < high"),
        ({"reward_range": 3}, "pair of numbers"),
        ({"reward_range": (0, float("inf"))}, "finite"),
        ({"reward_range": (-1e308, 1e308)}, "finite"),  # which are too far from each other
        ({"votes": 0}, "a whole number votes >= 1"),
        ({"floor": 1.5}, r"floor in \[0, 1\]"),
        ({"rounds": 0}, "a whole number rounds >= 1"),
        ({"name": ""}, "a bandit needs a non-empty word as name, or none, got name="),
        ({"features": {"x": "numbr"}}, "feature 'x' is 'number'"),
        ({"policy": "epsilon-greedy"}, "give the bandit rounds=..."),
    ],
)
def test_parameters_are_checked(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(BadParameter, match=words):
        Bandit(**({"arms": ["a", "b"], "policy": "ucb1"} | arguments))
    with pytest.raises(UnknownName):
        Bandit(["a"], "gyro")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"reward_aggregation": "sum"}, "needs reward_wait"),
        ({"reward_aggregation": "mean", "reward_wait": 1.0}, "one of only, first, last, sum"),
        ({"reward_wait": -1.0}, "reward_wait > 0"),
        ({"default_reward": 7.0}, r"a number in \[0, 1\]"),
        ({"share": 1.5}, r"share in \[0, 1\]"),
        ({"store": "shop.db", "name": "x"}, "sqlite:///FILE"),
        ({"store": "sqlite:///x.db"}, "needs a non-empty word as name, got name=None"),
    ],
)
def test_new_parameters_are_checked(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(BadParameter, match=words):
        Bandit(["a", "b"], "ucb1", **arguments)


def test_the_parameter_is_saved_and_files_without_it_have_ten() -> None:
    told = Setting(Policy.parse("ucb1"), first_decisions=3).to_json()
    assert Setting.from_json(told).first_decisions == 3
    del told["first_decisions"]
    assert Setting.from_json(told).first_decisions == 10
    for wrong in list[Any]((0, 1.5, True)):
        with pytest.raises(BadParameter, match="a whole number first_decisions >= 1"):
            Bandit(["a"], "ucb1", first_decisions=wrong)
