"""SquareCB: probabilities by inverse gaps."""

import numpy as np
import pytest
from live_kernels import live_of
from policies.with_features import SHAPE, an_offer, informed

from giro import BadParameter, Policy
from giro.policies._arm_models import expected


def test_squarecb_weighs_by_inverse_gaps() -> None:
    live, offer = informed("squarecb:gamma=5,model=[hashed:bits=12]"), an_offer(2)
    values = expected(live.state.models, offer, 1.0)
    gamma, best = 5.0 * 41**0.5, int(np.argmax(values))
    wanted = 1.0 / (3 + gamma * (values.max() - values))
    wanted[best] = 0.0
    wanted[best] = 1.0 - wanted.sum()
    law = live.propensities(offer)
    assert law is not None
    np.testing.assert_allclose(law, wanted)


def test_squarecb_shares_what_remains_among_the_best() -> None:
    live = live_of(Policy.parse("squarecb"), SHAPE, seed=0)
    law = live.propensities(an_offer())
    assert law is not None
    np.testing.assert_allclose(law, [1 / 3] * 3)


@pytest.mark.parametrize("text", ["squarecb:gamma=-1", "squarecb:exponent=2"])
def test_bad_parameters_are_refused(text: str) -> None:
    with pytest.raises(BadParameter):
        Policy.parse(text)
