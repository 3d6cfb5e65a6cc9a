"""The judge imports nothing of what it judges."""

import ast
from pathlib import Path

import numpy as np
import pytest
from literal import literal_choice

from giro.seeds import stream


def test_the_literal_giro_imports_nothing_of_giro() -> None:
    tree = ast.parse((Path(__file__).parent / "literal.py").read_text())
    names = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert names == {"math", "numba", "numpy"}


@pytest.mark.parametrize(("ranking", "shares"), [([], [0.5, 0.5]), ([1.0, 2.0], [0.0, 1.0])])
def test_ties_of_the_literal_giro(ranking: list[float], shares: list[float]) -> None:
    rewards, lengths, rng = np.ones((2, 1)), np.array([1, 1]), stream(1)
    chosen = [
        literal_choice(rewards, lengths, np.arange(2), 0.0, np.array(ranking), rng)
        for _ in range(400)
    ]
    assert np.bincount(chosen, minlength=2) / 400 == pytest.approx(shares, abs=0.1)
