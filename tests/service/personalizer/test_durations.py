"""Durations in both forms."""

import pytest

from giro.service.personalizer.durations import iso_duration, net_duration, seconds_in


@pytest.mark.parametrize("seconds", [0.0, 5.0, 600.0, 3600.0, 86400.0, 172_805.0, 93_784.0])
def test_what_is_written_is_read_again(seconds: float) -> None:
    assert seconds_in(net_duration(seconds)) == seconds_in(iso_duration(seconds)) == seconds


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "10", "1:2", "PT10", "-PT1S", "PT1H2"])
def test_other_texts_are_no_durations(text: str) -> None:
    assert seconds_in(text) is None


def test_fractions_of_seconds_are_read() -> None:
    assert seconds_in("00:00:05.5000000") == seconds_in("PT5.5S") == 5.5
