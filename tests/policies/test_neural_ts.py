"""NeuralTS draws around predictions, with the widths as deviations."""

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from live_kernels import law_of
from policies.in_context import chosen, informed, some_past

from giro.offer import offer_of
from giro.policies._neural import predictions_and_widths
from giro.policies.neural_ts import NeuralTs
from giro.seeds import stream

DRAWS = 20_000


@pytest.mark.parametrize("nu", [0.3, 3.0])
def test_arms_are_pulled_as_often_as_normal_draws_are_highest(nu: float, seed: int) -> None:
    past = some_past(rounds=60, d=3, n_arms=4, seed=seed)
    state, offer = informed(NeuralTs(nu, hidden=4), past), offer_of(4, past.contexts[1])
    draws = stream(seed, 7).normal(*predictions_and_widths(state, offer), size=(DRAWS, 4))
    literal = np.bincount(draws.argmax(axis=1), minlength=4)
    arms = chosen(state, offer, draws=DRAWS, seed=seed)
    assert p_value_of_same_counts(np.bincount(arms, minlength=4), literal) > 1e-6
    assert_follows(arms, law_of(state, offer))


def test_a_wrong_nu_is_noticed(seed: int) -> None:
    past = some_past(rounds=60, d=3, n_arms=4, seed=0)
    offer = offer_of(4, past.contexts[1])
    arms = chosen(informed(NeuralTs(1.0), past), offer, draws=DRAWS, seed=seed)
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(arms, law_of(informed(NeuralTs(0.5), past), offer))
