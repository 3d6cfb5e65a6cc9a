"""`giro plot`."""

from pathlib import Path

import pytest
from cli.conftest import Giro


@pytest.fixture
def results(giro: Giro, tmp_path: Path) -> Path:
    """A folder with the results of two policies."""
    giro("simulate", "ucb1", "uniform", "--rounds", 50, "--runs", 3, "--out", tmp_path / "out")
    return tmp_path / "out"


def test_the_curves_of_a_folder_are_drawn(giro: Giro, results: Path, tmp_path: Path) -> None:
    done = giro("plot", results, "-o", tmp_path / "x.svg")
    assert (done.status, done.out, done.error) == (0, "", f"wrote {tmp_path}/x.svg\n")
    drawing = (tmp_path / "x.svg").read_text()
    for word in ("ucb1", "uniform", "cumulative regret"):
        assert f"<!-- {word} -->" in drawing


def test_metric_and_axes_are_those_asked_for(giro: Giro, results: Path, tmp_path: Path) -> None:
    drawings = []
    for options in ((), ("--x", "log"), ("--y", "log"), ("--metric", "reward")):
        done = giro("plot", results, "-o", tmp_path / "x.svg", *options)
        assert done.status == 0, done.error
        drawings.append((tmp_path / "x.svg").read_text())
    assert len(set(drawings)) == 4
    assert "<!-- reward per round -->" in drawings[3]
    assert "<!-- cumulative regret -->" not in drawings[3]
