"""Replicas with fixed weights: giro-ensemble and poisson-bootstrap."""

import itertools
import math

import numpy as np
import pytest
from laws import assert_follows, assert_same_law
from live_kernels import counted, law_of, taught
from scipy import stats

from giro import BadParameter, Policy
from giro.model import value
from giro.offer import NO_CONTEXT, Case, Shape, offer_of
from giro.policies._replicas import ReplicaPolicy, draw_weights, next_refit
from giro.policies.giro_ensemble import GiroEnsemble
from giro.policies.poisson_bootstrap import PoissonBootstrap
from giro.policy import start
from giro.seeds import stream

CONTEXT = np.array([0.3, -0.8, 1.0])  # with the constant that policies append


def fed(policy: Policy, n_arms: int, rows: int, seed: int, unfed: int = 0):
    """Return a state after some rows for all arms but the last few."""
    rng = stream(seed, 1)
    state = start(policy, Shape(n_arms, 2, 0, rows, rows), rng)
    for t in range(rows):
        case = Case(rng.normal(size=2), NO_CONTEXT)
        taught(state, case, t % (n_arms - unfed), float(rng.random() < 0.5), rng)
    return state


@pytest.mark.parametrize("a", [0.0, 0.1, 1.0])
def test_weights_are_poisson_with_means_one_and_a(a: float, seed: int) -> None:
    weights = np.zeros((20_000, 3), np.int32)
    draw_weights(weights, a, stream(seed))
    for column, mean in zip(weights.T, (1.0, a, a), strict=True):
        most = np.arange(max(column.max() + 1, 3))
        law = stats.poisson.pmf(most, mean)
        law[-1] = stats.poisson.sf(most[-1] - 1, mean)
        assert_follows(column, law)


@pytest.mark.parametrize("policy", [GiroEnsemble(replicas=3), PoissonBootstrap(replicas=3)])
def test_a_linear_replica_is_the_ridge_fit_to_its_weights(policy: ReplicaPolicy, seed: int) -> None:
    """Told by a twin that redraws the same weights and solves for each replica at once."""
    a = policy.a if isinstance(policy, GiroEnsemble) else 0.0
    rng = stream(seed, 1)
    state = start(policy, Shape(1, 2, 0, 40, 40), rng)
    twin = stream(seed, 1)
    weights = np.zeros((40, 3, 3), np.int32)
    contexts, rewards = stream(seed, 2).normal(size=(40, 3)), stream(seed, 3).random(40)
    contexts[:, 2] = 1.0
    for t in range(40):
        taught(state, Case(contexts[t, :2], NO_CONTEXT), 0, rewards[t], rng)
        draw_weights(weights[t], a, twin)
    values = []
    for replica in range(3):
        w = weights[:, replica].sum(axis=1)
        z = weights[:, replica, 0] * rewards + weights[:, replica, 1]
        gram = (contexts.T * w) @ contexts + np.eye(3)
        values.append(CONTEXT @ np.linalg.solve(gram, contexts.T @ z))
    law = {int(v * 1e9): None for v in values}
    assert len(law) == 3
    drawn = law_of(state, offer_of(1, CONTEXT[:2]))
    assert drawn.tolist() == [1.0]
    ours = [value(state.model, replica, CONTEXT) for replica in range(3)]
    np.testing.assert_allclose(ours, values, rtol=1e-9)


@pytest.mark.parametrize(
    ("policy", "unfed"),
    [
        (GiroEnsemble(replicas=4), 0),
        (GiroEnsemble(replicas=3), 2),
        (PoissonBootstrap(replicas=2, ties="fixed"), 0),
        (GiroEnsemble(replicas=2, ties="fixed"), 2),
    ],
    ids=str,
)
def test_arms_are_chosen_with_the_propensities(
    policy: ReplicaPolicy, unfed: int, seed: int
) -> None:
    state = fed(policy, 5, 30, seed, unfed)
    offer = offer_of(5, CONTEXT[:2])
    law = law_of(state, offer)
    assert law.sum() == pytest.approx(1.0, abs=1e-12)
    counts = counted(state, offer, 30_000, stream(seed, 2))
    assert_follows(np.repeat(np.arange(5), counts), law)


def test_models_that_do_not_absorb_are_refitted_ever_less_often() -> None:
    refits, n = [], 1
    while n < 1_000:
        refits.append(n)
        n = next_refit(n, 1.1)
    assert refits[:9] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert all(after <= math.ceil(before * 1.1) for before, after in itertools.pairwise(refits))
    assert len(refits) < 60


def test_replicas_differ_as_bootstrap_means_do(seed: int) -> None:
    """Without contexts a replica's value is Σ of Poisson weights; its law is known exactly."""
    policy = GiroEnsemble(a=1.0, replicas=20_000)
    rng = stream(seed)
    state = start(policy, Shape(1, 0, 0, 1, 1), rng)
    taught(state, Case(NO_CONTEXT, NO_CONTEXT), 0, 1.0, rng)
    ours = np.array([value(state.model, i, np.ones(1)) for i in range(20_000)])
    ones = stream(seed, 9).poisson(2.0, 20_000)
    zeros = stream(seed, 10).poisson(1.0, 20_000)
    assert_same_law(ours.round(9), (ones / (ones + zeros + 1.0)).round(9))


@pytest.mark.parametrize("replicas", [0, -1, 1.5])
def test_replicas_is_a_whole_number_of_at_least_one(replicas: int) -> None:
    for policy in (GiroEnsemble, PoissonBootstrap):
        with pytest.raises(BadParameter, match="needs a whole number replicas >= 1"):
            policy(replicas=replicas)


def test_other_parameters_are_checked() -> None:
    with pytest.raises(BadParameter, match="giro-ensemble needs a finite a >= 0"):
        GiroEnsemble(a=-1.0)
    with pytest.raises(BadParameter, match="needs a finite growth >= 1"):
        PoissonBootstrap(growth=0.5)


def test_the_text_puts_a_first() -> None:
    assert GiroEnsemble().text.startswith("giro-ensemble:a=")
    assert Policy.parse("giro-ensemble:a=1/3,model=linear,replicas=5").text == (
        "giro-ensemble:a=1/3,model=linear,replicas=5"
    )
