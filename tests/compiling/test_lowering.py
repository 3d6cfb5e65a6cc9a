"""Arguments that are neither counted nor copied: the same numbers, and nothing lost or freed."""

import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from giro.compiling import borrowed, in_python, kernel, plain, unrolled


class Inner(NamedTuple):
    numbers: np.ndarray
    even: bool
    scale: float


class Outer(NamedTuple):
    first: Inner
    members: Any  # a tuple of different types
    count: int  # type: ignore[assignment]  # as a method of tuples
    none: Any = ()


def state(n: int = 4) -> Outer:
    first = Inner(np.arange(float(n)), n % 2 == 0, 0.5)
    return Outer(first, (Inner(np.ones(n), True, 2.0), np.arange(n)), n)


@kernel
def scaled(inner: Inner) -> float:
    return inner.numbers.sum() * inner.scale + (1.0 if inner.even else 0.0)


@kernel
def of_members(outer: Outer) -> float:
    first, second = outer.members
    return scaled(first) + second[1] + scaled(outer.first)


@kernel
def in_a_loop(outer: Outer, turns: int) -> float:
    total, inner = 0.0, outer.first
    while turns > 0:
        if turns % 2 == 0:
            inner = outer.members[0]
        else:
            inner = Inner(outer.first.numbers[1:], False, 3.0)
        total += scaled(inner)
        turns -= 1
    return total


@kernel
def rebuilt(outer: Outer) -> Outer:
    return Outer(outer.first, outer.members, outer.count + 1, outer.none)


@kernel
def part(outer: Outer) -> np.ndarray:
    return outer.members[0].numbers


@kernel
def chosen(outer: Outer, second: bool) -> Any:
    return outer.members[0] if second else outer.first


@kernel
def lengths(outer: Outer) -> int:
    total = len(outer.members)
    for each in outer.first.numbers:
        total += int(each)
    return total


@kernel
def of_pair(pair: Any, i: int) -> float:
    return pair[i][0] + pair[0].size


GIVEN: list[tuple[Any, tuple[Any, ...]]] = [
    (scaled, (state().first,)),
    (of_members, (state(3),)),
    (in_a_loop, (state(5), 6)),
    (lengths, (state(6),)),
    (of_pair, ((np.ones(2), np.zeros(2)), 1)),
]


@pytest.mark.parametrize(
    ("function", "given"), GIVEN, ids=lambda each: getattr(each, "__name__", "")
)
def test_kernels_that_take_tuples_apart_are_as_in_python(function: Any, given: Any) -> None:
    @kernel
    def called(*given: Any) -> Any:
        return function(*given)

    assert function(*given) == plain(function)(*given)  # as Python calls it
    assert called(*given) == plain(function)(*given)  # as a kernel does


def test_whole_tuples_and_parts_of_them_come_back() -> None:
    given = state()
    again = rebuilt(given)
    assert again.count == given.count + 1
    np.testing.assert_array_equal(again.first.numbers, given.first.numbers)
    assert np.shares_memory(part(given), given.members[0].numbers)
    assert chosen(given, True).scale == 2.0
    assert chosen(given, False).scale == 0.5


@kernel
def fresh_in_a_tuple(outer: Outer) -> float:
    inner = Inner(outer.first.numbers * 2.0, outer.first.even, 1.0)
    return scaled(inner) + scaled(rebuilt(outer).first)


def test_references_are_given_back_and_nothing_is_freed_too_early() -> None:
    given = state(1000)
    arrays = [given.first.numbers, given.members[0].numbers, given.members[1]]
    expected = plain(fresh_in_a_tuple)(given)
    fresh_in_a_tuple(given), in_a_loop(given, 3), part(given), chosen(given, True)
    counts = [sys.getrefcount(array) for array in arrays]
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    for _ in range(100):
        assert fresh_in_a_tuple(given) == expected
        in_a_loop(given, 3), part(given), chosen(given, True), rebuilt(given)
    after = rtsys.get_allocation_stats()
    assert [sys.getrefcount(array) for array in arrays] == counts
    assert after.alloc - before.alloc == after.free - before.free


@kernel
def over_members(outer: Outer) -> float:
    total = 0.0
    for member in unrolled(outer.members):
        total += _size(member)
    return total


@kernel
def _size(member: Any) -> float:
    return float(len(member))


def test_a_loop_over_members_of_different_types_is_as_in_python() -> None:
    assert over_members(state(7)) == plain(over_members)(state(7)) == 10.0


def test_a_view_of_a_whole_state_can_be_taken_in_a_kernel() -> None:
    @kernel
    def viewed(outer: Outer) -> float:
        view = borrowed(outer)
        return of_members(view) + view.count

    assert viewed(state()) == plain(of_members)(state()) + 4
    assert in_python(Outer) is in_python(Outer)
