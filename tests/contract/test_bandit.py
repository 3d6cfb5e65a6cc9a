"""What every policy promises to a bandit: its log says all, and decides the same again."""

from typing import Any

import pytest
from contract.bandit_facts import HOW, cases_of, facts_of
from contract.without_compiling import printed_by
from known import policies_in_bandits
from laws import ALPHA

from giro import Policy

EACH = [
    pytest.param(policy, case, id=f"{policy} {case}")
    for policy in policies_in_bandits()
    for case in cases_of(policy)
]
each_policy_and_case = pytest.mark.parametrize(("policy", "case"), EACH)


@pytest.fixture(scope="session")
def facts() -> dict[str, dict[str, Any]]:
    """What became of every policy in a bandit, without compiling anything."""
    return printed_by("bandit_facts.py")


@each_policy_and_case
def test_a_replay_decides_the_same_bit_for_bit(
    policy: Policy, case: str, facts: dict[str, Any]
) -> None:
    found = facts[f"{policy} {case}"]
    assert "error" not in found, found
    if not found["mutates"]:
        assert found["there"] == found["here"], "does choosing leave traces in the state?"
    assert len(found["there"]) == len(found["here"])


@pytest.mark.slow  # quick tests look closer, without bandits: test_offers.py
def test_choices_follow_the_law_that_the_policy_tells() -> None:
    for name, found in printed_by("bandit_facts.py", "laws").items():
        assert "error" not in found, (name, found)
        if found:  # where it is known
            assert sum(found["law"]) == pytest.approx(1.0, abs=1e-9), name
            assert found["p_value"] > ALPHA, (name, found["law"])


EXACT = ("giro", "thompson", "ucb1", "kl-ucb", "epsilon-greedy:epsilon=0.1", "greedy", "uniform")
ALSO_EXACT = ("phe", "ensemble", "bootstrap", "bootstrap-thompson", "online-bootstrap:replicas=50")


@pytest.mark.parametrize("text", [*EXACT, *ALSO_EXACT])
def test_the_law_of_zeros_and_ones_is_known(text: str, facts: dict[str, Any]) -> None:
    assert facts[f"{Policy.parse(text)} binary"]["known"]


@pytest.mark.parametrize("text", ["ucb1"])  # in steps all of them: test_plain_python.py
def test_a_compiled_bandit_decides_like_one_in_plain_python(
    text: str, facts: dict[str, Any]
) -> None:
    compiled = facts_of(Policy.parse(text), **HOW["fractional"])
    here = facts[f"{text} fractional"]["here"]
    assert [arm for arm, _ in compiled["here"]] == [arm for arm, _ in here]
    for (_, law), (_, plain_law) in zip(compiled["here"], here, strict=True):
        assert law == pytest.approx(plain_law, abs=1e-12)
