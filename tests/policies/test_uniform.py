"""Uniform."""

import numpy as np
import pytest
from laws import assert_follows
from policies.choosing import choice_counts

from giro.policies.uniform import Uniform


def test_every_arm_is_pulled_equally_often_whatever_its_rewards(seed: int) -> None:
    counts = choice_counts(Uniform(), [[1, 1], [0], []], draws=50_000, seed=seed)
    arms = np.repeat(np.arange(3), counts)
    assert_follows(arms, [1 / 3] * 3)
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(arms, [0.35, 0.325, 0.325])
