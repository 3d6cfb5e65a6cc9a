"""Replicas with fixed weights: giro-ensemble and poisson-bootstrap."""

import itertools
import math

import numpy as np
import pytest
from laws import assert_follows
from live_kernels import counted, law_of, taught
from policies.with_features import CHOICES, ENSEMBLE, an_offer, informed
from scipy import stats

from giro import BadParameter, Policy
from giro.kernels.generations import offered_rows
from giro.kernels.giro.pseudo_rewards import REAL
from giro.kernels.hashed import expected_by_replica
from giro.model import value
from giro.offer import NO_CONTEXT, Case, Shape, offer_of
from giro.policies._replicas import ReplicaPolicy, draw_weights, next_refit, shrink
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
    draw_weights(weights, 0, a, stream(seed))
    for column, mean in zip(weights.T, (1.0, a, a), strict=True):
        most = np.arange(max(int(column.max()) + 1, 3))
        law = stats.poisson.pmf(most, mean)
        law[-1] = stats.poisson.sf(most[-1] - 1, mean)
        assert_follows(column, law)


@pytest.mark.parametrize("policy", [GiroEnsemble(a=0.3, replicas=3), PoissonBootstrap(replicas=3)])
def test_a_linear_replica_is_the_ridge_fit_to_its_weights(policy: ReplicaPolicy, seed: int) -> None:
    """Told by a twin that redraws the same weights and solves for each replica at once."""
    a = 0.3 if isinstance(policy, GiroEnsemble) else 0.0
    rng = stream(seed, 1)
    state = start(policy, Shape(1, 2, 0, 40, 40), rng)
    twin = stream(seed, 1)
    weights = np.zeros((40, 3, 3), np.int32)
    contexts, rewards = stream(seed, 2).normal(size=(40, 3)), stream(seed, 3).random(40)
    contexts[:, 2] = 1.0
    for t in range(40):
        taught(state, Case(contexts[t, :2], NO_CONTEXT), 0, rewards[t], rng)
        draw_weights(weights[t], 0, a, twin)
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
        n = next_refit(n, n, 1.1)
    assert refits[:9] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert all(after <= math.ceil(before * 1.1) for before, after in itertools.pairwise(refits))
    assert len(refits) < 60


@pytest.mark.parametrize("replicas", [0, -1, 1.5])
def test_replicas_is_a_whole_number_of_at_least_one(replicas: int) -> None:
    for policy in (GiroEnsemble, PoissonBootstrap):
        with pytest.raises(BadParameter, match="needs a whole number replicas >= 1"):
            policy(replicas=replicas)


def test_an_arm_is_as_likely_as_replicas_prefer_it() -> None:
    live, offer = informed(ENSEMBLE), an_offer()
    table, rows = live.state.table, offered_rows(live.state.table, offer)
    values = np.array([expected_by_replica(table, rows, r, 1.0) for r in range(6)]).T
    mean = values.mean(axis=1, keepdims=True)
    best = np.argmax(mean + 0.1 * (values - mean), axis=0)
    exact = live.propensities(offer)
    assert exact is not None
    np.testing.assert_allclose(exact, np.bincount(best, minlength=3) / 6)


def test_replicas_take_poisson_weights_of_rewards_and_pseudo_rewards() -> None:
    counts, rng = np.zeros((2000, 3), np.int32), stream(42)
    draw_weights(counts, 0, 0.3, rng)
    assert counts[:, REAL].mean() == pytest.approx(1.0, abs=0.1)
    assert counts[:, 1:].mean() == pytest.approx(0.3, abs=0.05)


def test_shrinking_moves_replicas_to_their_mean() -> None:
    values = np.array([0.0, 1.0, 5.0])
    shrink(values, 0.5)
    assert values.tolist() == [1.0, 1.5, 3.5]
    shrink(values, 1.0)
    assert values.tolist() == [1.0, 1.5, 3.5]


def test_spread_acts_on_models_of_arms_as_well() -> None:
    for text in ("poisson-bootstrap:replicas=6,spread=0", "poisson-bootstrap:replicas=6"):
        live, offer = informed(text), an_offer(1)
        exact = live.propensities(offer)
        assert exact is not None
        assert (exact.max() == 1.0) == ("spread=0" in text)
        drawn = [{0: 0, 2: 1, 3: 2}[live.choose(offer)] for _ in range(CHOICES)]
        assert_follows(drawn, exact)
