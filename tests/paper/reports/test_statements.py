"""Verdicts are computed: numbers that contradict a statement make it fail."""

import numpy as np
import pytest

from giro.paper.claims import Verdict
from giro.paper.theory import exact, proofs
from giro.paper.theory.general_bound import _all_above_zero
from giro.paper.theory.report import digits, from_log, listed, power, text, yes
from giro.paper.theory.terms import check_at_most
from giro.tables import fixed


def test_a_verdict_is_a_word() -> None:
    words = [Verdict("", holds).word for holds in (True, False, None)]
    assert words == ["holds", "fails", "undecided"]


def test_an_increase_holds_fails_or_is_undecided() -> None:
    noise = np.array([-1.0, 1.0] * 20)
    assert _all_above_zero([noise + 2, noise + 3]) is True
    assert _all_above_zero([noise + 2, noise - 2]) is False
    assert _all_above_zero([noise + 2, noise]) is None
    assert _all_above_zero([np.array([1.0])]) is None  # one run: no uncertainty known


def test_a_violated_lemma_is_reported_with_where() -> None:
    checks = [check_at_most("x", 1.0, 2.0, n=1), check_at_most("x", 3.0, 2.0, n=7)]
    statement = proofs._statement("x", checks)
    assert statement.word == "fails"
    assert statement.figures == "1 of 2 cases violated, first at n = 7"


def test_a_wrong_exact_regret_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    question = exact.Question("giro:a=1", None, (0.9, 0.1), 5, 400, 0)
    wrong = np.array([0.4, 0.9, 1.3, 1.7, 2.1])
    monkeypatch.setattr(exact, "exact_giro_regret", lambda *_: wrong)
    (statement,) = exact.exact_report(question).statements
    assert statement.word == "fails"


def test_numbers_of_any_size_are_shown() -> None:
    assert from_log(np.log(9.96e14)) == "1.0e+15"
    assert from_log(2e6) == power(2e6) == "e^2e+06"
    dashes = [from_log(np.nan), power(np.nan), fixed(1)(np.nan), digits(2)(np.nan), text(np.nan)]
    assert {*dashes, yes(None)} == {"-"}
    assert listed([1 / 3, 0.5, 2]) == "1/3,0.5,2"
