"""Tables of means that an experiment leaves behind."""

import pytest
from simulation.traces import small_trace

from giro.cli.simulate import result_record
from giro.simulation.metrics import curve_records, final_record

MARGIN = 12.706204736432095  # half the 95 % interval of two values with standard error 1


def test_a_final_record_has_regret_and_reward_with_their_uncertainty() -> None:
    final = final_record(small_trace([[1, 2], [3, 6]]))
    assert (final["regret"], final["regret_se"]) == (4.0, 2.0)
    assert final["regret_high"] == pytest.approx(4.0 + 2 * MARGIN)
    assert (final["reward"], final["reward_se"]) == (0.5, 0.0)


def test_the_records_of_the_command_line_are_the_same_and_what_made_them() -> None:
    trace = small_trace()
    added = {"seconds": 1.0, "version": trace.setting.version}
    assert result_record(trace) == final_record(trace) | added


def test_curves_have_a_record_for_each_checkpoint() -> None:
    first, last = curve_records(small_trace([[1, 2], [3, 6]]))
    assert (first["round"], last["round"]) == (18, 20)
    assert (first["regret"], last["regret"]) == (2.0, 4.0)
    assert (last["regret_low"], last["regret_high"]) == pytest.approx(
        (4 - 2 * MARGIN, 4 + 2 * MARGIN)
    )
    assert [first[key] for key in ("reward", "reward_low", "reward_high")] == [0.5, 0.5, 0.5]
