"""Poisson bootstrap: replicas take each reward a Poisson number of times, and nothing else."""

import numpy as np
import pytest
from laws import assert_follows
from policies.choosing import informed
from scipy import stats

from giro import BadParameter
from giro.policies.poisson_bootstrap import PoissonBootstrap
from giro.seeds import stream


def test_after_one_reward_a_replica_has_taken_it_a_poisson_number_of_times(seed: int) -> None:
    state = informed(PoissonBootstrap(replicas=3_000), [[1.0]], stream(seed))
    taken = (state.model.factor.ravel() ** 2 - 1.0).round().astype(int)  # beside the penalty
    assert state.model.moment.ravel().tolist() == taken.tolist()  # there are no pseudo rewards
    law = stats.poisson.pmf(np.arange(6), 1.0)
    law[5] = stats.poisson.sf(4, 1.0)
    assert_follows(np.minimum(taken, 5), law)


def test_growth_is_one_or_more() -> None:
    with pytest.raises(BadParameter, match="needs a finite growth >= 1"):
        PoissonBootstrap(growth=0.5)
