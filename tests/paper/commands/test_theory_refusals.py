"""What `giro theory` refuses: one sentence on standard error, exit status 2."""

import pytest
from cli.conftest import Giro

REFUSED = {
    "bound --a 0.7": "the bound needs a > 1 / sqrt(2) = 0.7071..., got a=0.7",
    "bound --a x": "--a is a number like 0.5 or 1/3, got 'x'",
    "bound --a 1/0": "--a is a number like 0.5 or 1/3, got '1/0'",
    "bound --a nan": "--a is a number",
    "bound --means 0.5": "needs two arms or more",
    "bound --means 0.5,0.5": "the only one with its mean",
    "bound --means 1.5,0.5": "means must lie in [0, 1]",
    "bound --means 0.5,,0.4": "--means is a number like 0.5 or 1/3, got ''",
    "bound --rounds 1": "a whole number rounds >= 2, got rounds=1",
    "bound --rounds ten": "--rounds",
    "bound --plot x.gif": "a picture is a .png, .svg or .pdf file, got 'x.gif'",
    "general-bound --rounds 1": "a whole number rounds >= 2",
    "general-bound --a -1": "a >= 0, got a=-1",
    "general-bound --means 0.5": "needs two arms or more",
    "general-bound --runs 0": "a whole number runs >= 1, got runs=0",
    "general-bound --seed -1": "a whole number seed >= 0",
    "optimism --a 1/3 --n 1": "W needs a * n to be an integer",
    "optimism --a 0": "W is infinite without pseudo rewards, got a=0",
    "optimism --a -1": "got a=-1",
    "optimism --n 0": "n=0",
    "optimism --n 1.5": "--n has whole numbers, got '1.5'",
    "optimism --p 2": "got p=2",
    "moments --s 0": "n=0",
    "moments --a 1/3 --s 4": "a * s to be an integer",
    "moments --mean 1.2": "got p=1.2",
    "moments --most-pulls 0": "most-pulls",
    "lemmas --n 1": "n >= 2, got n=1",
    "exact --policy ucb1": "exact regret is known for giro and bootstrap, got 'ucb1",
    "exact --policy gyro": "did you mean 'giro'?",
    "exact --rounds 0": "a whole number rounds >= 1",
    "exact --rounds 1000": "use fewer rounds or arms",
    "exact --means 0.1,0.2,0.3,0.4 --rounds 20": "use fewer rounds or arms",
    "exact --runs -1": "a whole number runs >= 0, got runs=-1",
    "exact --ties odd": "--ties",
    "all": "--out",
    "nothing": "nothing",
}


@pytest.mark.parametrize("words", REFUSED)
def test_bad_input_is_refused_in_one_sentence(giro: Giro, words: str) -> None:
    done = giro("theory", *words.split())
    assert done.status == 2
    assert done.out == ""
    assert REFUSED[words] in done.error
    assert done.error.startswith("giro: ")
    assert done.error.count("\n") == 1
