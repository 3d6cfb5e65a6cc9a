"""Memories for worlds that change, and policies with them: what still counts, and how much."""

import math
from collections import deque
from typing import Any

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from live_kernels import law, law_of, learn_all, live_of, voted
from policies.choosing import NO_CASE, shape_for
from policies.in_context import Past, chosen, informed, some_past, with_constant
from policies.test_lin_ucb import literal_bounds
from policies.test_thompson import best_of_betas

from giro import BadParameter, Policy
from giro.compiling.held import hold
from giro.kernels.memory import (
    Everything,
    Window,
    empty_window,
    exchange,
    fade,
    half_life_memory,
    memory_of,
    now,
    trusted_since,
)
from giro.offer import Shape, offer_of
from giro.policies.giro import Giro
from giro.policies.lin_ts import LinTs, _posterior
from giro.policies.lin_ucb import LinUcb, _bounds
from giro.policies.thompson import Thompson
from giro.policies.ucb1 import Ucb1
from giro.policies.ucb1 import _bounds as ucb1_bounds
from giro.policy import arrays_of, start
from giro.seeds import stream

ALPHA, N_ARMS = 1e-6, 3

Rewards = list[tuple[int, float]]  # arm and reward, in their order


def some_rewards(n: int, seed: int, *, fractional: bool = False, arms: int = N_ARMS) -> Rewards:
    """Return rewards of arms that are pulled in random order."""
    rng = stream(seed, 91, n)
    found = []
    for _ in range(n):
        arm = int(rng.integers(arms))
        reward = float(rng.random() < 0.3 + 0.2 * arm)
        found.append((arm, round(rng.random(), 2) if fractional else reward))
    return found


def after(policy: Policy, rewards: Rewards, *, n_arms: int = N_ARMS, seed: int = 0) -> Any:
    """Return the policy's state after these rewards."""
    rng, n = stream(seed), len(rewards)
    state, nothing = start(policy, shape_for(n_arms, n + 1), rng), np.empty((n, 0))
    arms, values = np.array([arm for arm, _ in rewards], np.int64), [value for _, value in rewards]
    learn_all(hold(state, None, rng, rng), nothing, nothing, arms, np.array(values, float))
    return state


def votes(state: Any, draws: int, seed: int) -> np.ndarray:
    """Return how often each arm is chosen from this state."""
    rng = stream(seed, 1)
    return voted(hold(state, None, rng, rng), offer_of(N_ARMS), draws)


def probabilities(policy: Policy, rewards: Rewards) -> np.ndarray:
    held = hold(after(policy, rewards), None, stream(0), stream(0))
    return law(held, offer_of(N_ARMS))


# -- memories by themselves ------------------------------------------------------------------------


def test_a_window_gives_back_what_a_queue_would_lose(seed: int) -> None:
    memory, queue = memory_of(shape_for(N_ARMS, 100), window=7), deque[tuple[int, float]]()
    for arm, reward in some_rewards(40, seed, fractional=True):
        queue.append((arm, reward))
        gone = queue.popleft() if len(queue) > 7 else (-1, 0.0)
        assert exchange(memory, arm, reward) == gone
    assert isinstance(memory, Window)
    kept = memory.trimmed()
    assert sorted(zip(kept.arms.tolist(), kept.rewards.tolist(), strict=True)) == sorted(queue)


def test_without_a_window_nothing_leaves() -> None:
    for memory in (memory_of(shape_for(2, 9), window=None, half_life=h) for h in (None, 3.0)):
        assert [exchange(memory, 1, 0.5) for _ in range(5)] == [(-1, 0.0)] * 5


def test_after_a_half_life_sums_have_lost_half_of_what_they_were_above_the_start() -> None:
    sums, forever, window = np.array([9.0, 1.0, -3.0]), np.array([9.0]), np.array([9.0])
    for _ in range(4):
        fade(half_life_memory(4.0), sums, 1.0)
        fade(Everything(), forever, 1.0)
        fade(empty_window(2, 2), window, 1.0)
    np.testing.assert_allclose(sums, [5.0, 1.0, -1.0], rtol=1e-12)
    assert (forever[0], window[0]) == (9.0, 9.0)


def test_sums_without_rows_to_take_back_fade_once_a_window_is_full() -> None:
    memory, left = empty_window(4, 20), []
    for _ in range(7):
        before = now(memory)
        exchange(memory, 0, 1.0)
        left.append(trusted_since(memory, before))
    assert left == [1.0] * 4 + [0.75] * 3
    assert trusted_since(memory, 0) == pytest.approx(0.75**3)


# -- windows ------------------------------------------------------------------------------------

TWINS = [
    (Giro(window=20), Giro()),
    (Giro(1 / 3, window=20), Giro(1 / 3)),
    (Thompson(window=20), Thompson()),
    (Thompson(alpha=0.5, beta=2.0, window=20), Thompson(alpha=0.5, beta=2.0)),
    (Ucb1(window=20), Ucb1()),
]
each_twin = pytest.mark.parametrize(("policy", "twin"), TWINS, ids=str)


@each_twin
@pytest.mark.parametrize("n", [0, 1, 19, 20, 21, 40, 137])
def test_a_window_leaves_what_is_known_from_the_last_rewards_alone(
    policy: Policy, twin: Policy, n: int, seed: int
) -> None:
    rewards = some_rewards(n, seed)
    found, wanted = probabilities(policy, rewards), probabilities(twin, rewards[-20:])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@each_twin
def test_one_reward_more_in_the_window_is_noticed(policy: Policy, twin: Policy, seed: int) -> None:
    rewards = [(0, 1.0), *((t % N_ARMS, float(t % 2)) for t in range(20))]
    found, wanted = probabilities(policy, rewards), probabilities(twin, rewards)
    if not isinstance(policy, Ucb1):  # whose choice is certain, and need not change
        assert np.abs(found - wanted).max() > 1e-3
    np.testing.assert_allclose(found, probabilities(twin, rewards[1:]), rtol=0, atol=1e-12)


@each_twin
def test_an_arm_all_of_whose_rewards_have_left_is_as_if_it_were_new(
    policy: Policy, twin: Policy, seed: int
) -> None:
    for gone in range(N_ARMS):  # it comes back, and leaves again
        others = [arm for arm in range(N_ARMS) if arm != gone]
        rewards = [(gone, 1.0), *((others[t % 2], float(t % 3 == 0)) for t in range(25))] * 2
        for end in range(22, len(rewards) + 1, 3):
            found = probabilities(policy, rewards[:end])
            wanted = probabilities(twin, rewards[:end][-20:])
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def test_bounds_of_ucb1_are_those_of_the_last_rewards(seed: int) -> None:
    rewards = some_rewards(500, seed, fractional=True)
    found = ucb1_bounds(after(Ucb1(window=30), rewards), np.arange(N_ARMS))
    for arm in range(N_ARMS):
        its = [reward for other, reward in rewards[-30:] if other == arm]
        bound = np.mean(its) + math.sqrt(2 * math.log(30) / len(its))
        assert found[arm] == pytest.approx(bound, rel=1e-12)


def test_thompson_forgets_the_rounded_reward_that_it_took_in(seed: int) -> None:
    state = after(Thompson(window=50), some_rewards(1_000, seed, fractional=True), seed=seed)
    assert state.alpha.sum() + state.beta.sum() == 50 + 2 * N_ARMS
    assert min(state.alpha.min(), state.beta.min()) >= 1.0


def literal_giro(rewards: Rewards, a: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return how often each arm has the highest bootstrap mean, of this history as it is."""
    values = []
    for arm in range(N_ARMS):
        its = [reward for other, reward in rewards if other == arm]
        history = np.array(its + [0.0, 1.0] * (a * len(its)))
        values.append(rng.choice(history, (draws, history.size)).mean(axis=1))
    return np.bincount(np.argmax(values, axis=0), minlength=N_ARMS)


@pytest.mark.parametrize(("n", "window"), [(90, 30), (700, 500)])
def test_giro_resamples_the_last_fractional_rewards(n: int, window: int, seed: int) -> None:
    """The longer window has so many rewards of an arm that they are kept in ordered parts."""
    rewards, rng = some_rewards(n, 3, fractional=True), stream(seed, 2)
    rewards = [(arm, min(1.0, 0.8 * reward + 0.02 * arm)) for arm, reward in rewards]
    drawn = votes(after(Giro(window=window), rewards), 4_000, seed)
    assert p_value_of_same_counts(drawn, literal_giro(rewards[-window:], 1, 4_000, rng)) > ALPHA


def test_a_fractional_reward_that_should_have_left_is_noticed(seed: int) -> None:
    rewards = [(0, 0.9), (0, 0.8), *((t % N_ARMS, 0.3 + 0.1 * (t % 4)) for t in range(12))]
    drawn = votes(after(Giro(window=12), rewards), 20_000, seed)
    rng = stream(seed, 2)
    assert p_value_of_same_counts(drawn, literal_giro(rewards[2:], 1, 20_000, rng)) > ALPHA
    assert p_value_of_same_counts(drawn, literal_giro(rewards[1:], 1, 20_000, rng)) < ALPHA


@pytest.mark.parametrize(
    "policy",
    [Giro(window=64), Thompson(window=64), Ucb1(window=64), LinUcb(window=64), Ucb1(half_life=9)],
    ids=str,
)
def test_a_state_does_not_grow_with_what_it_has_forgotten(policy: Policy, seed: int) -> None:
    live, sizes = live_of(policy, Shape(N_ARMS, 0, 0, 1, 1), seed=seed), []
    for arm, reward in some_rewards(2_000, seed, fractional=True):
        live.learn(NO_CASE, arm, reward)
        if live.learned in (1_000, 2_000):
            arrays = arrays_of(live.state) or {}
            sizes.append(sum(array.nbytes for array in arrays.values()))
    assert sizes[1] <= sizes[0] < 40_000


# -- half-lives ---------------------------------------------------------------------------------


def faded(rewards: Rewards, half_life: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of each arm's rewards, summed, and their weighted sum."""
    pulls, total = np.zeros(N_ARMS), np.zeros(N_ARMS)
    for age, (arm, reward) in enumerate(reversed(rewards)):
        weight = 2.0 ** (-age / half_life)
        pulls[arm] += weight
        total[arm] += weight * reward
    return pulls, total


@pytest.mark.parametrize("half_life", [0.7, 10.0, 1e6])
def test_bounds_of_ucb1_are_those_of_faded_rewards(half_life: float, seed: int) -> None:
    rewards = some_rewards(300, seed, fractional=True)
    pulls, total = faded(rewards, half_life)
    found = ucb1_bounds(after(Ucb1(half_life=half_life), rewards), np.arange(N_ARMS))
    np.testing.assert_allclose(
        found, total / pulls + np.sqrt(2 * math.log(pulls.sum()) / pulls), rtol=1e-9
    )


def test_arms_long_not_on_offer_have_their_means_as_bounds(seed: int) -> None:
    rewards = [(0, 1.0), (1, 0.0), (1, 1.0), *[(2, 0.5)] * 50]
    found = ucb1_bounds(after(Ucb1(half_life=5.0), rewards), np.array([0, 1]))
    pulls, total = faded(rewards, 5.0)
    assert pulls[:2].sum() < 1.0
    np.testing.assert_allclose(found, (total / pulls)[:2], rtol=1e-12)


def test_thompson_draws_from_posteriors_of_faded_rewards(seed: int) -> None:
    rewards = some_rewards(60, 4)
    policy = Thompson(alpha=0.5, half_life=15.0)
    arms = np.repeat(np.arange(N_ARMS), votes(after(policy, rewards), 100_000, seed))
    pulls, total = faded(rewards, 15.0)
    law = best_of_betas(list(zip(0.5 + total, 1.0 + pulls - total, strict=True)))
    assert_follows(arms, law)
    np.testing.assert_allclose(probabilities(policy, rewards), law, atol=1e-7)
    pulls, total = faded(rewards, 18.0)
    with pytest.raises(AssertionError, match="p ="):
        wrong = list(zip(0.5 + total, 1.0 + pulls - total, strict=True))
        assert_follows(arms, best_of_betas(wrong))


# -- linear models ------------------------------------------------------------------------------


def weighted(past: Past, weights: np.ndarray) -> Past:
    """Return rounds whose regressions, each row counting once, are those of weighted rows."""
    root = np.sqrt(weights)
    rows = with_constant(past.contexts) * root[:, None]
    return Past(rows, past.arms, past.rewards * root, past.n_arms)


class Literal(Past):
    """Rounds whose contexts already have their constant."""

    def of(self, arm: int) -> tuple[np.ndarray, np.ndarray]:
        return self.contexts[self.arms == arm], self.rewards[self.arms == arm]


MEMORIES = [{"window": 100}, {"window": 700}, {"half_life": 40.0}]
each_memory = pytest.mark.parametrize("memory", MEMORIES, ids=str)


def weights_of(n: int, *, window: int | None = None, half_life: float = 1.0) -> np.ndarray:
    """Return what each of n rewards counts."""
    age = np.arange(n)[::-1]
    return 2.0 ** (-age / half_life) if window is None else (age < window).astype(float)


@each_memory
@pytest.mark.parametrize("scale", [None, 0.7])
def test_bounds_of_lin_ucb_are_those_of_weighted_rows(
    memory: dict[str, Any], scale: float | None, seed: int
) -> None:
    past = some_past(rounds=600, d=8, n_arms=4, seed=seed, tried=3)
    policy = LinUcb(scale, penalty=0.5, **memory)
    state, weights = informed(policy, past), weights_of(600, **memory)
    literal = Literal(*weighted(past, weights))
    for x in past.contexts[:20]:
        wanted = literal_bounds(literal, with_constant(x), policy)
        np.testing.assert_allclose(_bounds(state, offer_of(4, x)), wanted, rtol=1e-8, atol=1e-8)


@each_memory
def test_draws_of_lin_ts_follow_the_posterior_of_weighted_rows(
    memory: dict[str, Any], seed: int
) -> None:
    past = some_past(rounds=300, d=5, n_arms=3, seed=0)
    policy, x = LinTs(0.5, **memory), past.contexts[1]
    state, literal = informed(policy, past), Literal(*weighted(past, weights_of(300, **memory)))
    means, deviations, row = [], [], with_constant(x)
    for rows, rewards in literal.each():
        inverse = np.linalg.inv(np.eye(row.size) + rows.T @ rows)
        means.append(row @ inverse @ rows.T @ rewards)
        deviations.append(0.5 * math.sqrt(row @ inverse @ row))
    found = _posterior(state, offer_of(3, x))
    np.testing.assert_allclose(found, (means, deviations), rtol=1e-9, atol=1e-9)
    arms = chosen(state, offer_of(3, x), draws=20_000, seed=seed)
    assert_follows(arms, law_of(state, offer_of(3, x)))


# -- parameters ---------------------------------------------------------------------------------

FORGETFUL = ("thompson", "ucb1", "lin-ucb", "lin-ts")


@pytest.mark.parametrize("name", [*FORGETFUL, "giro"])
@pytest.mark.parametrize("window", [0, -1, 2.5, True])
def test_a_window_holds_a_reward_or_more(name: str, window: Any) -> None:
    cls: Any = Policy.known()[name]
    with pytest.raises(BadParameter, match=rf"{name} needs a whole number window >= 1, or none"):
        cls(window=window)


@pytest.mark.parametrize("name", FORGETFUL)
@pytest.mark.parametrize("half_life", [0.0, -3.0, math.inf, math.nan])
def test_a_half_life_is_finite_and_positive(name: str, half_life: float) -> None:
    cls: Any = Policy.known()[name]
    with pytest.raises(BadParameter, match=f"{name} needs a finite half_life > 0, or none"):
        cls(half_life=half_life)


@pytest.mark.parametrize("name", FORGETFUL)
def test_a_window_and_a_half_life_exclude_each_other(name: str) -> None:
    with pytest.raises(BadParameter, match=f"{name} takes one of window and half_life, not both"):
        Policy.parse(f"{name}:window=5,half_life=5")


@pytest.mark.parametrize("name", [*FORGETFUL, "giro"])
def test_a_memory_is_shown_only_where_there_is_one(name: str) -> None:
    assert "window" not in Policy.parse(name).text
    assert Policy.parse(f"{name}:window=40").text.endswith("window=40")
