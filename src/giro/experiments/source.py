"""The code that the numbers of a run depend on: its policy's, its problem's, and all they import.

A run that took hours stays good as long as this code does: a new policy, another figure, a better
docstring or comment do not cost it. Of the versions of libraries only numba's counts: it compiles
the code and draws its random numbers.
"""

import ast
import functools
import hashlib
import importlib.util
import io
import tokenize
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import numba

from giro.policy import Policy
from giro.problem import Problem
from giro.simulation import checkpoints, play

_ALWAYS = play.__name__, checkpoints.__name__
_UNIMPORTANT = frozenset({"giro", "giro.errors", "giro.kernel_cache"})  # change no number
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef


def run_digest(policy: Policy, problem: Problem) -> str:
    """Return a digest of numba's version and of the code behind a policy's runs on a problem."""
    digest = hashlib.sha256(numba.__version__.encode())
    for module in sorted(modules_behind(policy, problem)):
        digest.update(module.encode())
        digest.update(_code_of(module).encode())
    return digest.hexdigest()[:16]


def modules_behind(policy: Policy, problem: Problem) -> set[str]:
    """Return the names of the package's modules that decide the numbers."""
    found: set[str] = set()
    waiting = {*_ALWAYS, *_modules_of(policy), *_modules_of(problem)}
    while waiting:
        module = waiting.pop()
        found.add(module)
        waiting |= _imported_by(module) - found
    return found


def _modules_of(thing: object) -> Iterator[str]:
    """Yield the module of a policy or problem, and of the models and the like among its fields."""
    if not is_dataclass(thing):
        return
    yield type(thing).__module__
    for field in fields(thing):
        yield from _modules_of(getattr(thing, field.name))


@functools.cache
def _imported_by(module: str) -> frozenset[str]:
    """Return the package's modules that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(_source_of(module))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    ours = {name for name in names if name.split(".")[0] == "giro" and _file_of(name)}
    return frozenset(ours - _UNIMPORTANT)


@functools.cache
def _code_of(module: str) -> str:
    """Return a module's source without comments, docstrings and empty lines."""
    source = _source_of(module)
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first, last = node.body[0].lineno, node.body[0].end_lineno or node.body[0].lineno
            lines[first - 1 : last] = [""] * (last - first + 1)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _source_of(module: str) -> str:
    """Return a module's source; a policy defined in a notebook has none."""
    path = _file_of(module)
    return path.read_text(encoding="utf-8") if path else ""


def _file_of(module: str) -> Path | None:
    """Return a module's file, None if there is no such module."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None
