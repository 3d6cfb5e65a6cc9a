"""Models of arms, one each or one for all: probabilities, and rows in any form."""

from typing import Any

import numpy as np
import pytest
from laws import assert_follows
from policies.with_features import CHOICES, CONTEXT, ENSEMBLE, FEATURES, SHAPE, an_offer, informed

from giro import Policy
from giro.features import Schema
from giro.features.columns import Columns, Feature
from giro.live import LivePolicy
from giro.models.auto import Auto
from giro.models.extra_trees import ExtraTrees
from giro.models.linear import Linear
from giro.models.online_network import OnlineNetwork
from giro.offer import NO_FEATURES, Case, Offer, SparseRow, SparseRows
from giro.policies._arm_models import expected
from giro.policies.rand_ucb import RandUcb
from giro.policy import choose, learn, propensities, start
from giro.seeds import stream


@pytest.mark.parametrize(
    "text",
    [
        ENSEMBLE,
        f"{ENSEMBLE},spread=1",
        "poisson-bootstrap:model=[hashed:bits=12],replicas=6,spread=0.5",
        "epsilon-greedy:epsilon=0.3,model=[hashed:bits=12]",
        "squarecb:gamma=3,model=[hashed:bits=12]",
        "squarecb:gamma=3,model=linear",
    ],
)
def test_probabilities_are_those_of_the_choices(text: str) -> None:
    live, positions = informed(text), {0: 0, 2: 1, 3: 2}
    for number in range(3):
        offer = an_offer(number)
        exact = live.propensities(offer)
        assert exact is not None
        drawn = [positions[live.choose(offer)] for _ in range(CHOICES)]
        assert_follows(drawn, exact)


def test_dense_and_sparse_rows_of_the_same_columns_are_the_same() -> None:
    policy, rng = Policy.parse(ENSEMBLE), stream(43)
    dense, sparse = start(policy, SHAPE, stream(1)), start(policy, SHAPE, stream(1))
    draws = stream(2), stream(2)
    for _ in range(30):
        offer = an_offer(int(rng.integers(1000)))
        rows = SparseRows(
            np.arange(4) * FEATURES, np.tile(np.arange(FEATURES), 3), offer.features.ravel()
        )
        known = SparseRow(np.arange(CONTEXT), offer.context)
        also = Offer(offer.arms, known, rows)
        np.testing.assert_array_equal(propensities(dense, offer), propensities(sparse, also))
        arm, reward = choose(dense, offer, draws[0]), rng.random()
        assert arm == choose(sparse, also, draws[1])
        place = int(np.searchsorted(offer.arms, arm))
        its = SparseRow(np.arange(FEATURES), offer.features[place])
        learn(dense, Case(offer.context, offer.features[place]), arm, reward, draws[0])
        learn(sparse, Case(known, its), arm, reward, draws[1])


@pytest.mark.parametrize("model", ["hashed:bits=12", "linear"])
def test_greedy_takes_what_its_model_expects_most_of(model: str) -> None:
    live = informed(f"greedy:model=[{model}]")
    for number in range(5):
        offer = an_offer(number)
        best = int(np.argmax(expected(live.state.models, offer, np.inf)))
        assert live.choose(offer) == offer.arms[best]
        law = live.propensities(offer)
        assert law is not None
        assert law[best] == 1.0


# -- histories of which some rows are kept -------------------------------------------------------

MOST = 20  # rows of an arm


def with_few_rows(**memory: Any) -> Policy:
    """Return the default around models that look back to few rows."""
    members = (OnlineNetwork(copies=1, steps=1, batch=4), ExtraTrees(trees=2))
    for member in members:
        object.__setattr__(member, "most_rows", MOST)  # a constant of the class, in giro
    return RandUcb(model=Auto(members=(Linear(), *members)), **memory)


def live_with(policy: Policy, *, capacity: int) -> LivePolicy:
    columns = Columns(0, tuple(Feature(name, "number") for name in "xy"))
    return LivePolicy(policy, Schema(columns, contextual=True), n_arms=2, seed=3, capacity=capacity)


def laws_of(live: LivePolicy, rounds: range) -> list[list[float]]:
    """Let arms be rewarded in turns, one twice as often, and return all probabilities."""
    laws = []
    for t in rounds:
        rng = stream(7, t)
        offer, arm = Offer(np.arange(2), rng.normal(size=2), NO_FEATURES), int(t % 3 == 0)
        law = live.propensities(offer)
        assert law is not None
        laws.append(law.tolist())
        live.learn(Case(offer.context, np.empty(0)), arm, float(rng.random() < 0.3 + 0.4 * arm))
    return laws


@pytest.mark.parametrize(
    "memory",
    [
        {},
        pytest.param({"half_life": 30.0}, marks=pytest.mark.slow),
        pytest.param({"window": 70}, marks=pytest.mark.slow),
    ],
)
def test_with_some_rows_kept_growing_and_saving_change_nothing(memory: dict[str, Any]) -> None:
    policy, grown = with_few_rows(**memory), live_with(with_few_rows(**memory), capacity=4)
    laws = laws_of(live_with(policy, capacity=1000), range(150))
    assert laws_of(grown, range(100)) == laws[:100]
    snapshot = grown.snapshot()
    assert snapshot is not None
    saved = LivePolicy.from_snapshot(policy, grown.schema, *snapshot, seed=3)
    assert saved is not None
    assert laws_of(saved, range(100, 150)) == laws[100:] == laws_of(grown, range(100, 150))


def test_a_state_that_keeps_some_rows_does_not_grow_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    live = live_with(with_few_rows(), capacity=4)
    laws_of(live, range(6))
    assert live.shape.capacity == 2 * MOST  # all room at once
    monkeypatch.setattr("giro.live.grow", None)
    laws_of(live, range(6, 3000))
    assert live.state.models.rows.filled[0] == 2 * MOST
    assert live.learned == 3000
