"""How many ones a sample without replacement holds."""

import numpy as np
import pytest
from laws import assert_follows
from scipy import stats

from giro.kernel import kernel
from giro.kernels.hypergeometric import hypergeometric, hypergeometric_pmf
from giro.seeds import stream


@kernel
def _fill(out: np.ndarray, ones: int, zeros: int, sample: int, rng: np.random.Generator) -> None:
    for i in range(out.size):
        out[i] = hypergeometric(ones, zeros, sample, rng)


def draws(ones: int, zeros: int, sample: int, seed: int) -> np.ndarray:
    out = np.empty(100_000, np.int64)
    _fill(out, ones, zeros, sample, stream(seed, ones, zeros, sample))
    return out


CASES = [(1, 1, 1), (3, 4, 5), (10, 2, 6), (1, 500, 30), (400, 300, 350), (4_000, 5_000, 120)]


@pytest.mark.parametrize(("ones", "zeros", "sample"), CASES)
def test_the_number_of_ones_is_hypergeometric(
    ones: int, zeros: int, sample: int, seed: int
) -> None:
    law = stats.hypergeom(ones + zeros, ones, sample)
    assert_follows(draws(ones, zeros, sample, seed), law.pmf(np.arange(min(sample, ones) + 1)))


def test_a_sample_with_replacement_is_told_apart(seed: int) -> None:
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(draws(300, 300, 60, seed), stats.binom.pmf(np.arange(61), 60, 0.5))


@pytest.mark.parametrize(("ones", "zeros", "sample"), [*CASES, (600_000, 400_000, 300_000)])
def test_the_probabilities_are_right_to_nine_digits(ones: int, zeros: int, sample: int) -> None:
    law = stats.hypergeom(ones + zeros, ones, sample)
    middle = sample * ones // (ones + zeros)
    for k in {max(0, sample - zeros), middle, min(sample, ones), min(sample, ones, middle + 2)}:
        if law.pmf(k) > 1e-200:
            ours = hypergeometric_pmf(k, ones, zeros, sample)
            assert ours == pytest.approx(law.pmf(k), rel=1e-8)


@pytest.mark.parametrize(
    ("ones", "zeros", "sample", "found"),
    [(0, 5, 3, 0), (5, 0, 3, 3), (3, 4, 7, 3), (3, 4, 0, 0), (1, 0, 1, 1)],
)
def test_a_certain_count_is_certain(
    ones: int, zeros: int, sample: int, found: int, seed: int
) -> None:
    assert {hypergeometric(ones, zeros, sample, stream(seed, i)) for i in range(50)} == {found}


def test_every_uniform_number_gives_a_possible_count() -> None:
    class AlmostOne:
        def random(self) -> float:
            return 1 - 2**-53

    for ones, zeros, sample in CASES:
        count = hypergeometric.py_func(ones, zeros, sample, AlmostOne())
        assert max(0, sample - zeros) <= count <= min(sample, ones)
