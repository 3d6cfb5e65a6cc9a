"""Uniform draws: whole numbers, coins, orders, and numbers from an interval."""

from typing import Final

import numpy as np

from giro.compiling import borrowed, inline_kernel, kernel

COINS = 53  # random bits in a uniform number of double precision
_WORD = 1 << 32
_LARGEST = 1 << 31  # below this, the product with a word has less than 63 bits


@kernel
def bernoulli_rounded(reward: float, rng: np.random.Generator) -> float:
    """Return 1 with probability `reward`, otherwise 0, without a draw if the reward is 0 or 1.

    The mean stays the same. Agrawal and Goyal (2013) round like this for Thompson sampling, Kveton
    et al. (2019), Section 6.1, for KL-UCB as well.
    """
    if 0.0 < reward < 1.0:
        return 1.0 if rng.random() < reward else 0.0
    return reward


@inline_kernel
def coins(rng: np.random.Generator) -> int:
    """Return `COINS` independent fair coins as the bits of an integer."""
    return int(rng.random() * 2.0**COINS)


@inline_kernel
def integer_below(n: int, rng: np.random.Generator) -> int:
    """Return one of 0, ..., n - 1, each with exactly the same probability, for 0 < n < 2^53.

    The 32 bits of a word w pick n w among n 2^32 numbers, which lies in block n w // 2^32 of n
    blocks of length 2^32. Some blocks are hit once more than others. Their first hit is drawn again
    (Lemire, 2019, Algorithm 5).
    """
    rng = borrowed(rng)
    if n > _LARGEST:
        return _large_integer_below(n, rng)
    product = int(rng.random() * _WORD) * n
    while product & (_WORD - 1) < n:  # once in 2^32 / n draws, so the remainder is rarely computed
        if product & (_WORD - 1) >= _WORD % n:
            break
        product = int(rng.random() * _WORD) * n
    return product >> 32


@kernel
def _large_integer_below(n: int, rng: np.random.Generator) -> int:
    """Return the remainder by n of 53 random bits, given that they are below a multiple of n."""
    rng = borrowed(rng)
    bits = coins(rng)
    while bits - bits % n > (1 << COINS) - n:
        bits = coins(rng)
    return bits % n


@kernel
def integers_below(n: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return an array of draws of `integer_below`."""
    out = np.empty(size, np.int64)
    for i in range(size):
        out[i] = integer_below(n, rng)
    return out


@kernel
def shuffle(values: np.ndarray, rng: np.random.Generator) -> None:
    """Put the values into uniformly random order (Fisher and Yates)."""
    rng = borrowed(rng)
    for i in range(values.size - 1, 0, -1):
        j = integer_below(i + 1, rng)
        values[i], values[j] = values[j], values[i]


@kernel
def shuffled(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return 0, ..., n - 1 in uniformly random order."""
    order = np.arange(n)
    shuffle(order, rng)
    return order


def uniforms(
    low: float, high: float, shape: int | tuple[int, ...], rng: np.random.Generator
) -> np.ndarray:
    """Return an array of numbers from [low, high)."""
    return low + (high - low) * rng.random(shape)


# -- numbered streams ------------------------------------------------------------------------------

_LOW: Final = np.uint64(0xFFFFFFFF)
_HALF: Final = np.uint64(32)
_FIRST_FACTOR: Final = np.uint64(0xD2E7470EE14C6C93)
_SECOND_FACTOR: Final = np.uint64(0xCA5A826395121157)
_FIRST_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_SECOND_STEP: Final = np.uint64(0xBB67AE8584CAA73B)


@kernel
def first_uniform(key: np.ndarray, number: int) -> float:
    """Return the first uniform number of a stream of `seeds.NumberedStreams` with this key.

    Ten rounds of Philox 4x64 (Salmon et al., 2011) on the counter that the stream begins with: the
    generator gives the same, but going there takes it 2 µs.
    """
    a, b, c, d = np.uint64(1), np.uint64(0), np.uint64(0), np.uint64(number)
    k, m = key[0], key[1]
    for _ in range(10):
        high, low = _product(_FIRST_FACTOR, a)
        upper, lower = _product(_SECOND_FACTOR, c)
        a, b, c, d = upper ^ b ^ k, lower, high ^ d ^ m, low
        k, m = k + _FIRST_STEP, m + _SECOND_STEP
    return float(a >> np.uint64(11)) * 2.0**-53


@inline_kernel
def _product(left: np.uint64, right: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the upper and the lower 64 bits of a product."""
    a, b = left >> _HALF, left & _LOW
    c, d = right >> _HALF, right & _LOW
    middle = (b * d >> _HALF) + (a * d & _LOW) + (b * c & _LOW)
    return a * c + (a * d >> _HALF) + (b * c >> _HALF) + (middle >> _HALF), left * right
