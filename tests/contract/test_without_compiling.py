"""What bandits and the evaluation promise of every policy holds without compiling, too."""

import numpy as np
import pytest
from contract.test_bandit import HOW, next_decisions, played
from contract.without_compiling import passed_without_compiling, printed_by
from kernels.highest.binomial_laws import giro, set_all

from giro import Policy
from giro.kernels.highest.binomial_probabilities import binomial_argmax_probabilities

PRINT = """
import json
from contract import test_without_compiling as here
print(json.dumps({}))
"""
TEXTS = ("ucb1", "giro:a=0.3", "phe", "thompson")  # in steps all of them: test_plain_python.py
HISTORIES = {  # pulls and ones of arms
    "points": ([30, 40, 3], [20, 22, 2]),
    "many lattices": ([50] * 70, [20] * 70),
    "bells": ([100_000, 90_000], [40_000, 36_100]),
    "bells and points": ([100_000, 90_000, 7], [40_000, 36_100, 3]),
}


def decisions(text: str) -> list[list[object]]:
    """Return arms and propensities that a bandit decides after some rewards."""
    how = ("fractional", "binary") if text == "ucb1" else ("binary",)
    bandits = [played(Policy.parse(text), **HOW[each]) for each in how]
    return [d for b in bandits for d in next_decisions(b, contexts=False, features=False)]


def law(case: str) -> list[float]:
    """Return the exact propensities of Giro."""
    laws = giro(*HISTORIES[case], 0.7)
    chances = binomial_argmax_probabilities(set_all(laws), np.arange(len(laws)), np.empty(0))
    return list(map(float, chances))


def test_a_compiled_bandit_decides_like_one_in_plain_python() -> None:
    plain = printed_by(PRINT.format("{text: here.decisions(text) for text in here.TEXTS}"))
    for text in TEXTS:
        for (arm, law), (plain_arm, plain_law) in zip(decisions(text), plain[text], strict=True):
            assert arm == plain_arm
            assert law == pytest.approx(plain_law, abs=1e-12)


def test_exact_propensities_are_the_same_in_plain_python() -> None:
    plain = printed_by(PRINT.format("{case: here.law(case) for case in here.HISTORIES}"))
    for case in HISTORIES:
        assert law(case) == pytest.approx(plain[case], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["bandit", "evaluate", "saved"])
def test_promises_hold_without_compiling(what: str) -> None:
    assert passed_without_compiling(f"contract/test_{what}.py") > 100
