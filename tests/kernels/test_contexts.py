"""What stands for a context where there is none."""

import numpy as np

from giro.kernels.contexts import with_bias


def test_a_context_stands_for_itself() -> None:
    context = np.array([0.5, 1.0])
    assert with_bias(context, np.ones(1)).tolist() == [0.5, 1.0]


def test_no_context_is_the_constant_one() -> None:
    assert with_bias(np.empty(0), np.ones(1)).tolist() == [1.0]
