"""Measure the source: files, lines, imports, helpers used once, files on the way of a command.

python scripts/house.py [FOLDER]      of another checkout, if given: compare two versions

*Helpers used once* are private functions and methods that their own file calls exactly once, as a
share of all functions. The *stricter count* has those, too, that the file does not call but hands
on once, to a registration or a decorator. *Short helpers* are those called once whose body has at
most five lines without the docstring, and no decorator: most could stand where they are called.
The *import chain* is the longest path from one module of giro to another along its imports, those
inside functions left out; a name that a package only passes on is imported from where it is.
*Files on the way* are those of which at least one function runs when the command runs, in plain
Python and without what runs at import.
"""

import argparse
import ast
import functools
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SHORT = 5  # lines
WAYS = {
    "simulate": "giro.simulate('giro', 'bernoulli', rounds=20, runs=2, jobs=1)",
    "decide": "b = giro.Bandit(['a', 'b'], 'giro'); b.reward(b.decide().id, 1.0)",
    "evaluate": (
        "giro.evaluate({'arm': ['a', 'b'] * 9, 'reward': [0.0, 1.0] * 9, "
        "'probability': [0.5] * 18}, 'giro')"
    ),
    "reproduce contextual": (
        "status_of('reproduce contextual --only adult --rounds 20 --runs 2 --jobs 1 "
        "--policies lin-ucb --out'.split() + [folder])"
    ),
}

TRACED = """
import os, sys, threading
import giro
from giro.cli.main import status_of
seen, folder = set(), sys.argv[1]
def note(frame, event, argument):
    if event == 'call':
        seen.add(frame.f_code.co_filename)
{way}  # once before: what is imported on the way does not count
threading.setprofile(note)
sys.setprofile(note)
{way}
sys.setprofile(None)
root = os.path.dirname(giro.__file__)
print('FILES', len([path for path in seen if path.startswith(root)]))
"""


def main() -> None:
    """Print the measures of this checkout or another, as a table."""
    parser = argparse.ArgumentParser(description="Measure the source of giro.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[1])
    source = parser.parse_args().folder / "src"
    trees = {path: ast.parse(path.read_text()) for path in sorted(source.glob("giro/**/*.py"))}
    imports = {name_of(path, source): set(imported(tree)) for path, tree in trees.items()}
    for name, value in measures(source, trees, imports).items():
        sys.stdout.write(f"{name:<40} {value}\n")


def measures(
    source: Path, trees: dict[Path, ast.Module], imports: dict[str, set[str]]
) -> dict[str, object]:
    """Return every measure by name."""
    lines = [len(path.read_text().splitlines()) for path in trees]
    strict = [helper for tree in trees.values() for helper in used_once(tree)]
    once = [node for node, called in strict if called]
    short = [node for node in once if is_short(node)]
    functions = sum(
        isinstance(n, ast.FunctionDef) for tree in trees.values() for n in ast.walk(tree)
    )
    return {
        "files": len(lines),
        "lines": sum(lines),
        "lines of a file, median": statistics.median(lines),
        "lines of a file, largest": max(lines),
        "functions": functions,
        "helpers used once": f"{len(once)} ({len(once) / functions:.1%})",
        "helpers used once, stricter count": f"{len(strict)} ({len(strict) / functions:.1%})",
        "short helpers used once": f"{len(short)} ({len(short) / functions:.1%})",
        "longest import chain": longest_chain(imports),
        "imports per module": round(
            sum(len(among(imports, module)) for module in imports) / len(imports), 1
        ),
        "public names in several modules": len(repeated_names(trees)),
        **{f"files on the way of {way}": files_on(source, code) for way, code in WAYS.items()},
    }


def name_of(path: Path, source: Path) -> str:
    """Return the dotted name of a module."""
    return ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield what a module imports at its top, `package.name` for `from package import name`."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def among(imports: dict[str, set[str]], module: str) -> set[str]:
    """Return the modules of giro that a module imports."""
    homes = {home_of(imports, name) for name in imports[module]}
    return {home for home in homes if home in imports and home != module}


def home_of(imports: dict[str, set[str]], name: str) -> str:
    """Return the module that `package.name` comes from, past packages that only pass it on."""
    if name in imports:
        return name
    package, _, own = name.rpartition(".")
    passed_on = (other for other in imports.get(package, ()) if other.endswith(f".{own}"))
    further = next((other for other in passed_on if other.startswith(f"{package}.")), None)
    return home_of(imports, further) if further else package


def longest_chain(imports: dict[str, set[str]]) -> int:
    """Return the number of imports on the longest path."""

    @functools.cache
    def depth(module: str) -> int:
        return max((1 + depth(other) for other in among(imports, module)), default=0)

    return max(depth(module) for module in imports if module != "giro")


def used_once(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, bool]]:
    """Yield the private functions that a module refers to once, and whether it calls them."""
    nodes = list(ast.walk(tree))
    used = Counter(name_in(node) for node in nodes)
    called = Counter(name_in(node.func) for node in nodes if isinstance(node, ast.Call))
    for node in nodes:
        private = isinstance(node, ast.FunctionDef) and re.match("_[^_]", node.name)
        if private and used[node.name] == 1:
            yield node, called[node.name] == 1


def is_short(function: ast.FunctionDef) -> bool:
    """Return whether a function could stand where it is called: few lines, not a kernel."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
    return lines <= SHORT and not function.decorator_list


def name_in(node: ast.AST) -> str:
    """Return the name or attribute that a node reads, if it reads one."""
    return str(getattr(node, "id", getattr(node, "attr", "")))


def repeated_names(trees: dict[Path, ast.Module]) -> list[str]:
    """Return public classes and functions defined in more than one module."""
    names = Counter(
        node.name
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    )
    return [name for name, count in names.items() if count > 1]


def files_on(source: Path, code: str) -> int:
    """Return how many files of giro have a function that runs in this piece of code."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(source.resolve())}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", TRACED.format(way=code), folder],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    found = re.search(r"^FILES (\d+)$", done.stdout, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{code} failed:\n{done.stdout}{done.stderr}")
    return int(found.group(1))


if __name__ == "__main__":
    main()
