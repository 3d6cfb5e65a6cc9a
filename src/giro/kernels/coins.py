"""Many fair coins from one random number."""

import numpy as np

from giro.kernel import kernel

COINS = 53  # random bits in a uniform number of double precision


@kernel
def coins(rng: np.random.Generator) -> int:
    """Return `COINS` independent fair coins as the bits of an integer."""
    return int(rng.random() * 2.0**COINS)
