"""Inverse gap weighting: SquareCB and FastCB share it."""

import numpy as np
import pytest
from policies.inverse_gaps_twin import literal

from giro.policies._inverse_gaps import by_inverse_gaps
from giro.seeds import stream


def test_weights_are_those_of_fastcb_for_any_losses() -> None:
    rng = stream(1)
    for _ in range(100):
        losses, gamma = rng.random(5), float(rng.gamma(1.0) * 10)
        best = (losses == losses.min()).astype(float)
        found = by_inverse_gaps(1.0 - losses, best, gamma, float(losses.min()))
        np.testing.assert_allclose(found, literal(losses, gamma))
        assert found.min() >= 0.0


def test_an_arm_that_is_expected_to_lose_nothing_is_pulled_and_no_other() -> None:
    values, best = np.array([0.4, 1.0, 0.9]), np.array([0.0, 1.0, 0.0])
    np.testing.assert_array_equal(by_inverse_gaps(values, best, 7.0, 0.0), [0.0, 1.0, 0.0])


@pytest.mark.parametrize("gamma", [0.0, 3.0])
def test_with_a_loss_of_one_weights_are_those_of_squarecb(gamma: float) -> None:
    values, best = np.array([0.5, 0.5, 0.1]), np.array([0.5, 0.5, 0.0])
    last = 1.0 / (3.0 + gamma * 0.4)
    rest = (1.0 - last) / 2
    np.testing.assert_allclose(by_inverse_gaps(values, best, gamma, 1.0), [rest, rest, last])
