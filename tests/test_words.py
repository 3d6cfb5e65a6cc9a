"""First lines of docstrings are plain sentences, and names of variables are nouns."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import giro

SOURCE = Path(giro.__file__).parent
STILL_TO_DO: tuple[str, ...] = ()  # files and folders that are being rewritten
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NO_NOUNS = {"found", "its", "hoped", "said"}


def mistakes_in(first_line: str) -> list[str]:
    """Return the habits that a first line should not have.

    >>> mistakes_in("Return what a; b"), mistakes_in("Return the mean, whatever the size.")
    (['begins with "Return what"', 'contains "what"', 'contains ";"'], [])
    """
    begins = [
        word for word in ("Return what", "Tell", "Let") if f"{first_line} ".startswith(f"{word} ")
    ]
    contains = [word for word in ("what", ";") if word in first_line.replace(";", " ; ").split()]
    return [f'begins with "{word}"' for word in begins] + [
        f'contains "{word}"' for word in contains
    ]


def names_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each variable and parameter."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def finished_files() -> list[Path]:
    """Return the files outside the folders that are still to do."""
    to_do = [SOURCE / place for place in STILL_TO_DO]
    return [
        path
        for path in sorted(SOURCE.rglob("*.py"))
        if not any(path == place or place in path.parents for place in to_do)
    ]


def test_first_lines_are_plain() -> None:
    complaints = []
    for path in finished_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
            for mistake in mistakes_in(text.split("\n")[0]) if text else ():
                line = getattr(node, "lineno", 1)
                complaints.append(f"{path.relative_to(SOURCE)}:{line} {mistake}: {text}")
    assert not complaints, "\n".join(complaints)


def test_variables_are_nouns() -> None:
    complaints = [
        f"{path.relative_to(SOURCE)}:{line} {name}"
        for path in finished_files()
        for line, name in names_in(ast.parse(path.read_text(encoding="utf-8")))
        if name in NO_NOUNS
    ]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    "line", ["Return what is known.", "Tell whether it is.", "Let it.", "A; b."]
)
def test_a_habit_is_noticed(line: str) -> None:
    assert mistakes_in(line)


@pytest.mark.parametrize("line", ["Return the mean.", "Lets arms duel.", "Whatever the size."])
def test_a_plain_line_is_left_alone(line: str) -> None:
    assert not mistakes_in(line)
