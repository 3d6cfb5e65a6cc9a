"""Every policy plays on every problem as it did, to the last bit: same arms, same curves."""

import pytest
from golden.pairs import FILE, hashes_of, made_with, pairs, written
from known import policies, policies_with_models, problems

PAIRS, WRITTEN = pairs(), written()
WAY_OUT = "if that is meant: python tests/golden/write.py"

# compiled by other tests as well; the rest takes minutes and is for `make test-versions`
QUICK = {
    *(f"{policy} on {problem}" for policy in policies() for problem in problems()),
    *(f"{policy} on {problems()[3]}" for policy in policies_with_models()),
}


def _marked(name: str) -> object:
    return pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)


@pytest.mark.parametrize("name", [_marked(name) for name in PAIRS])
def test_a_pair_plays_as_it_did(name: str) -> None:
    found = hashes_of(*PAIRS[name])
    if name not in WRITTEN:
        pytest.fail(f"{name} is not in {FILE.name}; {WAY_OUT}")
    differ = [part for part, value in found.items() if value != WRITTEN[name][part]]
    if differ:
        pytest.fail(f"{name}: other {', '.join(differ)} (here: {made_with()}); {WAY_OUT}")


def test_nothing_is_held_that_is_not_played() -> None:
    assert WRITTEN.keys() <= PAIRS.keys(), WAY_OUT
