"""Giro: whom it pulls, with which probability, and what it remembers."""

import numpy as np
import pytest
from laws import assert_follows
from policies.choosing import choice_counts, informed

from giro import BadParameter, GiroError, Policy
from giro.compiling import plain
from giro.features import Schema
from giro.live import LivePolicy
from giro.offer import offer_of
from giro.paper.theory.choice_probabilities import giro_probabilities
from giro.policies.giro import Giro
from giro.seeds import stream

BINARY = [[1, 0, 1], [0, 1], [1]]


@pytest.mark.parametrize("a", [0.0, 1 / 3, 1.0])
def test_probabilities_for_zeros_and_ones_are_those_of_the_enumeration(a: float) -> None:
    state = informed(Giro(a), BINARY, stream(0))
    law = plain(Giro.propensities)(state, offer_of(3))
    wanted = giro_probabilities(a)([len(each) for each in BINARY], [sum(each) for each in BINARY])
    np.testing.assert_allclose(law, wanted, atol=1e-12)


def test_for_other_rewards_no_probability_is_known() -> None:
    state = informed(Giro(), [*BINARY, [0.5]], stream(0))
    assert plain(Giro.propensities)(state, offer_of(4)).size == 0
    assert Giro().has_propensities(binary=True, shared=False)
    assert not Giro().has_propensities(binary=False, shared=False)


def test_untried_arms_go_first_and_share_equally(seed: int) -> None:
    counts = choice_counts(Giro(), [[1], [], [0.5], []], draws=20_000, seed=seed)
    assert_follows(np.repeat(np.arange(4), counts), [0, 0.5, 0, 0.5])


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(BadParameter, match="giro needs a finite a >= 0, got a=-1"):
        Giro(-1.0)


def test_giro_has_no_half_life() -> None:
    with pytest.raises(GiroError, match="no parameter of giro is called 'half_life'"):
        Policy.parse("giro:half_life=10")


def test_draws_of_many_equal_rewards_follow_the_logged_law(seed: int) -> None:
    live = LivePolicy(Giro(), Schema(), n_arms=3, seed=seed)
    arms = np.repeat(np.arange(3), 2000)
    rewards = (np.arange(6000) % np.array([20, 21, 22])[arms] < 10).astype(float)  # nearly equal
    live.learn_all(np.empty((6000, 0)), np.empty((6000, 0)), arms, rewards)
    law = live.propensities(offer_of(3))
    assert law is not None
    assert law.sum() == pytest.approx(1.0, abs=1e-14)
    drawn = [live.draw(offer_of(3), number) for number in range(4_000)]
    assert_follows([each.position for each in drawn if each], law)
    chosen = [live.choose(offer_of(3)) for _ in range(4_000)]  # by lattices: nearly the same
    assert_follows(chosen, law)
