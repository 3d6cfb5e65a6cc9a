"""What bandits and the evaluation promise of every policy holds without compiling, too."""

import pytest
from contract.without_compiling import passed_without_compiling


@pytest.mark.slow
@pytest.mark.parametrize("what", ["bandit", "evaluate", "saved"])
def test_promises_hold_without_compiling(what: str) -> None:
    assert passed_without_compiling(f"contract/test_{what}.py") > 100
