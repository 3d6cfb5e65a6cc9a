"""Models of arms, one each or one for all: probabilities, and rows in any form."""

import numpy as np
import pytest
from laws import assert_follows
from policies.with_features import CHOICES, CONTEXT, ENSEMBLE, FEATURES, SHAPE, an_offer, informed

from giro import Policy
from giro.offer import Case, Offer, SparseRow, SparseRows
from giro.policies._arm_models import expected
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
