"""Widths from gradients of networks, against numerical derivatives."""

from typing import Any

import numpy as np
import pytest
from kernels.plain_adam import PlainAdam
from live_kernels import taught
from policies.in_context import with_constant

from giro.errors import BadParameter
from giro.kernels.network import network_at
from giro.offer import NO_CONTEXT, Case, Offer, Shape
from giro.policies._neural import NeuralPolicy, predictions_and_widths
from giro.policies.neural_ts import NeuralTs
from giro.policies.neural_ucb import NeuralUcb
from giro.policy import start
from giro.seeds import stream

each_policy = pytest.mark.parametrize("kind", [NeuralTs, NeuralUcb])


def twin_of(state: Any, number: int) -> PlainAdam:
    """Return a plain network with the same weights."""
    return PlainAdam(network_at(state.models.model.networks, number), 4, rate=0.0, decay=0.0)


def literal_gradient(twin: PlainAdam, x: np.ndarray) -> np.ndarray:
    """Return the derivatives of the output by all weights, from differences."""
    found, step = [], 1e-6
    for array in twin.weights:
        for index in np.ndindex(array.shape):
            before, ends = array[index], []
            for end in (before + step, before - step):
                array[index] = end
                ends.append(twin.expected(x))
            array[index] = before
            found.append((ends[0] - ends[1]) / (2 * step))
    return np.array(found)


def literal_widths(policy: NeuralPolicy, steps: int, seed: int, *, shared: bool) -> Any:
    """Learn some rewards, and return f and the widths of arms, and the state's own."""
    rng, n_models = stream(seed), 1 if shared else 3
    shape = Shape(3, 0 if shared else 2, 2 if shared else 0, 60, 60)
    state = start(policy, shape, rng)
    precision = [policy.penalty * np.ones(3 * 4 + 4 + 1) for _ in range(n_models)]
    for _ in range(steps):
        row, arm = rng.normal(size=2), int(rng.integers(3))
        number = 0 if shared else arm
        precision[number] += literal_gradient(twin_of(state, number), with_constant(row)) ** 2
        case = Case(NO_CONTEXT, row) if shared else Case(row, NO_CONTEXT)
        taught(state, case, arm, float(rng.random() < 0.5), rng)
    rows = rng.normal(size=(3, 2)) if shared else np.tile(rng.normal(size=2), (3, 1))
    found = []
    for arm, x in enumerate(with_constant(rows)):
        twin = twin_of(state, 0 if shared else arm)
        ratios = literal_gradient(twin, x) ** 2 / precision[0 if shared else arm]
        width = np.sqrt(policy.penalty * policy.nu * ratios.sum())
        found.append((float(twin.expected(x)), width))
    context, features = (NO_CONTEXT, rows) if shared else (rows[0], np.empty((0, 0)))
    offer = Offer(np.arange(3), context, features)
    return np.array(found).T, predictions_and_widths(state, offer)


@each_policy
@pytest.mark.parametrize("shared", [False, True])
def test_widths_are_those_of_numerical_derivatives(
    kind: type[NeuralPolicy], shared: bool, seed: int
) -> None:
    policy = kind(0.3, penalty=0.5, hidden=4)
    (f, widths), (ours, our_widths) = literal_widths(policy, 30, seed, shared=shared)
    assert ours == pytest.approx(f, rel=1e-9)
    assert our_widths == pytest.approx(widths, rel=1e-5)


@each_policy
@pytest.mark.parametrize("wrong", [{"nu": -1.0}, {"penalty": 0.0}, {"hidden": 0}])
def test_parameters_out_of_range_are_refused(
    kind: type[NeuralPolicy], wrong: dict[str, Any]
) -> None:
    (name,) = wrong
    with pytest.raises(BadParameter, match=f"{kind.name} needs .*{name}"):
        kind(**wrong)
