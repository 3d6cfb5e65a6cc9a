"""Giro ensemble: the law of its replicas, and its text."""

import numpy as np
import pytest
from laws import assert_same_law
from live_kernels import taught

from giro import BadParameter, Policy
from giro.model import value
from giro.offer import NO_CONTEXT, Case, Shape
from giro.policies.giro_ensemble import GiroEnsemble
from giro.policy import start
from giro.seeds import stream


def test_replicas_differ_as_bootstrap_means_do(seed: int) -> None:
    """Without contexts a replica's value is Σ of Poisson weights; its law is known exactly."""
    policy = GiroEnsemble(a=1.0, replicas=20_000)
    rng = stream(seed)
    state = start(policy, Shape(1, 0, 0, 1, 1), rng)
    taught(state, Case(NO_CONTEXT, NO_CONTEXT), 0, 1.0, rng)
    ours = np.array([value(state.model, i, np.ones(1)) for i in range(20_000)])
    ones = stream(seed, 9).poisson(2.0, 20_000)
    zeros = stream(seed, 10).poisson(1.0, 20_000)
    assert_same_law(ours.round(9), (ones / (ones + zeros + 1.0)).round(9))


def test_the_text_puts_a_first() -> None:
    assert GiroEnsemble().text.startswith("giro-ensemble:a=")
    assert Policy.parse("giro-ensemble:a=1/3,model=linear,replicas=5").text == (
        "giro-ensemble:a=1/3,model=linear,replicas=5"
    )


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(BadParameter, match="giro-ensemble needs a finite a >= 0"):
        GiroEnsemble(a=-1.0)
    with pytest.raises(BadParameter):
        Policy.parse("giro-ensemble:spread=2")
