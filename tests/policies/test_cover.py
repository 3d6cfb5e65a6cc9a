"""Cover: its law is that of a literal twin, and explores as the coordinate descent demands."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from laws import assert_follows
from live_kernels import live_of
from policies.cover_twin import (
    History,
    OnlineCover,
    Program,
    coordinate_descent,
    program,
)

from giro import BadParameter, Policy, simulate
from giro.live import LivePolicy
from giro.models.linear import Linear
from giro.offer import NO_FEATURES, Offer, Shape, offer_of
from giro.policies.cover import Cover, put_weights
from giro.seeds import stream
from giro.simulation.metrics import final_regret

K, D, ROWS = 4, 3, 60


def beside_a_twin(psi: float, twins_psi: float, *, late: bool, seed: int) -> float:
    """Return the largest difference of two laws in a game in which some arms are on offer."""
    policy = Cover(psi=psi, model=Linear(), policies=5)
    live = live_of(policy, Shape(K, D - 1, 0, ROWS, ROWS), seed=seed)
    twin, rng, off = OnlineCover(K, D, twins_psi, 5), stream(seed, 1), 0.0
    waiting: list[tuple[Offer, np.ndarray, int, float, float]] = []
    for t in range(ROWS):
        arms = np.flatnonzero(rng.random(K) < 0.7)
        arms = arms if arms.size else np.arange(K)
        context = rng.normal(size=D - 1)
        offer, x = Offer(arms, context, NO_FEATURES), np.append(context, 1.0)
        law = live.propensities(offer)
        assert law is not None
        off = max(off, float(np.abs(law - twin.law(arms, x)).max()))
        place = int(rng.choice(arms.size, p=law))
        waiting.append((offer, x, place, float(rng.random() < 0.5), float(law[place])))
        while waiting and (not late or t % 4 == 3):
            offer, x, place, reward, chance = waiting.pop(int(rng.integers(len(waiting))))
            known = chance if late else math.nan  # it is the present one, if nothing is late
            arm = int(offer.arms[place])
            live.learn(live.case_of(offer, place, known), arm, reward)
            twin.learn(offer.arms, x, arm, reward, chance)
    return off


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("psi", [0.1, 1.0])
def test_its_law_is_that_of_the_twin(psi: float, late: bool, seed: int) -> None:
    assert beside_a_twin(psi, psi, late=late, seed=seed) < 1e-9


def test_another_bonus_is_noticed(seed: int) -> None:
    assert beside_a_twin(1.0, 0.5, late=False, seed=seed) > 0.05


@pytest.mark.parametrize("text", ["cover:model=linear", "cover:model=[hashed:bits=10]"])
def test_arms_are_chosen_with_the_propensities(text: str, seed: int) -> None:
    live = live_of(Policy.parse(text), Shape(K, 2, 2, 50, 50), seed=seed)
    rng = stream(seed, 2)
    for _ in range(40):
        offer = Offer(np.arange(K), rng.normal(size=2), rng.normal(size=(K, 2)))
        live.learn(live.case_of(offer, 1), 1, float(rng.random() < 0.5))
    law = live.propensities(offer)
    assert law is not None
    assert law.min() > 0.0
    live.stream_of(0)
    assert_follows([live.choose(offer) for _ in range(20_000)], law)


def test_weights_are_those_of_a_reward_a_one_and_a_zero() -> None:
    weights, votes = np.empty((3, 3)), np.array([1.0, 0.0, 1.0])
    put_weights(weights, votes, 0.1, 4, 2.0, 0.5)
    bonus = 2.0 * 0.1 / (0.1 + 0.6 * np.array([1.0, 0.5]))
    assert weights[0].tolist() == [0.5, 0.0, 0.0]
    np.testing.assert_allclose(weights.sum(axis=1), 0.5)
    np.testing.assert_allclose(weights[1:, 1] / weights[1:, 0], bonus)
    put_weights(weights, votes, 0.1, 4, 2.0, math.nan)
    np.testing.assert_allclose(weights.sum(axis=1), 0.25 / (0.1 + 0.6 * 2 / 3))


# -- beside the coordinate descent over nine policies ----------------------------------------------

MEANS = np.array([[0.3, 0.5, 0.7], [0.8, 0.5, 0.4]])
ROUNDS = 600
CLASS = np.array(list(itertools.product(range(3), repeat=2)))  # [policy, context] arm


def past_of(live: LivePolicy, rounds: int, seed: int) -> History:
    """Return what a policy sees where two contexts take turns at random."""
    rng, seen = stream(seed, 3), list[Any]()
    for _ in range(rounds):
        context = int(rng.integers(2))
        offer = offer_of(3, np.eye(2)[context])
        law = live.propensities(offer)
        assert law is not None
        arm = int(rng.choice(3, p=law))
        reward = float(rng.random() < MEANS[context, arm])
        live.learn(live.case_of(offer, arm, float(law[arm])), arm, reward)
        seen.append((context, arm, reward, law[arm], law))
    return History(*map(np.array, zip(*seen, strict=True)))


def explored(psi: float, seed: int) -> tuple[Program, np.ndarray]:
    """Return the paper's problem after a game of cover, and cover's mean law in each context.

    The votes of a round are too few for the bounds, which hold for their mean over many rounds.
    """
    policy = Cover(psi=psi, model=Linear(), policies=16)
    live = live_of(policy, Shape(3, 2, 0, ROUNDS, ROUNDS), seed=seed)
    past, laws = past_of(live, ROUNDS, seed), np.zeros((2, 3))
    for context in range(2):
        late = np.arange(ROUNDS) >= ROUNDS // 2
        laws[context] = past.laws[late & (past.contexts == context)].mean(axis=0)
    return program(CLASS, past, 3, psi=1.0), laws[past.contexts]


def lack(problem: Program, law: np.ndarray) -> float:
    """Return how much more a policy of the class should be explored, at most 0 if none should."""
    return float((problem.variances(law) - (2 * 3 + problem.bound)).max())


def test_the_descent_finds_weights_that_explore_and_lose_little(seed: int) -> None:
    problem, _ = explored(1.0, seed)
    weights = coordinate_descent(problem)
    assert weights.min() >= 0.0
    assert weights.sum() <= 1.0 + 1e-9
    assert weights @ problem.bound <= 2 * 3
    assert lack(problem, problem.smoothed(weights, int(np.argmin(problem.bound)))) <= 1e-9


def test_cover_explores_every_policy_as_the_descent_has_to(seed: int) -> None:
    """With ψ = 1, and not without a bonus: then one policy has all votes."""
    assert lack(*explored(1.0, seed)) <= 0.0
    assert lack(*explored(0.0, seed)) > 0.0


# -- parameters ------------------------------------------------------------------------------------


def test_late_rewards_of_arms_with_features_are_learned(seed: int) -> None:
    problem = "delayed:problem=[linear:n_arms=5,dimension=3,shared=true],lag=20,delay=random"
    late, now = (
        final_regret(simulate("cover:model=linear", each, rounds=400, runs=4, seed=seed, jobs=1))
        for each in (problem, "linear:n_arms=5,dimension=3,shared=true")
    )
    never = final_regret(simulate("uniform", problem, rounds=400, runs=4, seed=seed, jobs=1))
    assert now.mean < late.mean < never.mean


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cover:psi=-1", "cover needs a finite psi >= 0"),
        ("cover:policies=0", "cover needs a whole number policies >= 1"),
        ("cover:model=network", "cover needs a model of weighted rows"),
        ("cover:model=auto", "cover needs a model of weighted rows"),
    ],
)
def test_bad_parameters_are_refused(text: str, message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        Policy.parse(text)
