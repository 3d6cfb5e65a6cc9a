"""Bad input: one clear sentence on standard error, exit status 2, no traceback."""

from pathlib import Path

import polars as pl
import pytest
from cli.conftest import Giro

REFUSED = {
    "simulate gyro": "no policy is called 'gyro'; did you mean 'giro'?",
    "simulate giro:b=1": "no parameter of giro is called 'b'",
    "simulate giro:a": "parameters of giro look like a=1,b=2, got 'a'",
    "simulate giro:a=-1": "giro needs a finite a >= 0, got a=-1",
    "simulate giro:a=nan": "giro:a is a number, got 'nan'",
    "simulate giro:a=inf": "giro needs a finite a >= 0",
    "simulate giro:a=x": "giro:a is a number like 0.5 or 1/3, got 'x'",
    "simulate giro:ties=odd": "giro:ties is one of random, fixed; got 'odd'",
    "simulate randomized": "randomized needs draw, use it from Python",
    "simulate ucb1 ucb1": "listed twice",
    "simulate ucb1 --problem bernouli": "did you mean 'bernoulli'?",
    "simulate ucb1 --problem bernoulli:means=[1.2]": "bernoulli needs means in [0, 1], got 1.2",
    "simulate ucb1 --problem bernoulli:means=[nan]": "is a number, got 'nan'",
    "simulate ucb1 --problem bernoulli:means=[0.5": "brackets do not match",
    "simulate ucb1 --problem discrete:probabilities=[[1]]": "as many probabilities as values",
    "simulate ucb1 --rounds 0": "a whole number rounds >= 1, got rounds=0",
    "simulate ucb1 --rounds ten": "--rounds",
    "simulate ucb1 --runs 0": "a whole number runs >= 1, got runs=0",
    "simulate ucb1 --seed -1": "a whole number seed >= 0, got seed=-1",
    "warm-up giro --features -1": "a whole number --features >= 0, got --features=-1",
    "simulate ucb1 --jobs 0": "an engine needs a whole number jobs >= 1, or none, got jobs=0",
    "simulate ucb1 --points 0": "a whole number points >= 1, got points=0",
    "simulate ucb1 --spacing odd": "--spacing",
    "simulate ucb1 --plot x.gif": "a picture is a .png, .svg or .pdf file, got 'x.gif'",
    "simulate ucb1 --out {file}": "cannot make the folder",
    "simulate ucb1 --plot {file}/x.png": "cannot make the folder",
    "simulate ucb1 --wrong": "--wrong",
    "simulate": "POLICY",
    "wrong": "wrong",
    "plot": "FOLDER",
    "plot {folder}": "--output",
    "plot {folder}/none -o x.png": "there is no folder",
    "plot {folder} -o x.png": "no results of giro in",
    "plot {results} -o x.bmp": "a picture is a .png, .svg or .pdf file",
    "plot {foreign} -o x.png": "no results of giro in",
    "plot {cut} -o x.png": "cannot be read as Parquet",
}


@pytest.mark.parametrize("words", REFUSED)
def test_bad_input_is_refused_in_one_sentence(giro: Giro, tmp_path: Path, words: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for name in ("foreign", "cut", "results"):
        (tmp_path / name).mkdir()
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "foreign" / "x.parquet")
    giro("simulate", "ucb1", "--rounds", 10, "--runs", 2, "--out", tmp_path / "results")
    (result,) = (tmp_path / "results").glob("*.parquet")
    (tmp_path / "cut" / result.name).write_bytes(result.read_bytes()[:-20])
    places = {name: tmp_path / name for name in ("folder", "file", "foreign", "cut", "results")}
    done = giro(*words.format(**places).split())
    assert done.status == 2
    assert done.out == ""
    assert REFUSED[words] in done.error
    assert done.error.startswith("giro: ")
    assert done.error.count("\n") == 1
