"""Of a generator, giro calls `random` alone: NumPy may change everything else."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import giro

SOURCE = Path(giro.__file__).parent
FILES = sorted(SOURCE.glob("**/*.py"))
HARMLESS = {"random", "bit_generator", "spawn"}
BANNED = {name for name in dir(np.random.Generator) if not name.startswith("_")} - HARMLESS
MODULES = {"np", "math", "stats", "special", "scipy"}  # whose functions of such names draw nothing


def banned_calls(source: str) -> list[str]:
    """Return calls of a generator's other methods, wherever the generator comes from."""
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    methods = [call for call in calls if isinstance(call, ast.Attribute) and call.attr in BANNED]
    found = [ast.unparse(one) for one in methods if ast.unparse(one.value) not in MODULES]
    found += [match[0] for match in re.finditer(r"\brng\.(\w+)", source) if match[1] in BANNED]
    return found  # the latter are in docstrings, too


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_only_uniform_numbers_are_taken_from_generators(file: Path) -> None:
    assert banned_calls(file.read_text()) == []


@pytest.mark.parametrize(
    "line",
    ["rng.integers(3)", "stream(1).normal()", "self.rng.beta(1, 2)", "x = '''rng.choice(a)'''"],
)
def test_other_draws_are_found(line: str) -> None:
    assert banned_calls(line)


@pytest.mark.parametrize(
    "line", ["rng.random(3)", "stats.beta(1, 2)", "x = state.beta + beta(rng)"]
)
def test_nothing_else_is_found(line: str) -> None:
    assert banned_calls(line) == []
