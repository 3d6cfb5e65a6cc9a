"""From learning settings to policies."""

import pytest

from giro import GiroError
from giro.service.personalizer.learning import policy_of
from giro.service.personalizer.loop import Refusal


@pytest.mark.parametrize(
    "arguments", ["--cb_explore_adf --bag", "--cb_explore_adf --bag 0", "--cb_explore_adf --rnd 1"]
)
def test_options_that_giro_lacks_are_refused(arguments: str) -> None:
    with pytest.raises(Refusal) as refused:
        policy_of(arguments)
    assert refused.value.code == "InvalidPolicyConfiguration"


def test_a_text_of_no_policy_is_an_error() -> None:
    with pytest.raises(GiroError, match="ucb9"):
        policy_of("ucb9")


def test_bags_may_be_written_with_an_equals_sign() -> None:
    expected = "poisson-bootstrap:model=hashed,replicas=3"
    assert policy_of("--ccb_explore_adf --bag=3") == expected
