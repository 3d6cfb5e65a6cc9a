"""Values and names in errors are cut off where they are long."""

from giro.features.messages import hint, listed, short, short_name


def test_long_values_and_names_are_cut_off() -> None:
    assert short("a") == "'a'"
    assert len(short("x" * 10_000)) < 100
    assert len(short(list(range(10_000)))) < 100
    assert short(10**200) == short(-(10**200)) == "one of more than 150 digits"
    assert short_name("x" * 500) == "x" * 80
    assert short_name(7) == "7"


def test_names_are_listed_as_far_as_they_fit() -> None:
    assert listed([]) == "none"
    assert listed(["age", "town"]) == "age, town"
    many = listed(f"feature{i}" for i in range(2_000))
    assert many.startswith("feature0, feature1, ")
    assert many.endswith(" more")
    n_shown = many.count("feature")
    assert f"{2_000 - n_shown:,} more" in many
    assert len(many) < 120


def test_the_nearest_name_is_offered_if_there_is_one() -> None:
    assert hint("contry", ["country", "age"]) == "; did you mean 'country'?"
    assert hint("zzz", ["country", "age"]) == ""
    assert hint(3, []) == ""
