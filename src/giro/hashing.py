"""Features by name: the numbers that stand for names and words, and how numbers are mixed.

A feature of a sparse row (`giro.offer.SparseRow`) has a *code*. Its lowest 31 bits say which
feature it is: a column's number, or a hash of its name (and, of a word, of the word). Bit 31 marks
a number that is still to be standardised. The bits above tell with which features of the other side
it is multiplied: with those that have one of them in common, and with all if it has none.

Keys and their mixtures stay below 2^31 and products below 2^63, so that Python and compiled code
agree without an overflow.
"""

import functools
import hashlib
from typing import TYPE_CHECKING, Final

from giro.compiling import inline_kernel

if TYPE_CHECKING:
    import numpy as np

KEYS: Final = 2**31
IS_NUMBER: Final = 2**31
_FIRST_CROSS: Final = 32
MOST_CROSSES: Final = 19  # and two bits for features of either side that are multiplied by none
OF_ROUND, OF_ARM, OF_CONSTANT = 0x2545F491, 0x1B873593, 0x68E31DA4  # sides have different keys
_NO_CODE: Final = 1 << (_FIRST_CROSS + MOST_CROSSES + 2)
_FACTOR: Final = 0x45D9F3B
_SPREAD: Final = 0x3C6EF373


@inline_kernel
def mixed(key: int) -> int:
    """Return a number below 2^31 that looks random, a different one for each below 2^31."""
    key = ((key >> 16) ^ key) * _FACTOR & (KEYS - 1)
    key = ((key >> 15) ^ key) * _FACTOR & (KEYS - 1)
    return (key >> 16) ^ key


@inline_kernel
def key_of(code: int, side: int) -> int:
    """Return the key of a feature of the round or of an arm."""
    return mixed((code & (KEYS - 1)) ^ side)


@inline_kernel
def product_key(left: int, right: int) -> int:
    """Return the key of the product of two features, given their keys in order.

    Keys are mixed already: once more is enough for the highest bits of both to reach the lowest.
    """
    key = (left * _SPREAD + right) & (KEYS - 1)
    key = ((key >> 15) ^ key) * _FACTOR & (KEYS - 1)
    return (key >> 13) ^ key


@inline_kernel
def is_crossed(left: int, right: int) -> bool:
    """Return whether features with these codes are multiplied."""
    one, other = left >> _FIRST_CROSS, right >> _FIRST_CROSS
    return one == 0 or other == 0 or (one & other) != 0


@functools.lru_cache(maxsize=65_536)
def code_of(name: str, word: str | None = None) -> int:
    """Return the code of a number called `name`, or of a word there, the same on every machine."""
    text = name if word is None else f"{name}\0{word}"
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    key = int.from_bytes(digest, "big") % KEYS
    return key + IS_NUMBER if word is None else key


def crossed_by(code: int, interactions: int) -> int:
    """Return the code of a feature that takes part in these interactions, one bit each."""
    return code + (interactions << _FIRST_CROSS)


def are_codes(codes: "np.ndarray") -> bool:
    """Return whether these can be codes of features."""
    return bool(((codes >= 0) & (codes < _NO_CODE)).all())
