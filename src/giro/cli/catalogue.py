"""`giro policies` and `giro problems`: list all of one kind, as a table or as records."""

import textwrap
from typing import Any

from giro.cli.main import app
from giro.cli.options import Json
from giro.cli.output import page_width, print_json, print_line, print_table
from giro.named import defaults, has_text, summary, text_of
from giro.policy import Policy
from giro.problem import Problem
from giro.tables import Column

_WIDE = 140  # characters: in a narrower terminal a table would fold every cell


@app.command()
def policies(json: Json = False) -> None:
    """List the policies and their parameters.

    Shows the defaults, one line on what each policy does, and where it comes from.

    \b
    Examples:
      giro policies
      giro policies --json
    """
    _print_catalogue(Policy, json=json)


@app.command()
def problems(json: Json = False) -> None:
    """List the problems and their parameters.

    Shows the defaults, one line on what each problem does, and where it comes from.

    \b
    Examples:
      giro problems
      giro problems --json
    """
    _print_catalogue(Problem, json=json)


def _print_catalogue(kind: type[Policy] | type[Problem], *, json: bool) -> None:
    """Print every policy or problem with its parameters, its summary and its source."""
    records = [
        {
            "name": cls.name,
            "parameters": {  # null where one has no default
                key: None if value is ... else text_of(value)
                for key, value in defaults(cls).items()
            },
            "text": has_text(cls),
            "summary": summary(cls),
            "source": cls.source,
        }
        for cls in kind.known().values()
    ]
    if json:
        print_json(records)
    elif page_width() < _WIDE:
        print_line("\n\n".join(_paragraph(record, page_width()) for record in records))
    else:
        columns = [
            Column("name", kind.kind),
            Column("shown", "parameters", words=True),
            Column("summary", "what it does", words=True),
            Column("source", words=True),
        ]
        print_table(columns, [{**record, "shown": _parameters(record)} for record in records])


def _paragraph(record: dict[str, Any], width: int) -> str:
    """Return a record as a few lines, for a terminal too narrow for a table."""
    lines = [f"{record['name']}  {_parameters(record)}", record["summary"], record["source"]]
    return "\n".join(
        textwrap.fill(line, width, initial_indent=indent, subsequent_indent="    ")
        for line, indent in zip(lines, ("", "    ", "    "), strict=True)
        if line
    )


def _parameters(record: dict[str, Any]) -> str:
    values = record["parameters"].items()
    shown = ", ".join(key if value is None else f"{key}={value}" for key, value in values)
    return shown + ("" if record["text"] else " (from Python only)")
