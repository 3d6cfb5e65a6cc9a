"""What there is of one kind, as a table or as records."""

import textwrap
from typing import Annotated, Any

import typer

from giro.cli._output import Column, page_width, print_json, print_line, print_table
from giro.named import Named, defaults, has_text, summary, text_of
from giro.policy import Policy
from giro.problem import Problem

Json = Annotated[bool, typer.Option("--json", help="Print records instead of a table.")]

_WIDE = 140  # columns below which a table would fold every cell


def print_catalogue(kind: type[Policy] | type[Problem], *, json: bool) -> None:
    """Print every policy or problem with its parameters, what it does, and its source."""
    known = kind.known().values()
    if json:
        print_json([_record(cls) for cls in known])
    elif page_width() < _WIDE:
        print_line("\n\n".join(_paragraph(cls, page_width()) for cls in known))
    else:
        columns = [
            Column(kind.kind),
            Column("parameters", words=True),
            Column("what it does", words=True),
            Column("source", words=True),
        ]
        print_table(columns, [_row(cls) for cls in known])


def _record(cls: type[Policy] | type[Problem]) -> dict[str, Any]:
    """Return what a program may want to know; a parameter without a default has null."""
    return {
        "name": cls.name,
        "parameters": {
            key: None if value is ... else text_of(value) for key, value in defaults(cls).items()
        },
        "text": has_text(cls),
        "summary": summary(cls),
        "source": cls.source,
    }


def _row(cls: type[Policy] | type[Problem]) -> tuple[str, str, str, str]:
    return cls.name, _parameters_text(cls), summary(cls), cls.source


def _paragraph(cls: type[Policy] | type[Problem], width: int) -> str:
    """Return the same row as a few lines for a terminal that is not wide enough for a table."""
    name, parameters, *sentences = _row(cls)
    lines = [f"{name}  {parameters}", *sentences]
    return "\n".join(
        textwrap.fill(line, width, initial_indent=indent, subsequent_indent="    ")
        for line, indent in zip(lines, ("", "    ", "    "), strict=True)
        if line
    )


def _parameters_text(cls: type[Named]) -> str:
    shown = [
        key if value is ... else f"{key}={text_of(value)}" for key, value in defaults(cls).items()
    ]
    return ", ".join(shown) + ("" if has_text(cls) else " (from Python only)")
