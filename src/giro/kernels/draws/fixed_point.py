"""Logarithms in whole numbers, the same on every machine, for tables computed at import.

A machine's own log and exp may differ from another's in the last digit.
"""

from fractions import Fraction

UNIT = 1 << 100


def fixed(number: str) -> int:
    """Return a decimal number in units of 1 / UNIT.

    >>> fixed("0.5") == UNIT // 2
    True
    """
    return int(Fraction(number) * UNIT)


def log1p(t: int) -> int:
    """Return log(1 + t) = 2 artanh(t / (2 + t)), t >= 0, both in units of 1 / UNIT.

    >>> log1p(UNIT) / UNIT
    0.6931471805599453
    """
    z = t * UNIT // (2 * UNIT + t)
    square = z * z // UNIT
    total, power, k = 0, z, 1
    while power:
        total += power // k
        power = power * square // UNIT
        k += 2
    return 2 * total
