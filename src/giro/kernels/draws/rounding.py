"""Rewards in [0, 1] made 0 or 1 for policies that know only those."""

import numpy as np

from giro.compiling import kernel


@kernel
def bernoulli_rounded(reward: float, rng: np.random.Generator) -> float:
    """Return 1 with probability `reward`, else 0; a reward of 0 or 1 stays, and draws nothing.

    Its mean stays the same. Agrawal and Goyal (2013) round like this for Thompson sampling, Kveton
    et al. (2019), Section 6.1, for KL-UCB as well.
    """
    if 0.0 < reward < 1.0:
        return 1.0 if rng.random() < reward else 0.0
    return reward
