"""Where every generator comes from."""

import itertools

import numpy as np
import pytest
from laws import assert_follows_cdf

from giro import BadParameter
from giro.seeds import NumberedStreams, stream


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
    with pytest.raises(BadParameter, match=r"a stream (needs a|is) whole number"):
        stream(*place)


def test_truths_are_steps_of_a_path() -> None:
    assert stream(7, True).random() == stream(7, 1).random()


def test_numbered_streams_give_the_same_numbers_in_any_order_of_visits() -> None:
    streams = NumberedStreams(7, 1)
    forth = [streams.at(number).random(3).tolist() for number in range(5)]
    back = [streams.at(number).random(3).tolist() for number in range(4, -1, -1)]
    assert forth == back[::-1]
    assert forth == [NumberedStreams(7, 1).at(n).random(3).tolist() for n in range(5)]


def test_a_visit_forgets_what_was_half_drawn() -> None:
    streams = NumberedStreams(0)
    fresh = streams.at(2).integers(0, 2**31, 5, np.int32).tolist()
    streams.at(1).integers(0, 2**31, 3, np.int32)  # half of a 64-bit draw is kept for later
    assert streams.at(2).integers(0, 2**31, 5, np.int32).tolist() == fresh


def test_numbered_streams_do_not_overlap() -> None:
    streams, seen = NumberedStreams(3, 2), set()
    numbers = [*range(50), 2**32, 2**63, 2**64 - 1]
    for number in numbers:
        seen.update(streams.at(number).integers(0, 2**63, 200).tolist())
    assert len(seen) == 200 * len(numbers)
    other = NumberedStreams(3, 3).at(0).integers(0, 2**63, 200).tolist()
    assert not seen & set(other)


def test_numbered_streams_are_uniform_across_numbers(seed: int) -> None:
    streams = NumberedStreams(seed)
    assert_follows_cdf([streams.at(number).random() for number in range(5_000)], lambda u: u)


def test_the_bits_of_a_number_never_change() -> None:
    bits = NumberedStreams(7, 2).at(5).bit_generator.random_raw(2)
    assert bits.tolist() == [9956057102993867078, 12452086353828800116]


@pytest.mark.parametrize("place", [(-1,), (0, -1)])
def test_numbered_places_are_not_negative(place: tuple[int, ...]) -> None:
    with pytest.raises(BadParameter, match=r"a stream (needs a|is) whole number"):
        NumberedStreams(*place)
    with pytest.raises(BadParameter, match="numbered 0, 1, 2"):
        NumberedStreams(0).at(-1)
