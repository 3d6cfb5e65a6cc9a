"""After which rounds curves are noted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from giro import BadParameter
from giro.simulation.trace import Spacing, before_last_tenth, checkpoints


@settings(deadline=None)
@given(
    rounds=st.integers(1, 10**7),
    points=st.integers(1, 300),
    spacing=st.sampled_from(["even", "log"]),
)
def test_checkpoints_ascend_to_the_last_round_and_mark_the_last_tenth(
    rounds: int, points: int, spacing: Spacing
) -> None:
    marks = checkpoints(rounds, points=points, spacing=spacing)
    assert marks[0] >= 1
    assert np.all(np.diff(marks) > 0)
    assert marks[-1] == rounds
    assert before_last_tenth(rounds) in marks
    assert marks.size <= points + 2


def test_few_rounds_are_all_checkpoints() -> None:
    assert checkpoints(5, points=200).tolist() == [1, 2, 3, 4, 5]


def test_the_last_tenth_has_at_least_one_round() -> None:
    assert [before_last_tenth(rounds) for rounds in (1, 2, 5, 20, 1000)] == [1, 1, 4, 18, 900]


@pytest.mark.parametrize(
    ("rounds", "points", "spacing", "complaint"),
    [
        (0, 10, "even", "a whole number rounds >= 1, got rounds=0"),
        (-5, 10, "even", "a whole number rounds >= 1"),
        (10, 0, "even", "a whole number points >= 1, got points=0"),
        (10, 10, "odd", "even or log, got 'odd'"),
    ],
)
def test_what_makes_no_curve_is_refused(
    rounds: int, points: int, spacing: Spacing, complaint: str
) -> None:
    with pytest.raises(BadParameter, match=complaint):
        checkpoints(rounds, points=points, spacing=spacing)
