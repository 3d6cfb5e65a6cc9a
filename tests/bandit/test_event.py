"""Decisions as callers see them."""

import copy
import pickle

import pytest
from bandit.clock import bandit_of


def test_decisions_show_what_they_are() -> None:
    decision = bandit_of("uniform", "a").decide()
    assert repr(decision) == "Decision(id='0', arm='a')"
    assert (decision.time, decision.arms) == (1_000.0, ("a",))


def test_decisions_can_be_pickled_and_bandits_say_why_not() -> None:
    bandit = bandit_of("thompson")
    decision = bandit.decide()
    again = pickle.loads(pickle.dumps(decision))
    assert again == decision
    assert again.propensities == decision.propensities
    for copied in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="a bandit cannot be pickled or copied: save it"):
            copied(bandit)
