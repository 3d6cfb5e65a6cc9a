"""NeuralLinear: its network against plain NumPy, and its draws against those of all parameters."""

from typing import Any

import numpy as np
import pytest
from kernels.plain_adam import PlainAdam
from laws import p_value_of_same_counts
from live_kernels import counted
from policies.in_context import Past, chosen, informed, some_past, with_constant
from policies.posterior_twin import literal_draws, of_shared_arms

from giro.compiling import plain
from giro.errors import BadParameter
from giro.kernels.draws.uniform import integer_below
from giro.kernels.regression.rows import positions_of
from giro.offer import NO_CONTEXT, Case, Shape, offer_of
from giro.policies.neural_linear import NeuralLinear, _network_of
from giro.policy import start
from giro.seeds import stream

DRAWS = 20_000
SMALL = NeuralLinear(hidden=5, every=12, steps=6, batch=4, rate=0.05, slowing=0.5)


def units_of(state: Any, rows: np.ndarray) -> np.ndarray:
    """Return the last layer of these rows, and the constant 1."""
    weights = state.network.hidden[0].reshape(rows.shape[1], -1)[:, : state.layer.size - 1]
    return with_constant(np.maximum(rows @ weights, 0.0))


def test_training_takes_steps_of_adam_at_rewards_of_one_arm_each(seed: int) -> None:
    past = some_past(rounds=24, d=4, n_arms=3, seed=seed)
    ours, theirs = stream(seed, 1), stream(seed, 1)
    state = start(SMALL, Shape(3, 4, 0, 24, 24), ours)
    start(SMALL, Shape(3, 4, 0, 24, 24), theirs)
    weights = [_network_of(state.network, arm) for arm in range(3)]
    heads, steps = [PlainAdam(each, 5, rate=0, decay=0) for each in weights], 0
    for t in range(24):
        case = Case(past.contexts[t], NO_CONTEXT)
        plain(NeuralLinear.learn)(state, case, past.arms[t], past.rewards[t], ours)
        if t % 12 != 11:
            continue
        for k in range(SMALL.steps):
            arm = np.sort(past.arms[: t + 1])[integer_below(t + 1, theirs)]
            rows = np.flatnonzero(past.arms[: t + 1] == arm)
            batch = rows[[integer_below(rows.size, theirs) for _ in range(SMALL.batch)]]
            twin = heads[arm]
            twin.steps, twin.rate = steps, SMALL.rate / (1 + SMALL.slowing * k)
            twin.step(with_constant(past.contexts[batch]), past.rewards[batch])
            steps += 1
            for head in heads:  # all have the same hidden units
                head.weights[0], head.mean[0] = twin.weights[0], twin.mean[0]
                head.square[0] = twin.square[0]
        for twin, mine in zip(heads, weights, strict=True):
            twin.assert_equals(mine)


def test_after_training_the_posterior_is_that_of_all_rewards_on_the_new_layer(seed: int) -> None:
    past = some_past(rounds=60, d=4, n_arms=3, seed=seed)
    state = informed(SMALL, past)
    for arm, (rows, rewards) in enumerate(past.each()):
        z = units_of(state, rows)
        precision = SMALL.penalty * np.eye(6) + z.T @ z
        mean = np.linalg.solve(precision, z.T @ rewards)
        ridge = state.posterior.ridge
        assert ridge.theta[arm] == pytest.approx(mean, rel=1e-8)
        assert np.triu(ridge.factor[arm]).T @ np.triu(ridge.factor[arm]) == pytest.approx(precision)
        assert positions_of(state.rows, arm).size == state.posterior.pulls[arm] == rewards.size


def p_value(policy: NeuralLinear, twin: NeuralLinear, seed: int) -> float:
    past = some_past(rounds=150, d=4, n_arms=4, seed=seed)  # some rewards after the last training
    state, x = informed(policy, past), past.contexts[1]
    arms, rng = chosen(state, offer_of(4, x), draws=DRAWS, seed=seed), stream(seed, 7)
    point = units_of(state, with_constant(x)[None])[0]
    literal = np.argmax(
        [
            literal_draws(units_of(state, rows), rewards, twin, DRAWS, rng) @ point
            for rows, rewards in past.each()
        ],
        axis=0,
    )
    return p_value_of_same_counts(*(np.bincount(each, minlength=4) for each in (arms, literal)))


def test_arms_are_pulled_as_often_as_if_all_parameters_were_drawn(seed: int) -> None:
    assert p_value(SMALL, SMALL, seed) > 1e-6


def test_a_slightly_wrong_prior_is_noticed() -> None:
    wrong = NeuralLinear(hidden=5, b=15.0)
    assert p_value(SMALL, wrong, 0) < 1e-6


def test_arms_with_features_share_the_draw_of_one_regression(seed: int) -> None:
    policy = NeuralLinear(hidden=5, every=25, steps=5, b=0.5)
    state, offer, rows, (past, rewards) = of_shared_arms(policy, seed)
    draws = literal_draws(units_of(state, past), rewards, policy, DRAWS, stream(seed, 7))
    twins = np.bincount((draws @ units_of(state, rows).T).argmax(axis=1), minlength=4)
    counts = counted(state, offer, DRAWS, stream(seed, 6))
    assert p_value_of_same_counts(counts, twins) > 1e-6


def test_it_learns_what_no_line_through_the_contexts_can_say(seed: int) -> None:
    rng = stream(seed, 3)
    contexts, arms = rng.uniform(-1, 1, (900, 1)), rng.integers(0, 2, 900)
    rewards = (np.abs(contexts[:, 0]) < 0.5) == (arms == 0)  # arm 0 in the middle, arm 1 outside
    state = informed(NeuralLinear(b=0.1), Past(contexts, arms, rewards.astype(float), 2))
    for x, best in ((0.0, 0), (0.9, 1), (-0.9, 1)):
        chosen_arms = chosen(state, offer_of(2, np.array([x])), draws=200, seed=seed)
        assert (chosen_arms == best).mean() > 0.9


@pytest.mark.parametrize(
    "wrong",
    [
        {"hidden": 0},
        {"every": 0},
        {"steps": 1.5},
        {"batch": -1},
        {"rate": 0.0},
        {"slowing": -1.0},
        {"b": 0.0},
        {"initial": 0},
    ],
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"neural-linear needs .*{name}"):
        NeuralLinear(**wrong)
