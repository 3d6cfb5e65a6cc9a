from ratio import Cost, Ratio, least, shown


def test_at_most_is_reached_from_below() -> None:
    assert Ratio.at_most("x", ours=3.0, theirs=2.0, bar=1.5, unit="s").reached
    more = Ratio.at_most("x", ours=3.1, theirs=2.0, bar=1.5, unit="s")
    assert (more.ratio, more.bar, more.verdict) == (1.55, "<= 1.5", "NOT reached")


def test_least_takes_processor_and_wall_time_apart() -> None:
    assert least([Cost(1.0, 4.0), Cost(2.0, 3.0)]) == Cost(1.0, 3.0)


def test_three_digits_are_shown() -> None:
    assert [shown(x) for x in (0.012345, 3.14159, 98765.0, 0.0)] == [
        "0.0123",
        "3.14",
        "98,765",
        "0",
    ]
