"""Targets: what the policies to be evaluated would choose."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from evaluation.known_log import contextual_log, uniform_log

from giro import BadParameter, GiroError, Policy, evaluate
from giro.evaluation import Log
from giro.evaluation.target import Learning, probabilities_in, target_of
from giro.features import Schema
from giro.live import LivePolicy, usable_schema
from giro.offer import NO_CONTEXT, NO_FEATURES, offer_of
from giro.policies.epsilon_greedy import EpsilonGreedy
from giro.policy import Case, Offer, Shape, choose, learn, start
from giro.seeds import NumberedStreams, stream


def probabilities(policy: Any, log: Log, **lead: Any) -> np.ndarray:
    return target_of(policy, log, Learning(**lead)).probabilities


def log_of(events: int = 30) -> Log:
    return uniform_log(1, 0, events=events, means=[0.2, 0.5, 0.9])


class _Half(NamedTuple):
    seen: np.ndarray  # [1] rewards learned


@dataclass(frozen=True)
class Knowing(Policy):
    """Tells its probabilities from the second event on; before that it chooses arm 2."""

    def start(self, shape: Shape, rng: np.random.Generator) -> _Half:
        return _Half(np.zeros(1, np.int64))

    @staticmethod
    def choose(state: _Half, offer: Offer, rng: np.random.Generator) -> int:
        return 2

    @staticmethod
    def learn(state: _Half, case: Case, arm: int, reward: float, rng: Any) -> None:
        state.seen[0] += 1

    @staticmethod
    def propensities(state: _Half, offer: Offer) -> np.ndarray:
        share = 1.0 / (1.0 + state.seen[0])
        return np.array([share, 1.0 - share, 0.0]) if state.seen[0] else np.empty(0)


def test_exact_probabilities_are_asked_for_before_each_event_and_voted_only_where_unknown() -> None:
    found = probabilities_in(Knowing(), log_of(3), np.zeros(3), votes=10, seed=0)
    assert np.allclose(
        found.probabilities, [[0.0, 0.0, 1.0], [1 / 2, 1 / 2, 0.0], [1 / 3, 2 / 3, 0.0]]
    )
    assert found.voted == 1


def test_ucb1_is_led_through_the_log_and_learns_every_reward() -> None:
    log = log_of(60)
    found = probabilities("ucb1", log, votes=200)
    pulls, total = np.zeros(3), np.zeros(3)
    for t in range(log.events):
        if pulls.min() > 0:
            bounds = total / pulls + np.sqrt(2 * np.log(t) / pulls)
            assert found[t, np.argmax(bounds)] == 1.0
        else:
            assert np.allclose(found[t], (pulls == 0) / (pulls == 0).sum(), atol=0.25)
        pulls[log.arm[t]] += 1
        total[log.arm[t]] += log.reward[t]


def naive_votes(policy: Policy, log: Log, votes: int, seed: int) -> np.ndarray:
    shape = Shape(len(log.arm_names), 0, 0, log.events, log.events)
    state = start(policy, shape, stream(seed, 0))
    voting, learning = NumberedStreams(seed, 1), stream(seed, 2)
    counts = np.zeros((log.events, len(log.arm_names)))
    for t in range(log.events):
        offer, rng = offer_of(len(log.arm_names)), voting.at(t)
        for _ in range(votes):
            counts[t, choose(state, offer, rng)] += 1
        case = Case(NO_CONTEXT, NO_CONTEXT)
        learn(state, case, int(log.arm[t]), float(log.reward[t]), learning)
    return counts / votes


def test_compiled_votes_are_those_of_plain_python(seed: int) -> None:
    class Voting(EpsilonGreedy):
        propensities: ClassVar[Any] = None

    log = log_of()
    found = probabilities_in(Voting(), log, log.reward, votes=7, seed=seed).probabilities
    assert np.array_equal(found, naive_votes(Voting(), log, 7, seed))


def test_rewards_of_another_range_are_mapped_for_the_policy() -> None:
    log = log_of()
    shifted = replace(log, reward=50 * log.reward - 10)
    same = probabilities("ucb1", log, votes=20)
    assert np.array_equal(same, probabilities("ucb1", shifted, votes=20, reward_range=(-10, 40)))
    with pytest.raises(BadParameter, match=r"say reward_range=\(low, high\)"):
        probabilities("ucb1", shifted)
    with pytest.raises(BadParameter, match=r"rewards in \[0, 30\]"):
        probabilities("ucb1", shifted, reward_range=(0.0, 30.0))


def test_fixed_targets_of_every_kind_agree(seed: int) -> None:
    log = contextual_log(seed, 0, events=20)
    law = [0.2, 0.3, 0.5]
    array = probabilities(np.tile(law, (20, 1)), log)
    assert np.array_equal(array, probabilities(dict(zip("abc", law, strict=True)), log))
    assert np.array_equal(array, probabilities(lambda context: law, log))
    by_arm = {"c": 0.5, "a": 0.2, "b": 0.3}
    assert np.array_equal(array, probabilities(lambda context: by_arm, log))
    assert np.array_equal(array, probabilities([law] * 20, log))
    assert np.array_equal(probabilities("always:b", log), np.tile([0.0, 1.0, 0.0], (20, 1)))


def test_probabilities_are_scaled_to_the_eligible_arms() -> None:
    log = replace(
        log_of(2),
        arm=np.array([0, 1]),
        eligible=np.array([[True, True, False], [False, True, False]]),
    )
    assert np.allclose(
        probabilities({"0": 0.2, "1": 0.2, "2": 0.6}, log), [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
    )
    assert np.allclose(probabilities("always:2", log), [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize("policy", ["thompson", "ucb1", "giro", "lin-ucb:scale=0.3", "besa"])
@pytest.mark.parametrize("features", [False, True])
def test_a_learning_policy_is_offered_the_eligible_arms_and_no_others(
    policy: str, features: bool, seed: int
) -> None:
    log, rng = contextual_log(seed, 0, events=40), stream(seed, 9)
    eligible = rng.random((40, 3)) < 0.6
    eligible[np.arange(40), log.arm] = True
    known = [rng.random((int(row.sum()), 2)) for row in eligible] if features else None
    schema = Schema.of_numbers(2, 2) if features else log.schema
    log = replace(log, eligible=eligible, features=known, schema=schema)
    found = probabilities(policy, log, votes=50, seed=seed)

    given = Policy.parse(policy)
    shared = features and given.uses_arm_features
    live = LivePolicy(given, usable_schema(given, schema), n_arms=3, seed=seed, rounds=40)
    for event in range(40):
        arms = np.flatnonzero(eligible[event])
        its = known[event] if shared and known else NO_FEATURES
        offer = Offer(arms, log.contexts[event], its)
        law = live.propensities(offer)
        if law is None:
            live.stream_of(event)
            law = live.vote(offer, 50)
        assert found[event, arms] == pytest.approx(law, abs=1e-12)
        assert found[event].sum() == pytest.approx(1.0, abs=1e-12)
        arm = int(log.arm[event])
        mine = its[arms.tolist().index(arm)] if shared else NO_CONTEXT
        live.learn(Case(log.contexts[event], mine), arm, float(log.reward[event]))


def test_the_law_among_eligible_arms_is_not_the_law_of_all_arms_scaled() -> None:
    """An arm never pulled goes first; where it was not eligible, the others are compared."""
    log = replace(
        log_of(3),
        arm=np.array([0, 1, 1]),
        reward=np.array([1.0, 0.0, 0.0]),
        eligible=np.array([[True, True, False]] * 3),
    )
    assert probabilities("greedy", log)[2].tolist() == [1.0, 0.0, 0.0]


def test_targets_have_names() -> None:
    log = log_of(2)

    def half(context: np.ndarray) -> list[float]:
        return [0.5, 0.5, 0.0]

    names = [
        target_of(policy, log, Learning()).name for policy in ("ucb1", {"0": 0.5, "2": 0.5}, half)
    ]
    assert names == ["ucb1", "0=0.5,2=0.5", "half"]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("gyro", "no policy is called 'gyro'"),
        ("always:7", "no arm is called '7'"),
        ({"x": 1.0}, "no arm is called 'x'"),
        ({"0": 0.7}, "are not >= 0 with sum 1"),
        ({"0": 1.5, "1": -0.5}, "are not >= 0 with sum 1"),
        ({"0": float("nan")}, "are not >= 0 with sum 1"),
        (np.ones((3, 2)) / 2, "a row for each of 30 events"),
        ([["x"]], "an array of numbers"),
        (["ucb1", "thompson"], "one policy at a time, got 2"),
        ({"0": "default"}, "a probability for each arm, and for '0' it has 'default'"),
        ({"x": "default"}, "no arm is called 'x'"),
        (lambda context: [1.0], "a column for each of 3 arms"),
        (lambda context: {"x": 1.0}, "no arm is called 'x'"),
        (lambda context: {"0": 0.7}, "are not >= 0 with sum 1"),
        (7, "a policy is a giro policy"),
    ],
)
def test_wrong_targets_are_refused(policy: Any, said: str) -> None:
    with pytest.raises(GiroError, match=said):
        evaluate(log_of(), policy)


def test_a_choice_that_there_is_not_is_refused() -> None:
    @dataclass(frozen=True)
    class Wrong(Knowing):
        propensities: ClassVar[Any] = None

        def start(self, shape: Shape, rng: Any) -> Any:
            return _Other(0)

        choose = staticmethod(lambda state, offer, rng: 3)
        learn = staticmethod(lambda state, case, arm, reward, rng: None)

    with pytest.raises(GiroError, match="chose an arm that is not on offer"):
        evaluate(log_of(), Wrong())


class _Other(NamedTuple):
    nothing: int
