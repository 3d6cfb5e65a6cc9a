"""How many ones a sample without replacement holds."""

import math

import numpy as np

from giro.kernel import kernel

_SMALL = 128
_LOG_FACTORIALS = np.array([math.lgamma(k + 1.0) for k in range(_SMALL)])
_HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)


@kernel
def hypergeometric(ones: int, zeros: int, sample: int, rng: np.random.Generator) -> int:
    """Return the number of ones among `sample` of these entries, drawn without replacement.

    Inversion of one uniform number, outward from the most likely count, so the number of steps is
    of the order of the standard deviation. The probabilities carry the rounding error of log n!,
    below 1e-9 up to a million entries.
    """
    if ones == 0 or zeros == 0:
        return min(ones, sample)
    mode = (sample + 1) * (ones + 1) // (ones + zeros + 2)
    low = high = mode
    p_low = p_high = hypergeometric_pmf(mode, ones, zeros, sample)
    rest = rng.random() - p_low
    if rest < 0.0:
        return mode
    while p_low + p_high > 0.0:
        high += 1
        p_high *= (ones - high + 1) * (sample - high + 1) / (high * (zeros - sample + high))
        rest -= p_high
        if rest < 0.0:
            return high
        p_low *= low * (zeros - sample + low) / ((ones - low + 1) * (sample - low + 1))
        low -= 1
        rest -= p_low
        if rest < 0.0:
            return low
    return mode  # the probabilities fell short of one by a rounding error


@kernel
def hypergeometric_pmf(k: int, ones: int, zeros: int, sample: int) -> float:
    """Return the probability of k ones in the sample, for a possible k."""
    ways = _log_choose(ones, k) + _log_choose(zeros, sample - k)
    return math.exp(ways - _log_choose(ones + zeros, sample))


@kernel
def _log_choose(n: int, k: int) -> float:
    return _log_factorial(n) - _log_factorial(k) - _log_factorial(n - k)


@kernel
def _log_factorial(k: int) -> float:
    """Return log k!, from a table or by Stirling's series, exact to rounding from 128 on."""
    if k < _SMALL:
        return float(_LOG_FACTORIALS[k])
    series = (1.0 / 12.0 - 1.0 / (360.0 * k * k)) / k
    return (k + 0.5) * math.log(k) - k + _HALF_LOG_2_PI + series
