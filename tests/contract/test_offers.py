"""What is not on offer is as if it were not there."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from contract.games import game, shapes_for
from known import each, policies, policies_with_models
from laws import ALPHA, assert_follows, p_value_of_same_counts
from live_kernels import live_of

from giro import Policy
from giro.live import LivePolicy
from giro.offer import NO_CONTEXT, NO_FEATURES, Case, Offer, Shape

VOTES = 3_000
OFFERED = np.array([1, 3, 4])  # of five arms
BINARY = [[1, 1, 1, 1, 0], [0, 1, 1], [1, 1], [1, 0, 1, 0, 1, 1, 0], [0, 1]]
REAL_REWARDS = [[0.9, 1.0, 0.8], [0.5, 0.25, 0.75], [1.0, 0.9], [0.5, 0, 1, 0.3, 0.7], [0.25, 1.0]]

# each arm's value depends on its own rewards alone, and these do not on draws
SEPARABLE = (
    "besa",
    "bootstrap:ties=random",
    "bootstrap-thompson",
    "bootstrap-thompson:weights=exponential",
    "contextual-giro:model=linear",
    "giro",
    "giro:a=0",
    "giro:a=1/3",
    "greedy",
    "imed",
    "lin-phe",
    "lin-ts:scale=0.5",
    "lin-ucb:scale=0.1",
    "log-phe",
    "maillard",
    "npts",
    "phe",
    "reboot",
    "tree-bootstrap",
    "ucb1",
    "weighted-bootstrap",
    "weighted-bootstrap:weights=additive",
    "weighted-bootstrap:weights=gaussian",
)
ONLY_BINARY = ("kl-ucb", "thompson", "thompson:alpha=0.5")  # others are rounded at random


def informed(policy: Policy, histories: Sequence[Sequence[float]], seed: int) -> LivePolicy:
    """Return the policy after these rewards of each arm, the first of all arms first."""
    rounds = sum(map(len, histories))
    live = live_of(policy, Shape(len(histories), 0, 0, rounds, rounds), seed=seed)
    for i in range(max(map(len, histories))):
        for arm, history in enumerate(histories):
            if i < len(history):
                live.learn(Case(NO_CONTEXT, NO_CONTEXT), arm, float(history[i]))
    live.stream_of(0)
    return live


def of_arms(arms: np.ndarray) -> Offer:
    return Offer(arms, NO_CONTEXT, NO_FEATURES)


def laws_among_some_and_alone(policy: Policy, histories: Any, seed: int) -> list[Any]:
    """Return (exact law, counts) of three of five arms, and of a state that knows just these."""
    some = informed(policy, histories, seed), of_arms(OFFERED)
    alone = informed(policy, [histories[arm] for arm in OFFERED], seed + 1), of_arms(np.arange(3))
    found = []
    for live, offer in (some, alone):
        law = live.propensities(offer)
        found.append((law, (VOTES * live.vote(offer, VOTES)).round()))
    return found


@pytest.mark.parametrize(
    ("name", "histories"),
    [
        *((name, BINARY) for name in (*SEPARABLE, *ONLY_BINARY)),
        *((name, REAL_REWARDS) for name in SEPARABLE),
    ],
)
def test_arms_that_are_not_on_offer_are_as_if_they_were_not_there(
    name: str, histories: list[list[float]], seed: int
) -> None:
    among, alone = laws_among_some_and_alone(Policy.parse(name), histories, seed)
    if among[0] is not None:
        np.testing.assert_allclose(among[0], alone[0], rtol=0, atol=1e-12)
    assert p_value_of_same_counts(among[1], alone[1]) > ALPHA


@pytest.mark.parametrize("name", ["giro", "thompson", "lin-phe"])
def test_one_more_reward_of_an_arm_on_offer_is_noticed(name: str, seed: int) -> None:
    policy = Policy.parse(name)
    live = informed(policy, BINARY, seed)
    other = informed(policy, [*BINARY[:4], [*BINARY[4], 1, 1]], seed)
    counts = [each.vote(of_arms(OFFERED), VOTES) * VOTES for each in (live, other)]
    assert p_value_of_same_counts(*(count.round() for count in counts)) < ALPHA


each_policy = each([*policies(), *policies_with_models()])


@each_policy
def test_exact_propensities_among_some_arms_are_those_of_the_choices(
    policy: Policy, seed: int
) -> None:
    for widths in shapes_for(policy):
        fractional = widths == (3, 0)  # where rewards become so after a third of the rounds
        of, binary = game(*widths, fractional=fractional, seed=seed), True
        live = live_of(policy, of.shape, seed=seed)
        played = policy.resolved(contextual=of.shape.contextual)
        for t, offer in enumerate(of.offers[:30]):
            live.stream_of(t)
            law = live.propensities(offer)
            if played.has_propensities(binary=binary, shared=widths[1] > 0):
                assert law is not None
            elif binary:  # of others a policy may know some, such as those of untried arms
                assert law is None
            if law is not None:
                assert law.shape == offer.arms.shape
                assert law.sum() == pytest.approx(1.0, abs=1e-9)
                assert 0.0 <= law.min() <= law.max() <= 1.0
                if t in (3, 13, 29):
                    counts = (500 * live.vote(offer, 500)).round().astype(int)
                    assert_follows(np.repeat(np.arange(counts.size), counts), law)
            arm = live.choose(offer)
            reward = float(of.rewards[t, arm])
            live.learn(of.case(t, arm), arm, reward)
            binary &= reward in (0.0, 1.0)
