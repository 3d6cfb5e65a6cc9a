"""States are data: they grow, are written down and read again, and play on bit for bit."""

import json
from typing import Any

import numpy as np
import pytest
from contract.games import (
    N_ARMS,
    ROUNDS,
    Game,
    Played,
    game,
    played,
    shapes_for,
    written_and_read,
)
from known import each, policies, policies_with_models
from live_kernels import live_of
from sklearn.linear_model import Ridge, SGDRegressor

from giro import Policy
from giro.errors import BadFile
from giro.features import Schema
from giro.live import LivePolicy
from giro.offer import Shape
from giro.policies import randomized
from giro.policies.contextual_giro import ContextualGiro
from giro.policies.epsilon_greedy import EpsilonGreedy
from giro.policies.giro_ensemble import GiroEnsemble
from giro.policies.randomized import Randomized
from giro.policy import arrays_of, grow, restored, start
from giro.seeds import stream

each_policy = each([*policies(), *policies_with_models()])
NOTHING = Schema()  # is known of rounds and arms
RewardKind = pytest.mark.parametrize("fractional", [False, True], ids=["0 and 1", "fractions"])


class Growth:
    """Grows a state when it must, and at random moments before; as little as it can, or more."""

    def __init__(self, policy: Policy, of: Game, seed: int) -> None:
        self.policy, self.known, self.seed = policy, of.known, seed
        self.rng, self.times = stream(seed, 2), 0

    def __call__(self, state: Any, shape: Shape, t: int) -> tuple[Any, Shape]:
        larger = shape
        if t >= shape.capacity or self.rng.random() < 0.1:
            larger = larger._replace(capacity=max(shape.capacity, t) + int(self.rng.integers(1, 9)))
        if self.known[t] > shape.n_arms:
            more = int(self.rng.integers(0, 2))
            larger = larger._replace(n_arms=min(int(self.known[t]) + more, N_ARMS))
        if larger == shape:
            return state, shape
        self.times += 1
        return grow(self.policy, state, larger, stream(self.seed, 0)), larger


@RewardKind
@each_policy
def test_a_state_that_grows_plays_as_one_that_had_the_whole_shape_from_the_start(
    policy: Policy, fractional: bool, seed: int
) -> None:
    for widths in shapes_for(policy):
        of = game(*widths, fractional=fractional, seed=seed)
        growth = Growth(policy, of, seed)
        small = of.shape._replace(n_arms=2, capacity=1)
        assert played(policy, of, small, growth, seed=seed) == played(
            policy, of, of.shape, seed=seed
        )
        assert growth.times > 5


@pytest.mark.parametrize("name", ["giro", "giro:a=1/3,ties=fixed", "besa", "contextual-giro"])
def test_a_state_with_long_histories_grows_likewise(name: str, seed: int) -> None:
    """So long that rewards are kept in ordered parts, and rows are encoded anew."""
    policy = Policy.parse(name)
    of = game(2, 0, fractional=True, seed=seed, rounds=900)
    growth = Growth(policy, of, seed)
    small = of.shape._replace(n_arms=2, capacity=1)
    grown = played(policy, of, small, growth, seed=seed)
    assert grown == played(policy, of, of.shape, Rereading(policy, seed, 0.02), seed=seed)
    assert growth.times > 50


@pytest.mark.parametrize(
    "policy",
    [
        ContextualGiro(model=Ridge()),
        EpsilonGreedy(epsilon=0.1, model=SGDRegressor(random_state=0)),
        GiroEnsemble(model=Ridge(), replicas=2, ties="fixed"),
    ],
    ids=["a fit in each round", "fitted further", "replicas"],
)
def test_a_state_with_fitted_estimators_grows_but_is_not_data(policy: Policy, seed: int) -> None:
    for widths in ((2, 0), (1, 2)):
        of = game(*widths, fractional=True, seed=seed)
        growth = Growth(policy, of, seed)
        grown = played(policy, of, of.shape._replace(n_arms=2, capacity=1), growth, seed=seed)
        assert grown == played(policy, of, of.shape, seed=seed)
    assert arrays_of(start(policy, of.shape, stream(seed))) is None
    assert live_of(policy, of.shape, seed=seed).snapshot() is None


class Rereading:
    """Writes a state down and reads it again, at random moments."""

    def __init__(self, policy: Policy, seed: int, often: float = 0.2) -> None:
        self.policy, self.seed, self.often = policy, seed, often
        self.rng, self.times = stream(seed, 3), 0

    def __call__(self, state: Any, shape: Shape, t: int) -> tuple[Any, Shape]:
        if self.rng.random() > self.often:
            return state, shape
        self.times += 1
        arrays = arrays_of(state)
        assert arrays is not None
        return restored(self.policy, shape, written_and_read(arrays), stream(self.seed, 0)), shape


@each_policy
def test_a_state_that_is_written_and_read_plays_on(policy: Policy, seed: int) -> None:
    for number, widths in enumerate(shapes_for(policy)):
        of = game(*widths, fractional=number != 0, seed=seed)
        rereading = Rereading(policy, seed)
        assert played(policy, of, of.shape, rereading, seed=seed) == played(
            policy, of, of.shape, seed=seed
        )
        assert rereading.times > 2


def goes_on(live: LivePolicy, of: Game, rounds: range) -> Played:
    """Let a live policy play some rounds of a game."""
    result = Played.nothing()
    for t in rounds:
        live.grow_to(0, n_arms=int(of.known[t]))
        live.stream_of(t)
        law = live.propensities(of.offers[t])
        arm = live.choose(of.offers[t])
        live.learn(of.case(t, arm), arm, float(of.rewards[t, arm]))
        result.arms.append(arm)
        result.laws.append([] if law is None else law.tolist())
    return result


def read_again(policy: Policy, live: LivePolicy, seed: int) -> LivePolicy:
    """Return what comes back from a file of a snapshot."""
    snapshot = live.snapshot()
    assert snapshot is not None
    about, arrays = json.loads(json.dumps(snapshot[0])), written_and_read(snapshot[1])
    again = LivePolicy.from_snapshot(policy, live.schema, about, arrays, seed=seed)
    assert again is not None
    return again


@each_policy
def test_a_live_policy_plays_on_from_its_snapshot(policy: Policy, seed: int) -> None:
    widths = shapes_for(policy)[-1]
    of = game(*widths, fractional=True, seed=seed)
    small = of.shape._replace(n_arms=2, capacity=1)
    live = live_of(policy, small, seed=seed)
    pause = int(stream(seed, 4).integers(5, ROUNDS - 5))
    goes_on(live, of, range(pause))
    again = read_again(policy, live, seed)
    assert (again.shape, again.learned) == (live.shape, live.learned)
    assert goes_on(again, of, range(pause, ROUNDS)) == goes_on(live, of, range(pause, ROUNDS))


def some_snapshot(policy: Policy, seed: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the snapshot of a policy after a short game, with shape and generator as JSON."""
    of = game(0, 0, fractional=True, seed=seed)
    live = live_of(policy, of.shape, seed=seed)
    goes_on(live, of, range(20))
    snapshot = live.snapshot()
    assert snapshot is not None
    return snapshot


@pytest.mark.parametrize("name", ["thompson", "giro", "ucb1", "online-bootstrap"])
def test_a_policy_that_starts_differently_is_recognised(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = Policy.parse(name)
    snapshot, begin = some_snapshot(policy, seed), type(policy).start

    def biased(self: Policy, shape: Shape, rng: np.random.Generator) -> Any:
        state = begin(self, shape, rng)
        for field in ("alpha", "total"):  # as if arms had had rewards
            if hasattr(state, field):
                getattr(state, field)[1] += 40.0
        return state._replace(a=9.0) if hasattr(state, "a") else state

    assert LivePolicy.from_snapshot(policy, NOTHING, *snapshot, seed=seed) is not None
    monkeypatch.setattr(type(policy), "start", biased)
    assert LivePolicy.from_snapshot(policy, NOTHING, *snapshot, seed=seed) is None


def test_a_policy_that_chooses_differently_is_recognised(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = Randomized(lambda history, rng: float(history.mean() + 0.1 * rng.random()))
    snapshot, drawn = some_snapshot(policy, seed), randomized._value
    assert LivePolicy.from_snapshot(policy, NOTHING, *snapshot, seed=seed) is not None
    monkeypatch.setattr(randomized, "_value", lambda *given: -drawn(*given))
    assert LivePolicy.from_snapshot(policy, NOTHING, *snapshot, seed=seed) is None


def test_a_policy_with_other_parameters_is_recognised(seed: int) -> None:
    snapshot = some_snapshot(Policy.parse("giro:a=1"), seed)
    assert LivePolicy.from_snapshot(Policy.parse("giro:a=2"), NOTHING, *snapshot, seed=seed) is None


DAMAGES = {
    "an array is missing": lambda arrays: arrays.pop("rewards.total"),
    "an array too many": lambda arrays: arrays.update(more=np.zeros(3)),
    "another type": lambda arrays: arrays.update(
        {"rewards.total": arrays["rewards.total"].astype(np.float32)}
    ),
    "another number of dimensions": lambda arrays: arrays.update(
        {"rewards.total": arrays["rewards.total"][None]}
    ),
    "too long": lambda arrays: arrays.update({"rewards.total": np.zeros(99)}),
    "too short": lambda arrays: arrays.update({"rewards.total": arrays["rewards.total"][:-1]}),
    "a history cut off": lambda arrays: arrays.update(
        {"rewards.history.pool": arrays["rewards.history.pool"][:-1]}
    ),
    "a history that claims more than there is": lambda arrays: arrays.update(
        {"rewards.history.used": arrays["rewards.history.used"] + 1_000_000}
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_arrays_are_refused(damage: Any, seed: int) -> None:
    policy = Policy.parse("bootstrap-thompson")
    about, arrays = some_snapshot(policy, seed)
    damage(arrays)
    n_arms, rounds, capacity = about["sizes"]
    shape = Shape(n_arms, 0, 0, rounds, capacity)
    own = {path: array for path, array in arrays.items() if not path.startswith("moments")}
    with pytest.raises(BadFile, match="bootstrap-thompson"):
        restored(policy, shape, own, stream(seed, 0))
    assert LivePolicy.from_snapshot(policy, NOTHING, about, arrays, seed=seed) is None


def test_arrays_that_are_not_in_use_are_not_written_down(seed: int) -> None:
    policy = Policy.parse("contextual-giro")
    large = start(policy, Shape(3, 2, 0, 100_000, 100_000), stream(seed))
    arrays = arrays_of(large.rows)
    assert arrays is not None
    assert sum(array.nbytes for array in arrays.values()) < 2_000
