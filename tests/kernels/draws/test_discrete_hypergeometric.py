"""How many ones a sample without replacement holds."""

import numpy as np
import pytest
from kernels.draws.filled import Scripted, counted, plainly, uncompiled
from kernels.draws.judged import assert_law, assert_other_law
from laws import assert_follows
from scipy import stats

from giro.kernels.draws.discrete import hypergeometric

CASES = [
    (1, 1, 1),
    (3, 4, 5),
    (10, 2, 6),
    (1, 500, 30),
    (40, 30, 35),
    (30, 40, 15),
    (60, 25, 65),
    (400, 300, 350),
    (4_000, 5_000, 120),
    (900, 1_300, 2_000),
    (70_000, 30_000, 40_000),
    (10**8, 2 * 10**8, 10**7),
]


@pytest.mark.parametrize(("ones", "zeros", "sample"), CASES)
def test_the_number_of_ones_is_hypergeometric(
    ones: int, zeros: int, sample: int, seed: int
) -> None:
    draws = counted(hypergeometric, ones, zeros, sample, seed=seed)
    assert_law(draws, stats.hypergeom(ones + zeros, ones, sample))


@pytest.mark.parametrize(("ones", "zeros", "sample"), CASES[1:-1])
def test_one_entry_in_fifty_of_the_other_kind_fails(
    ones: int, zeros: int, sample: int, seed: int
) -> None:
    draws = counted(hypergeometric, ones, zeros, sample, seed=seed)
    more = max(1, ones // 50)
    assert_other_law(draws, stats.hypergeom(ones + zeros + more, ones + more, sample))


def test_a_sample_with_replacement_is_told_apart(seed: int) -> None:
    with pytest.raises(AssertionError, match="p ="):
        draws = counted(hypergeometric, 300, 300, 60, seed=seed)
        assert_follows(draws, stats.binom.pmf(np.arange(61), 60, 0.5))


@pytest.mark.parametrize(
    ("ones", "zeros", "sample", "found"),
    [
        (0, 5, 3, 0),
        (5, 0, 3, 3),
        (3, 4, 7, 3),
        (3, 4, 0, 0),
        (1, 0, 1, 1),
        (0, 0, 0, 0),
        (0, 500, 300, 0),
        (500, 0, 300, 300),
        (300, 400, 700, 300),
        (300, 400, 0, 0),
    ],
)
def test_a_certain_count_is_certain(
    ones: int, zeros: int, sample: int, found: int, seed: int
) -> None:
    assert set(counted(hypergeometric, ones, zeros, sample, seed=seed, size=50)) == {found}


@pytest.mark.parametrize(("ones", "zeros", "sample"), CASES[:6])
def test_every_uniform_number_gives_a_possible_count(ones: int, zeros: int, sample: int) -> None:
    for number in (0.0, 1 - 2**-53):
        script = Scripted(*[number] * 12)
        count = uncompiled(hypergeometric)(ones, zeros, sample, script)
        assert max(0, sample - zeros) <= count <= min(sample, ones)


@pytest.mark.parametrize(("ones", "zeros", "sample"), CASES)
def test_compiled_and_plain_draws_are_equal(ones: int, zeros: int, sample: int, seed: int) -> None:
    plain = plainly(hypergeometric, ones, zeros, sample, seed=seed, size=300)
    assert counted(hypergeometric, ones, zeros, sample, seed=seed, size=300).tolist() == plain
