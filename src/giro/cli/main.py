"""Where `giro` starts: every command is loaded, every error becomes one sentence."""

import contextlib
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from typing import TextIO, cast

import typer

from giro.cli._app import app
from giro.cli.output import complain
from giro.errors import GiroError

_DONE, _FAILED, _REFUSED, _INTERRUPTED = 0, 1, 2, 130

# what every complaint of Typer about the arguments has in common; it has no public name
_UsageError = cast(type[typer.BadParameter], typer.BadParameter.__bases__[0])


def main() -> None:
    """Run the command line and exit with its status."""
    sys.exit(status_of(sys.argv[1:]))


def status_of(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status, whatever happens."""
    for package in ("giro.cli", "giro.paper.commands"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
            importlib.import_module(f"{package}.{module.name}")
    _accept_any_character(sys.stdout, sys.stderr)
    try:
        status = _status_of_command(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        _silence(sys.stdout)
        return _FAILED
    return status


def _status_of_command(arguments: Sequence[str]) -> int:
    try:
        return int(app(list(arguments), prog_name="giro", standalone_mode=False) or _DONE)
    except _UsageError as error:
        complain(error.format_message())
        return _REFUSED
    except GiroError as error:
        complain(str(error))
        return _REFUSED
    except (KeyboardInterrupt, typer.Abort):
        complain("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(str(error))
        return _FAILED


def _accept_any_character(*outputs: TextIO) -> None:
    """Let a terminal that cannot show a character such as ± show a ? instead."""
    for output in outputs:
        with contextlib.suppress(AttributeError, ValueError):
            output.reconfigure(errors="replace")  # type: ignore[attr-defined]  # not on every stream


def _silence(output: TextIO) -> None:
    """Send what is still waiting nowhere, so that the interpreter does not complain at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())
