"""What every policy promises to a bandit that is saved: loaded, it goes on as if it never was."""

from typing import Any

import pytest
from contract.saved_facts import cases_of
from contract.without_compiling import printed_by
from known import policies_in_bandits

from giro import Policy

EACH = [
    pytest.param(policy, case, id=f"{policy} {case}")
    for policy in policies_in_bandits()
    for case in cases_of(policy)
]
each_policy_and_case = pytest.mark.parametrize(("policy", "case"), EACH)


@pytest.fixture(scope="session")
def facts() -> dict[str, dict[str, Any]]:
    """What became of every policy in a bandit, saved meanwhile or not, without compiling."""
    return printed_by("saved_facts.py")


@each_policy_and_case
@pytest.mark.parametrize("how", ["loaded", "replayed"])
def test_decisions_ids_and_propensities_are_those_of_the_bandit_that_was_not_saved(
    policy: Policy, case: str, how: str, facts: dict[str, Any]
) -> None:
    found = facts[f"{policy} {case}"]
    assert "error" not in found, found
    if how == "replayed" and policy.resolved(contextual="contexts" in case).choose_mutates_state:
        return  # what choices note for later ones is in snapshots, not in the log
    assert found[how]["decisions"] == found["straight"]["decisions"]
    assert found[how]["log"] == found["straight"]["log"]


@each_policy_and_case
def test_a_snapshot_is_used_if_behaviour_is_the_same_and_only_then(
    policy: Policy, case: str, facts: dict[str, Any]
) -> None:
    found = facts[f"{policy} {case}"]
    assert found.get("snapshots replayed", 0) == 0
    assert found["snapshots loaded"] == 4
