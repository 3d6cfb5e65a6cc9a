"""Columns that come later: growing commutes with learning, for every policy that uses contexts.

A policy that met a column as missing, and grew to it when it came, is as one that had the column
from the beginning. Nothing is learned again.
"""

from typing import Any

import numpy as np
import pytest
from known import each, policies_in_bandits
from sklearn.linear_model import Ridge

from giro import Policy
from giro.features import Schema
from giro.features.columns import Columns, Feature
from giro.live import LivePolicy
from giro.offer import NO_FEATURES, Offer, case_of
from giro.policies.giro_ensemble import GiroEnsemble
from giro.policy import arrays_of
from giro.seeds import stream

N_ARMS, ROUNDS, VOTES = 3, 30, 12
NUMBER = "number"
LATER = (Feature("late", NUMBER), Feature("word", 3))  # of contexts
OF_ARM = Feature("price", NUMBER)


def schemas(*, features: bool) -> list[Schema]:
    """Return a schema as it is at first, and after it has grown once and twice."""
    columns = Columns(0, (Feature("x", NUMBER), Feature("y", NUMBER)))
    arms = Columns(0, (Feature("size", NUMBER),), "a row of features") if features else None
    first = Schema(columns, arms, contextual=True)
    second = first.grown((LATER[:1], ()))
    return [first, second, second.grown((LATER[1:], (OF_ARM,)))]


def offers(schema: Schema, widths: list[tuple[int, int]], seed: int) -> list[Offer]:
    """Return what is offered in each round, in units of any size; columns come one by one."""
    rng = stream(seed, 91)
    n, m = schema.widths
    made = []
    for width in widths:
        context = rng.normal(size=n) * np.resize([1e3, 1e-6, 1.0], n) + 2000.0
        context[3:] = rng.random(n - 3) < 0.5  # words
        features = rng.normal(size=(N_ARMS, m)) if m else NO_FEATURES
        made.append(Offer(np.arange(N_ARMS), context[: width[0]], features[:, : width[1]]))
    return made


def played(policy: Any, *, early: bool, features: bool, seed: int) -> tuple[LivePolicy, list[Any]]:
    """Return a policy after it has grown, at once or when columns come, and its later choices."""
    first, second, third = schemas(features=features)
    at = {0: (second, third)} if early else {ROUNDS // 3: (second,), 2 * ROUNDS // 3: (third,)}
    steps = [first.widths] * (ROUNDS // 3) + [second.widths] * (ROUNDS // 3)
    steps += [third.widths] * (ROUNDS - len(steps))
    live, rng = LivePolicy(policy, first, n_arms=N_ARMS, seed=seed, rounds=ROUNDS), stream(seed, 92)
    choices: list[Any] = []
    for t, offer in enumerate(offers(third, steps, seed)):
        for schema in at.get(t, ()):
            live.widen_to(schema)
        if t >= 2 * ROUNDS // 3:
            live.stream_of(t)
            law = None if live.played.choose_mutates_state else live.propensities(offer)
            choices.append(live.vote(offer, VOTES) if law is None else law)
        arm = int(rng.integers(N_ARMS))
        live.learn(case_of(offer, arm), arm, float(rng.random() < 0.3 + 0.2 * arm))
    return live, choices


def in_columns() -> list[Policy]:
    """Return the policies that learn from contexts in columns."""
    return [p for p in policies_in_bandits() if p.resolved(contextual=True).uses_contexts]


@each(in_columns())
@pytest.mark.parametrize("features", [False, True], ids=["contexts", "features"])
def test_growing_commutes_with_learning(policy: Policy, features: bool, seed: int) -> None:
    if features and not policy.uses_arm_features:
        return
    now, choices = played(policy, early=False, features=features, seed=seed)
    twin, others = played(policy, early=True, features=features, seed=seed)
    assert now.shape == twin.shape
    if not now.played.choose_mutates_state:  # what is left of choices differs with their number
        mine, twins = learned(now), learned(twin)
        assert mine.keys() == twins.keys()
        for path, array in mine.items():
            assert array == pytest.approx(twins[path], rel=1e-6, abs=1e-9), path
        for law, other in zip(choices, others, strict=True):
            assert law == pytest.approx(other, abs=1e-6 if _is_iterative(policy) else 1e-9)
    assert len(choices) == ROUNDS - 2 * (ROUNDS // 3)


def learned(live: LivePolicy) -> dict[str, np.ndarray]:
    """Return the arrays that say what was learned, of which no part is left unwritten."""
    words = ("theta", "moment", "hidden", "output", "loss", "share", "pulls", "seen", "log_det")
    arrays = arrays_of(live.state) or {}
    return {path: array for path, array in arrays.items() if path.split(".")[-1] in words}


def _is_iterative(policy: Policy) -> bool:
    return "logistic" in str(policy) or "log-phe" in str(policy) or "glm" in str(policy)


def test_a_column_that_came_later_islearned(seed: int) -> None:
    """And changes choices: an arm pays where the late column is high, the other where it is low."""
    first, second, _ = schemas(features=False)
    live, rng = (
        LivePolicy(Policy.parse("lin-ucb:scale=0.1"), first, n_arms=2, seed=seed),
        stream(seed),
    )
    for _ in range(20):
        offer = Offer(np.arange(2), rng.normal(size=2), NO_FEATURES)
        arm = int(rng.integers(2))
        live.learn(case_of(offer, arm), arm, 0.5)
    live.widen_to(second)
    for _ in range(200):
        late = float(rng.normal() * 1e6)
        offer = Offer(np.arange(2), np.array([*rng.normal(size=2), late]), NO_FEATURES)
        arm = int(rng.integers(2))
        live.learn(case_of(offer, arm), arm, float((late > 0.0) == (arm == 1)))
    for sign in (-1.0, 1.0):
        offer = Offer(np.arange(2), np.array([0.0, 0.0, sign * 2e6]), NO_FEATURES)
        law = live.propensities(offer)
        assert law is not None
        assert law.argmax() == int(sign > 0.0)


def test_an_estimator_answers_from_the_columns_it_knows_until_it_is_fitted_again(seed: int) -> None:
    policy = GiroEnsemble(model=Ridge(), replicas=2)
    live, choices = played(policy, early=False, features=False, seed=seed)
    assert live.learned == ROUNDS
    assert all(abs(sum(law) - 1.0) < 1e-9 for law in choices)
