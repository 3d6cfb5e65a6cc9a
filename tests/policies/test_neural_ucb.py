"""NeuralUCB pulls the arm with the highest bound."""

import numpy as np
from live_kernels import law_of
from policies.in_context import chosen, informed, some_past

from giro.offer import offer_of
from giro.policies._neural import predictions_and_widths
from giro.policies.neural_ucb import NeuralUcb


def test_the_arm_with_the_highest_bound_is_pulled(seed: int) -> None:
    past = some_past(rounds=60, d=3, n_arms=4, seed=seed)
    state = informed(NeuralUcb(2.0, hidden=4), past)
    for x in past.contexts[:10]:
        offer = offer_of(4, x)
        predictions, widths = predictions_and_widths(state, offer)
        best = np.argmax(predictions + widths)
        assert chosen(state, offer, draws=3, seed=seed).tolist() == [best] * 3
        assert law_of(state, offer)[best] == 1.0


def test_an_arm_that_is_little_known_is_pulled_if_nu_is_large(seed: int) -> None:
    past = some_past(rounds=90, d=3, n_arms=3, seed=seed, tried=2)
    x = past.contexts[0]
    arms = chosen(informed(NeuralUcb(100.0), past), offer_of(3, x), draws=1, seed=seed)
    assert arms.tolist() == [2]
