"""Arms drawn from known probabilities, with a floor and a baseline mixed in."""

import numpy as np
import pytest

from giro.kernels.draws.mixed import NOT_ONE, mix_and_draw, mixed_draw

POINTS = (np.arange(10_000) + 0.5) / 10_000


@pytest.mark.parametrize(
    ("floor", "share", "baseline", "expected"),
    [
        (0.0, 1.0, 0, [0.5, 0.3, 0.0, 0.2]),
        (0.2, 1.0, 0, [0.45, 0.29, 0.05, 0.21]),
        (0.0, 0.5, 2, [0.25, 0.15, 0.5, 0.1]),
        (0.2, 0.5, 2, [0.225, 0.145, 0.525, 0.105]),
    ],
)
def test_an_arm_is_drawn_as_often_as_its_probability_says(
    floor: float, share: float, baseline: int, expected: list[float]
) -> None:
    policy = np.array([0.5, 0.3, 0.0, 0.2])
    drawn = [mixed_draw(policy, floor, share, baseline, point) for point in POINTS]
    counts = np.bincount([each.position for each in drawn], minlength=4)
    assert np.abs(counts / POINTS.size - expected).max() < 2e-4
    own = (1.0 - floor) * policy + floor / 4
    for each in drawn[::500]:
        np.testing.assert_allclose(each.propensities, expected, rtol=1e-12)
        assert each.own == pytest.approx(own[each.position])


def test_probabilities_are_made_to_add_up_to_one() -> None:
    assert mixed_draw(np.array([0.5, 0.4]), 0.0, 1.0, 0, 0.5).propensities.sum() == 1.0


def test_an_arm_without_a_chance_is_never_drawn() -> None:
    for point in (0.0, 0.5, 1.0 - 2.0**-53):
        assert mixed_draw(np.array([0.0, 1.0, 0.0]), 0.0, 1.0, 0, point).position == 1
    thirds = np.array([1 / 3, 1 / 3, 1 / 3, 0.0])  # rounding may leave a little
    assert mixed_draw(thirds, 0.0, 1.0, 0, 1.0).position == 2


@pytest.mark.parametrize("policy", [[0.0, 0.0], [np.nan, 0.5], [0.2, 0.3]])
def test_what_does_not_add_up_is_not_drawn_from(policy: list[float]) -> None:
    position, total = mix_and_draw(np.array(policy), 0.0, 1.0, 0, 0.5, np.empty(2))
    assert position == NOT_ONE
    assert not total > 0.5


def test_nothing_is_drawn_without_a_baseline() -> None:
    chances = np.empty(2)
    assert mix_and_draw(np.array([0.3, 0.7]), 0.0, 1.0, -1, 0.5, chances) == (0, 0.0)
    assert chances.tolist() == [0.3, 0.7]
