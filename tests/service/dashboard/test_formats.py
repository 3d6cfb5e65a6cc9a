"""Numbers and times as pages show them."""

import math

from giro.service.dashboard.formats import (
    NOTHING,
    ago,
    count,
    decimals,
    duration,
    exact,
    machine,
    number,
    percent,
    signed,
)


def test_what_is_not_known_is_a_dash_everywhere() -> None:
    assert count(None) == number(None) == percent(None) == duration(None) == NOTHING
    for shown in (number, signed, percent, duration):
        assert shown(math.nan) == shown(math.inf) == NOTHING


def test_numbers_beside_narrow_intervals_have_more_decimals() -> None:
    assert [decimals([10.0**-n]) for n in range(-3, 5)] == [0, 0, 0, 1, 2, 3, 4, 5]
    assert decimals([1e-12]) == 6
    assert decimals([math.inf, math.nan, 0.0, None]) == 3


def test_a_length_of_time_is_told_in_its_largest_unit() -> None:
    lengths = [0.25, 1.0, 59.0, 60.0, 3600.0, 86_400.0, 172_800.0, 1e8]
    told = [duration(seconds) for seconds in lengths]
    assert told == ["250 ms", "1 s", "59 s", "1 min", "1 h", "1 day", "2 days", "1,157 days"]


def test_times_before_and_after_now_are_told_apart() -> None:
    assert ago(100.0, 220.0) == "2 min ago"
    assert ago(220.0, 100.0) == "in 2 min"
    assert ago(100.5, 100.0) == "just now"


def test_a_time_that_no_calendar_has_is_shown_all_the_same() -> None:
    assert exact(86_400.0) == "1970-01-02 00:00:00 UTC"
    assert machine(86_400.0).startswith("1970-01-02T00:00:00")
    assert "1970" in exact(1e300)
    assert machine(1e300) == ""


def test_a_minus_is_a_minus_sign() -> None:
    assert number(-1.5, 1) == "−1.5"
    assert signed(-1.5, 1) == "−1.5"
    assert signed(1.5, 1) == "+1.5"
