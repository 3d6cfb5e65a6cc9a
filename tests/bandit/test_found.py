"""Earlier decisions with all that the log knows of them."""

from typing import Any

import pytest
from bandit.clock import Clock, bandit_of

from giro import Bandit, UnknownDecision


def test_a_decision_is_found_with_what_came_of_it() -> None:
    clock = Clock()
    bandit = bandit_of(
        "lin-ucb",
        clock=clock,
        reward_aggregation="sum",
        reward_wait=60.0,
        features={"page": ["news"], "age": "number"},
    )
    bandit.decide({"page": "news", "age": 3})
    bandit.reward("0", 0.25)
    found = bandit.look_up("0")
    assert found.decision == bandit.decision("0")
    assert (found.reward, found.rewarded, found.expired) == (None, None, False)
    assert found.reports == (0.25,)
    assert found.context == {"page": "news", "age": 3.0}
    bandit.decide({"page": "else", "late": "x"})
    bandit.reward("0", 0.5)
    clock.now += 60.0
    bandit.keep()
    found = bandit.look_up("0")
    assert (found.reward, found.rewarded, found.reports) == (0.75, clock.now, (0.25, 0.5))
    later = bandit.look_up("1")
    assert (later.reward, later.expired) == (0.0, True)
    assert later.context is not None
    assert later.context.pop("late").startswith("words with hash ")
    assert later.context == {"page": "any other word"}
    assert later.features == {}
    with pytest.raises(UnknownDecision):
        bandit.look_up("nobody")


def test_features_of_arms_are_found_by_their_names() -> None:
    bandit = Bandit(None, "rand-ucb", ids="numbered")
    arms: dict[str, Any] = {"x": {"price": 1.0, "colours": ["red", "blue"]}, "y": {"price": 2.0}}
    bandit.decide(arms=arms)
    features = bandit.look_up("0").features
    assert features is not None
    assert features["y"] == {"price": 2.0}
    assert len(features["x"].pop("colours")) == 2
    assert features["x"] == {"price": 1.0}


def test_numbers_are_named_by_their_places() -> None:
    bandit = bandit_of("lin-ucb")
    bandit.decide([0.5, 2.0])
    assert bandit.look_up("0").context == {"0": 0.5, "1": 2.0}
    plain = bandit_of("ucb1")
    plain.decide()
    assert plain.look_up("0").context == {}


def test_hashes_cannot_be_read_again() -> None:
    bandit = bandit_of("giro-ensemble:model=hashed", "ab")
    bandit.decide({"age": 3})
    found = bandit.look_up("0")
    assert (found.context, found.features) == (None, None)
