"""Contextual Giro: Algorithm 3, with every entry counted instead of copied."""

import math

import numpy as np
import pytest
from laws import ALPHA, assert_follows, p_value_of_same_counts
from literal_contextual import literal_values, ridge
from live_kernels import counted, taught
from policies.choosing import winner_law
from scipy import stats

from giro import BadParameter, Policy, UnknownName
from giro.models import Linear
from giro.offer import NO_CONTEXT, Case, Shape, offer_of
from giro.policies.contextual_giro import ContextualGiro
from giro.policy import start
from giro.seeds import stream

CONTEXT = np.array([0.3, -0.8, 1.0])  # with the constant that policies append
DRAWS = 4_000

Histories = list[list[tuple[np.ndarray, float]]]


def some_histories(seed: int, sizes: tuple[int, ...], rewards: str) -> Histories:
    rng = stream(seed, 7)

    def pair() -> tuple[np.ndarray, float]:
        context, reward = np.append(rng.normal(size=2), 1.0), rng.random()
        return context, float(reward < 0.5) if rewards == "binary" else reward

    return [[pair() for _ in range(size)] for size in sizes]


def state_after(policy: Policy, histories: Histories, rng: np.random.Generator):
    rounds = sum(map(len, histories))
    state = start(policy, Shape(len(histories), 2, 0, rounds, rounds), rng)
    for arm, history in enumerate(histories):
        for context, reward in history:
            taught(state, Case(context[:2], NO_CONTEXT), arm, reward, rng)
    return state


def literal_counts(histories: Histories, a: int, rng: np.random.Generator) -> np.ndarray:
    choices = [
        int(np.argmax(literal_values(histories, CONTEXT, a, ridge, rng))) for _ in range(DRAWS)
    ]
    return np.bincount(choices, minlength=len(histories))


@pytest.mark.parametrize("rewards", ["binary", "any"])
@pytest.mark.parametrize("a", [0, 1, 2])
def test_chooses_arms_as_often_as_algorithm_3(a: int, rewards: str, seed: int) -> None:
    histories = some_histories(seed, (4, 9, 6), rewards)
    literal = literal_counts(histories, a, stream(seed, 1))
    state = state_after(ContextualGiro(a=float(a)), histories, stream(seed, 2))
    ours = counted(state, offer_of(3, CONTEXT[:2]), 20 * DRAWS, stream(seed, 3))
    assert p_value_of_same_counts(literal, ours) > ALPHA
    other = state_after(ContextualGiro(a=a + 3.0), histories, stream(seed, 2))
    wrong = counted(other, offer_of(3, CONTEXT[:2]), 20 * DRAWS, stream(seed, 3))
    assert p_value_of_same_counts(ours, wrong) < ALPHA


def test_an_untried_arm_comes_first_and_all_of_them_equally_often(seed: int) -> None:
    histories = some_histories(seed, (3, 0, 2, 0), "binary")
    state = state_after(ContextualGiro(), histories, stream(seed, 1))
    counts = counted(state, offer_of(4, CONTEXT[:2]), 10_000, stream(seed, 2))
    assert_follows(np.repeat(np.arange(4), counts), [0.0, 0.5, 0.0, 0.5])


def test_without_contexts_it_is_giro_with_a_penalty(seed: int) -> None:
    """The value of s rewards is then (sum of the sample) / (length of the sample + penalty)."""
    policy = ContextualGiro(a=1.0, model=Linear())
    state = start(policy, Shape(2, 0, 0, 6, 6), stream(seed, 1))
    for arm, reward in [(0, 1.0), (0, 0.0), (0, 1.0), (1, 0.0), (1, 1.0)]:
        taught(state, Case(NO_CONTEXT, NO_CONTEXT), arm, reward, stream(seed, 1))
    counts = counted(state, offer_of(2), 50_000, stream(seed, 2))
    laws = [(3, 5 / 9), (2, 3 / 6)]  # pulls, and share of ones after three entries a pull
    assert_follows(np.repeat(np.arange(2), counts), _shrunk_law(laws))


def _shrunk_law(laws: list[tuple[int, float]]) -> np.ndarray:
    values = [np.arange(3 * s + 1) / (3 * s + 1) for s, _ in laws]
    return winner_law(values, [stats.binom.pmf(np.arange(3 * s + 1), 3 * s, p) for s, p in laws])


@pytest.mark.parametrize("a", [-1.0, math.inf, math.nan])
def test_a_is_finite_and_not_negative(a: float) -> None:
    with pytest.raises(BadParameter, match="contextual-giro needs a finite a >= 0"):
        ContextualGiro(a=a)


def test_a_model_is_named_with_its_parameters() -> None:
    policy = Policy.parse("contextual-giro:a=1/3,model=[linear:penalty=2]")
    assert policy.text == "contextual-giro:a=1/3,model=[linear:penalty=2]"
    assert Policy.parse(policy.text) == policy
    with pytest.raises(UnknownName, match="no model is called 'liner'"):
        Policy.parse("contextual-giro:model=liner")
