"""What bandits and the evaluation promise of every policy holds without compiling, too."""

import pytest
from contract.test_bandit import HOW, next_decisions, played
from contract.without_compiling import passed_without_compiling, printed_by

from giro import Policy

DECISIONS = """
import json
from contract.test_without_compiling import decisions
print(json.dumps(decisions("{}")))
"""


def decisions(text: str) -> list[list[object]]:
    """Return arms and propensities that a bandit decides after some fractional rewards."""
    bandit = played(Policy.parse(text), **HOW["fractional"])
    return next_decisions(bandit, contexts=False, features=False)


@pytest.mark.parametrize("text", ["ucb1"])  # in steps all of them: test_plain_python.py
def test_a_compiled_bandit_decides_like_one_in_plain_python(text: str) -> None:
    here, plain = decisions(text), printed_by(DECISIONS.format(text))
    assert [arm for arm, _ in here] == [arm for arm, _ in plain]
    for (_, law), (_, plain_law) in zip(here, plain, strict=True):
        assert law == pytest.approx(plain_law, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["bandit", "evaluate", "saved"])
def test_promises_hold_without_compiling(what: str) -> None:
    assert passed_without_compiling(f"contract/test_{what}.py") > 100
