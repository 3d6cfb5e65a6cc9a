"""Every policy plays on every problem as it did, to the last bit: same arms, same curves.

In steps almost all pairs are judged in seconds. In the simulator's own loop, which is compiled for
each pair, some are; the whole product takes minutes, is slow, and is for `make test-versions`.
"""

from collections.abc import Callable

import pytest
from contract.steps import in_steps
from golden.pairs import FILE, hashes_of, made_with, pairs, written
from known import (
    in_loops,
    is_slow_in_loops,
    marks_of,
    one_for,
    policies,
    policies_with_models,
)

from giro import Policy, Problem

PAIRS, WRITTEN = pairs(), written()
WAY_OUT = "if that is meant: python tests/golden/write.py"

LOOPS = {f"{policy} on {problem}" for policy, problem in in_loops() if not is_slow_in_loops(policy)}
COMPILED_ANYWAY = {
    str(policy) for policy in (*policies(), *policies_with_models()) if not marks_of(policy)
}


def _is_quick(name: str) -> bool:
    """Tell whether other tests compile the same loop: of every policy, and on every problem."""
    policy, problem = PAIRS[name]
    return name in LOOPS or policy == one_for(problem)


def _is_quick_in_steps(name: str) -> bool:
    """Tell whether other tests compile the same kernels; rows to be classified need their own."""
    policy, problem = PAIRS[name]
    return str(policy) in COMPILED_ANYWAY and problem.name != "classification"


def _marked(quick: Callable[[str], bool]) -> list[object]:
    """Return the names of all pairs, those that are not quick marked as slow."""
    slow = pytest.mark.slow
    return [pytest.param(name, marks=() if quick(name) else slow, id=name) for name in PAIRS]


@pytest.mark.parametrize("name", _marked(_is_quick))
def test_a_pair_plays_as_it_did(name: str) -> None:
    judge(name, *PAIRS[name])


@pytest.mark.parametrize("name", _marked(_is_quick_in_steps))
def test_a_pair_plays_in_steps_as_it_did(name: str) -> None:
    policy, problem = PAIRS[name]
    judge(name, in_steps(policy), problem)


def judge(name: str, policy: Policy, problem: Problem) -> None:
    """Fail unless the policy plays on the problem as it is written under this name."""
    found = hashes_of(policy, problem)
    if name not in WRITTEN:
        pytest.fail(f"{name} is not in {FILE.name}; {WAY_OUT}")
    differ = [part for part, value in found.items() if value != WRITTEN[name][part]]
    if differ:
        pytest.fail(f"{name}: other {', '.join(differ)} (here: {made_with()}); {WAY_OUT}")


def test_nothing_is_held_that_is_not_played() -> None:
    assert WRITTEN.keys() <= PAIRS.keys(), WAY_OUT
