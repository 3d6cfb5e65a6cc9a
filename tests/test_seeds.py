"""Where every generator comes from."""

import itertools

import pytest

from giro import BadParameter
from giro.seeds import stream


def numbers(seed: int, *path: int) -> tuple[int, ...]:
    return tuple(stream(seed, *path).integers(0, 2**63, 4).tolist())


def test_the_same_place_gives_the_same_numbers() -> None:
    assert numbers(5, 3, 1) == numbers(5, 3, 1)


def test_different_places_give_different_numbers() -> None:
    places = [(0,), (1,), (0, 0), (0, 1), (1, 0), (0, 0, 0), (0, 0, 1), (0, 1, 0), (2**40, 7)]
    drawn = [numbers(*place) for place in places]
    assert all(first != second for first, second in itertools.combinations(drawn, 2))


def test_the_bits_of_a_place_never_change() -> None:
    # NumPy keeps the bits of PCG64 the same for ever, though not what it makes of them
    bits = stream(7, 2, 1).bit_generator.random_raw(2)
    assert bits.tolist() == [8132563536383278697, 5179893004031522171]


@pytest.mark.parametrize("place", [(-1,), (0, -1), (3, 1, -2)])
def test_places_are_not_negative(place: tuple[int, ...]) -> None:
    with pytest.raises(BadParameter, match="integers >= 0"):
        stream(*place)
