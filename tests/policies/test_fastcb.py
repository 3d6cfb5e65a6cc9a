"""FastCB: probabilities by inverse gaps and the least expected loss."""

import numpy as np
import pytest
from live_kernels import live_of
from policies.inverse_gaps_twin import literal
from policies.with_features import SHAPE, an_offer, informed

from giro import BadParameter, Policy, simulate
from giro.policies._arm_models import expected


@pytest.mark.parametrize("model", ["online-logistic", "[hashed:bits=12]"])
def test_fastcb_weighs_by_inverse_gaps_and_the_least_loss(model: str) -> None:
    live, offer = informed(f"fastcb:gamma=5,model={model}"), an_offer(2)
    values = expected(live.state.models, offer, 1.0)
    law = live.propensities(offer)
    assert law is not None
    np.testing.assert_allclose(law, literal(1.0 - values, 5.0 * 41**0.5))


def test_untried_arms_share_the_first_round() -> None:
    live = live_of(Policy.parse("fastcb:model=[hashed:bits=10]"), SHAPE, seed=0)
    law = live.propensities(an_offer())
    assert law is not None
    np.testing.assert_allclose(law, [1 / 3] * 3)


def test_it_explores_less_than_squarecb_where_the_best_arm_hardly_loses(seed: int) -> None:
    policies = [f"{name}:gamma=10,model=online-logistic" for name in ("fastcb", "squarecb")]
    fast, square = (
        simulate(policy, "bernoulli:means=[0.99,0.5,0.5]", rounds=1000, runs=40, seed=seed)
        for policy in policies
    )
    fewer = square.regret[:, -1] - fast.regret[:, -1]
    assert fewer.mean() > 4 * fewer.std() / 40**0.5


@pytest.mark.parametrize("text", ["fastcb:gamma=-1", "fastcb:exponent=2"])
def test_bad_parameters_are_refused(text: str) -> None:
    with pytest.raises(BadParameter):
        Policy.parse(text)
