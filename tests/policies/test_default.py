"""The default: which policy it is, and where."""

import pytest
from policies.choosing import shape_for

from giro import Policy
from giro.offer import Shape
from giro.policies.default import Default
from giro.policy import functions_for


def test_without_contexts_it_is_giro_and_otherwise_rand_ucb_around_several_models() -> None:
    assert Default().resolved(contextual=False).text == Policy.parse("giro").text
    assert Default().resolved(contextual=True).text == Policy.parse("rand-ucb:model=auto").text


def test_its_memory_is_that_of_both_and_a_window_for_giro_instead_of_a_half_life() -> None:
    with_window, with_half_life = Default(window=50), Default(half_life=500)
    assert with_window.resolved(contextual=False) == Policy.parse("giro:window=50")
    assert with_window.resolved(contextual=True) == Policy.parse("rand-ucb:model=auto,window=50")
    assert with_half_life.resolved(contextual=False) == Policy.parse("giro:window=721")
    contextual = Policy.parse("rand-ucb:model=auto,half_life=500")
    assert with_half_life.resolved(contextual=True) == contextual


@pytest.mark.parametrize(
    ("shape", "played"),
    [
        (shape_for(3, 10), "giro"),
        (Shape(3, 2, 0, 10, 10), "rand-ucb:model=auto"),
        (Shape(3, 0, 2, 10, 10), "rand-ucb:model=auto"),
    ],
)
def test_its_functions_are_those_for_the_shape_of_a_state(shape: Shape, played: str) -> None:
    assert functions_for(Default(), shape) == functions_for(Policy.parse(played), shape)
    with pytest.raises(NotImplementedError, match="use `functions_for`"):
        Default().functions()


@pytest.mark.parametrize("binary", [True, False])
def test_its_probabilities_are_known_only_where_both_know_theirs(binary: bool) -> None:
    both = [Default().resolved(contextual=contextual) for contextual in (True, False)]
    known = all(each.has_propensities(binary=binary, shared=False) for each in both)
    assert Default().has_propensities(binary=binary, shared=False) is known
