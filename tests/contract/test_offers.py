"""What is not on offer is as if it were not there; regret is counted among what is."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from contract.games import game, shapes_for
from known import policies, policies_with_models
from laws import ALPHA, assert_follows, p_value_of_same_counts

from giro import Policy, Problem
from giro.live import LivePolicy
from giro.offer import NO_CONTEXT, NO_FEATURES, Case, Offer, Shape
from giro.problem import reveal
from giro.problem import start as start_problem
from giro.seeds import stream
from giro.simulation.play import play_run

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
    "lin-phe",
    "lin-ts:scale=0.5",
    "lin-ucb:scale=0.1",
    "log-phe",
    "phe",
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
    live = LivePolicy(policy, Shape(len(histories), 0, 0, rounds, rounds), seed=seed)
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


each_policy = pytest.mark.parametrize("policy", [*policies(), *policies_with_models()], ids=str)


@each_policy
def test_exact_propensities_among_some_arms_are_those_of_the_choices(
    policy: Policy, seed: int
) -> None:
    """After each of a few rounds the law is one, and the votes follow it where that is cheap."""
    for widths in shapes_for(policy):
        of, shared = game(*widths, fractional=False, seed=seed), widths[1] > 0
        live = LivePolicy(policy, of.shape, seed=seed)
        for t, offer in enumerate(of.offers[:30]):
            live.stream_of(t)
            law = live.propensities(offer)
            assert (law is not None) == policy.has_propensities(binary=True, shared=shared)
            if law is not None:
                assert law.shape == offer.arms.shape
                assert law.sum() == pytest.approx(1.0, abs=1e-9)
                assert 0.0 <= law.min() <= law.max() <= 1.0
                if t in (3, 13, 29) and not policy.choose_mutates_state:
                    counts = (500 * live.vote(offer, 500)).round().astype(int)
                    assert_follows(np.repeat(np.arange(counts.size), counts), law)
            arm = live.choose(offer)
            live.learn(of.case(t, arm), arm, float(of.rewards[t, arm]))


# -- sleeping ------------------------------------------------------------------------------------

ASLEEP = (
    "sleeping:problem=[bernoulli:n_arms=4],awake=0.4",
    "sleeping:problem=[linear:n_arms=3,dimension=2]",
    "sleeping:problem=[logistic:n_arms=3,dimension=2,shared=true],awake=0.7",
)


@pytest.mark.parametrize("text", ASLEEP)
def test_regret_is_counted_against_the_best_arm_that_is_awake(text: str, seed: int) -> None:
    problem, rounds = Problem.parse(text), 120
    record = play_run(
        Policy.parse("uniform"), problem, np.arange(1, rounds + 1), seed=seed, run=2, keep_arms=True
    )
    rng = stream(seed, 2, 0)  # the problem's own, as in the run
    instance = start_problem(problem, rng)
    regret, best = 0.0, 0
    for t in range(rounds):
        offer, means, _ = reveal(instance, t, rng)
        awake, arm = set(offer.arms.tolist()), int(record.arms[t])
        assert arm in awake
        highest = max(means[other] for other in awake)
        regret += highest - means[arm]
        best += means[arm] == highest
        assert record.regret[t] == pytest.approx(regret, abs=1e-12)
        assert record.best[t] == best
    assert 0 < best < rounds


def test_arms_wake_up_by_themselves_and_one_at_least(seed: int) -> None:
    awake = 0.3
    problem = Problem.parse(f"sleeping:problem=[bernoulli:n_arms=3],awake={awake}")
    rng = stream(seed)
    instance = start_problem(problem, rng)
    sets = [int((1 << reveal(instance, t, rng)[0].arms).sum()) for t in range(20_000)]
    sizes = np.array([bin(number).count("1") for number in range(8)])
    law = awake**sizes * (1 - awake) ** (3 - sizes)
    law[0] = 0.0
    assert_follows(sets, law / law.sum())
    with pytest.raises(AssertionError, match="p ="):
        wrong = 0.32**sizes * 0.68 ** (3 - sizes) * (sizes > 0)
        assert_follows(sets, wrong / wrong.sum())


def test_features_on_offer_are_those_of_the_arms_that_are_awake(seed: int) -> None:
    problem = Problem.parse("sleeping:problem=[linear:n_arms=4,dimension=2,shared=true]")
    rng = stream(seed)
    instance = start_problem(problem, rng)
    for t in range(50):
        offer, means, _ = reveal(instance, t, rng)
        rows = np.column_stack([offer.features, np.ones(offer.arms.size)])
        theta = instance.inner.drawn.theta[0]
        np.testing.assert_allclose(means[offer.arms], 0.5 + rows @ theta, rtol=1e-12)


def test_a_problem_that_sleeps_already_is_refused() -> None:
    for text, complaint in (
        ("problem=[sleeping:problem=bernoulli]", "wraps a problem whose arms are all awake"),
        ("problem=bernoulli,awake=0", "needs 0 < awake <= 1"),
        ("problem=bernoulli,awake=nan", "needs 0 < awake <= 1"),
    ):
        with pytest.raises(ValueError, match=complaint):
            Problem.parse(f"sleeping:{text}")
