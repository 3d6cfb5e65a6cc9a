"""Policies around one table of hashed features, and SquareCB around any model."""

import numpy as np
import pytest
from laws import assert_follows

from giro import BadParameter, Policy
from giro.kernels.giro.pseudo_rewards import REAL
from giro.kernels.hashed import expected_by_replica
from giro.live import LivePolicy
from giro.offer import Case, Offer, Shape, SparseRow, SparseRows
from giro.policies._arm_models import expected, offered_rows
from giro.policies._replicas import draw_weights, shrink
from giro.policy import choose, learn, propensities, start
from giro.seeds import stream

N_ARMS, CONTEXT, FEATURES, CHOICES = 4, 3, 2, 20_000
SHAPE = Shape(N_ARMS, CONTEXT, FEATURES, 100, 100)
ENSEMBLE = "giro-ensemble:model=[hashed:bits=12],replicas=6"


def informed(text: str, rows: int = 40) -> LivePolicy:
    """Return a policy that has learned from dense rows."""
    live, rng = LivePolicy(Policy.parse(text), SHAPE, seed=3), stream(40)
    for _ in range(rows):
        case = Case(rng.normal(size=CONTEXT), rng.normal(size=FEATURES))
        live.learn(case, int(rng.integers(N_ARMS)), float(rng.random() < 0.5))
    live.stream_of(0)
    return live


def an_offer(number: int = 0) -> Offer:
    rng, arms = stream(41, number), np.array([0, 2, 3])
    return Offer(arms, rng.normal(size=CONTEXT), rng.normal(size=(3, FEATURES)))


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


def test_an_arm_is_as_likely_as_replicas_prefer_it() -> None:
    live, offer = informed(ENSEMBLE), an_offer()
    table, rows = live.state.table, offered_rows(live.state.table, offer)
    values = np.array([expected_by_replica(table, rows, r, 1.0) for r in range(6)]).T
    mean = values.mean(axis=1, keepdims=True)
    best = np.argmax(mean + 0.1 * (values - mean), axis=0)
    exact = live.propensities(offer)
    np.testing.assert_allclose(exact, np.bincount(best, minlength=3) / 6)


def test_replicas_take_poisson_weights_of_rewards_and_pseudo_rewards() -> None:
    counts, rng = np.zeros((2000, 3), np.int32), stream(42)
    draw_weights(counts, 0.3, rng)
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
        assert live.propensities(offer)[best] == 1.0


def test_squarecb_weighs_by_inverse_gaps() -> None:
    live, offer = informed("squarecb:gamma=5,model=[hashed:bits=12]"), an_offer(2)
    values = expected(live.state.models, offer, 1.0)
    gamma, best = 5.0 * 41**0.5, int(np.argmax(values))
    wanted = 1.0 / (3 + gamma * (values.max() - values))
    wanted[best] = 0.0
    wanted[best] = 1.0 - wanted.sum()
    np.testing.assert_allclose(live.propensities(offer), wanted)


def test_squarecb_shares_what_remains_among_the_best() -> None:
    live = LivePolicy(Policy.parse("squarecb"), SHAPE, seed=0)
    np.testing.assert_allclose(live.propensities(an_offer()), [1 / 3] * 3)


@pytest.mark.parametrize(
    "text", ["squarecb:gamma=-1", "squarecb:exponent=2", "giro-ensemble:spread=2"]
)
def test_bad_parameters_are_refused(text: str) -> None:
    with pytest.raises(BadParameter):
        Policy.parse(text)
