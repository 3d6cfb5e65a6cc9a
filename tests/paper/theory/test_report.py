"""How reports show numbers."""

import numpy as np

from giro.paper.theory.report import digits, from_log, listed, power, text, yes
from giro.tables import fixed


def test_numbers_of_any_size_are_shown() -> None:
    assert from_log(np.log(9.96e14)) == "1.0e+15"
    assert from_log(2e6) == power(2e6) == "e^2e+06"
    dashes = [from_log(np.nan), power(np.nan), fixed(1)(np.nan), digits(2)(np.nan), text(np.nan)]
    assert {*dashes, yes(None)} == {"-"}
    assert listed([1 / 3, 0.5, 2]) == "1/3,0.5,2"
