"""Models that forget, against fits from scratch to the rows that count, with their weights."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from policies.in_context import Past, informed, some_past, with_constant
from scipy.optimize import minimize
from scipy.special import expit

from giro import BadParameter, Policy
from giro.offer import offer_of
from giro.policies._arm_models import expected
from giro.policy import propensities

ROUNDS, ARMS, D = 150, 3, 4
HALF_LIFE, WINDOW = 25.0, 40
Weights = Callable[[np.ndarray, int], np.ndarray]


def a_past(seed: int) -> Past:
    """Return rounds in the last of which one arm is silent."""
    past = some_past(rounds=ROUNDS, d=D, n_arms=ARMS, seed=seed)
    past.arms[-30:] %= 2
    return past


def faded(when: np.ndarray, now: int) -> np.ndarray:
    return np.asarray(0.5 ** ((now - when) / HALF_LIFE))


def in_window(when: np.ndarray, now: int) -> np.ndarray:
    return (when > now - WINDOW).astype(float)


def ridge(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.linalg.solve((x * w[:, None]).T @ x + np.eye(x.shape[1]), (w * y) @ x)


def logistic(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        scores = x @ theta
        lost = w @ (np.logaddexp(0.0, scores) - y * scores) + theta @ theta / 2
        return float(lost), (w * (expit(scores) - y)) @ x + theta

    return np.asarray(minimize(loss, np.zeros(x.shape[1]), jac=True, tol=1e-12).x)


@pytest.mark.parametrize(
    ("model", "memory", "weights"),
    [
        ("linear", f"half_life={HALF_LIFE}", faded),
        ("linear", f"window={WINDOW}", in_window),
        ("[logistic:tolerance=1e-9]", f"half_life={HALF_LIFE}", faded),
        ("[logistic:tolerance=1e-9]", f"window={WINDOW}", in_window),
    ],
)
def test_a_model_predicts_as_one_fitted_to_the_rows_that_counted_at_its_last_reward(
    model: str, memory: str, weights: Weights, seed: int
) -> None:
    past = a_past(seed)
    state = informed(Policy.parse(f"epsilon-greedy:model={model},{memory}"), past)
    rows_leave_at_once = model == "linear" and weights is in_window
    for arm, (rows, rewards) in enumerate(past.each()):
        when = np.flatnonzero(past.arms == arm)
        w = weights(when, ROUNDS - 1 if rows_leave_at_once else when[-1])
        theta = (ridge if model == "linear" else logistic)(rows, rewards, w)
        for x in past.contexts[:9]:
            score = with_constant(x) @ theta
            found = expected(state.models, offer_of(ARMS, x), np.inf)[arm]
            if model == "linear":
                assert found == pytest.approx(score, abs=1e-9)
            else:
                assert found == pytest.approx(expit(score), abs=1e-5)


@pytest.mark.parametrize(("memory", "silence"), [("half_life=5", 50), ("window=20", 20)])
def test_an_arm_is_untried_again_when_next_to_nothing_is_left_of_its_rewards(
    memory: str, silence: int
) -> None:
    past = some_past(rounds=60 + silence, d=D, n_arms=2, seed=0)
    past.arms[-silence:] = 0
    policy, offer = Policy.parse(f"epsilon-greedy:model=linear,{memory}"), offer_of(2, np.ones(D))
    found = expected(informed(policy, past).models, offer, np.inf)
    assert found[0] < np.inf
    assert found[1] == np.inf
    past.arms[-1] = 1
    assert expected(informed(policy, past).models, offer, np.inf)[1] < np.inf


def test_rows_leave_a_window_with_the_weights_with_which_each_replica_learned_them(
    seed: int,
) -> None:
    past = some_past(rounds=3 * WINDOW + 7, d=D, n_arms=2, seed=seed)
    state = informed(Policy.parse(f"giro-ensemble:replicas=3,window={WINDOW}"), past)
    used = state.taken.sum(axis=2)  # [place, replica]
    assert used.shape == (WINDOW, 3)
    for slot in range(6):
        arm, replica = divmod(slot, 3)
        mine = np.flatnonzero(state.memory.arms == arm)
        rows, w = state.memory.rows[mine], used[mine, replica]
        sums = state.model.sums
        gram = sums.gram[slot] + sums.gram_rest[slot]
        np.testing.assert_allclose(np.triu(gram), np.triu((rows.T * w) @ rows), atol=1e-9)
    np.testing.assert_array_equal(state.pulls, np.bincount(past.arms[-WINDOW:], minlength=2))


@pytest.mark.parametrize(
    ("policy", "memories"),
    [
        ("epsilon-greedy:model=linear", (f"window={ROUNDS}", "half_life=1e13")),
        ("giro-ensemble:replicas=3", (f"window={ROUNDS}", "half_life=1e13")),
        ("squarecb:model=[hashed:bits=10]", (f"window={2 * ROUNDS + 2}", "half_life=1e13")),
        pytest.param(  # with a half-life its network draws rows by other random numbers
            "rand-ucb:model=auto", (f"window={ROUNDS}",), marks=pytest.mark.slow
        ),
    ],
)
def test_a_memory_that_holds_everything_changes_nothing(
    policy: str, memories: tuple[str, ...], seed: int
) -> None:
    past = a_past(seed)
    plain = informed(Policy.parse(policy), past)
    for memory in memories:
        state = informed(Policy.parse(f"{policy},{memory}"), past)
        for x in past.contexts[:20]:
            offer = offer_of(ARMS, x)
            found, wanted = propensities(state, offer), propensities(plain, offer)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-7)


WITH_TABLES = (
    "epsilon-greedy:b=5,model=[hashed:bits=10]",
    "squarecb:model=[hashed:bits=10]",
    "fastcb:model=[hashed:bits=10]",
    "giro-ensemble:model=[hashed:bits=10],replicas=3",
    "poisson-bootstrap:model=[hashed:bits=10],replicas=3",
)


@pytest.mark.parametrize("policy", WITH_TABLES)
def test_hashed_models_know_nothing_of_a_world_that_has_left_the_window(
    policy: str, seed: int
) -> None:
    past = some_past(rounds=ROUNDS, d=D, n_arms=ARMS, seed=seed)
    forgetful, plain = Policy.parse(f"{policy},window={WINDOW}"), Policy.parse(policy)

    def laws(policy: Policy, best: int, rounds: slice) -> np.ndarray:
        """Return the probabilities of arms, if only this one had paid in these rounds."""
        rewards = past.rewards.copy()
        rewards[rounds] = past.arms[rounds] == best
        state = informed(policy, past._replace(rewards=rewards))
        return np.array([propensities(state, offer_of(ARMS, x)) for x in past.contexts[:20]])

    gone, left = slice(ROUNDS - WINDOW), slice(ROUNDS - WINDOW // 2, ROUNDS)
    np.testing.assert_array_equal(laws(forgetful, 0, gone), laws(forgetful, 1, gone))
    assert not np.allclose(laws(plain, 0, gone), laws(plain, 1, gone))
    assert not np.allclose(laws(forgetful, 0, left), laws(forgetful, 1, left))


def test_exploring_follows_the_rewards_that_the_answering_table_has_learned() -> None:
    policy, counted = Policy.parse("squarecb:model=[hashed:bits=10],window=7"), []
    for rounds in range(1, 15):
        past = some_past(rounds=rounds, d=D, n_arms=ARMS, seed=0)
        counted.append(int(informed(policy, past).models.pulls[0]))
    assert counted == [1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6]


REFUSED = [
    "rand-ucb:model=hashed",
    "giro-ensemble:model=online-logistic",
    "rand-ucb:model=[auto:members=[hashed]]",
]


@pytest.mark.parametrize("policy", REFUSED)
def test_models_that_cannot_take_back_a_reward_refuse_a_window(policy: str) -> None:
    joint = "," if ":" in policy else ":"
    with pytest.raises(BadParameter, match="since depend on it: give half_life instead"):
        Policy.parse(f"{policy}{joint}window=9")
    assert Policy.parse(f"{policy}{joint}half_life=9").text.endswith("half_life=9")


FORGETFUL = (
    "rand-ucb",
    "squarecb",
    "giro-ensemble",
    "poisson-bootstrap",
    "epsilon-greedy",
    "default",
)


@pytest.mark.parametrize("name", FORGETFUL)
def test_memories_are_checked(name: str) -> None:
    cls: Any = Policy.known()[name]
    with pytest.raises(BadParameter, match=f"{name} takes one of window and half_life, not both"):
        cls(window=5, half_life=5)
    with pytest.raises(BadParameter, match=f"{name} needs a finite half_life > 0, or none"):
        cls(half_life=0.0)
    with pytest.raises(BadParameter, match=f"{name} needs a whole number window >= 1, or none"):
        cls(window=0.5)
