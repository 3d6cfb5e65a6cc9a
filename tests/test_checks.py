"""Numbers are checked in one place."""

import math
from typing import Any

import numpy as np
import pytest

from giro import BadParameter
from giro.checks import LEVEL, NOT_NEGATIVE, POSITIVE, SHARE, WORD, at_least, check, optional, whole


@pytest.mark.parametrize(
    ("needed", "right", "wrong"),
    [
        (POSITIVE, [1e-9, 3], [0.0, -1.0, math.inf, math.nan, "1", None, [1.0]]),
        (NOT_NEGATIVE, [0.0, 2], [-1e-9, math.inf, math.nan]),
        (at_least(1.0), [1.0, 9], [0.999, math.inf, math.nan]),
        (SHARE, [0, 0.5, 1.0], [-0.1, 1.1, math.nan]),
        (LEVEL, [0.05], [0.0, 1.0, math.nan]),
        (whole(1), [1, np.int64(7)], [0, 1.0, "1", True, None]),
        (WORD, ["a", "ä b"], ["", None, 1, "\ud800"]),
        (optional(whole(0)), [None, 0], [-1, 0.5]),
    ],
)
def test_what_is_not_as_needed_is_refused(needed: Any, right: list[Any], wrong: list[Any]) -> None:
    for value in right:
        check("a test", needed, n=value)
    for value in wrong:
        with pytest.raises(BadParameter, match=r"a test needs .*n.*, got n="):
            check("a test", needed, n=value)


def test_the_first_wrong_value_is_named() -> None:
    with pytest.raises(BadParameter, match=r"^giro needs a finite b > 0, got b=-1$"):
        check("giro", POSITIVE, a=1, b=-1, c=-2)
