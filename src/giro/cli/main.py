"""The program `giro`: every command registers itself, every error becomes one sentence."""

import contextlib
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from typing import Annotated, cast

import typer

from giro.cli.output import complain
from giro.errors import GiroError
from giro.version import __version__

_DONE, _FAILED, _REFUSED, INTERRUPTED = 0, 1, 2, 130  # exit statuses

# the base class of all errors of Typer about arguments, which has no public name
_UsageError = cast(type[typer.BadParameter], typer.BadParameter.__bases__[0])

app = typer.Typer(
    name="giro",
    rich_markup_mode=None,  # plain help: it reads the same in a narrow terminal and in a pipe
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"giro {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def giro(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Bandits that explore by resampling their own history.

    \b
    Examples:
      giro policies
      giro simulate giro:a=1 ucb1 --problem bernoulli --rounds 1000 --runs 20
      giro simulate giro:a=1/3 ucb1 --out results/first --plot regret.png
      giro plot results/first -o regret.svg --x log

    Results go to standard output, progress and errors to standard error. Exit status: 0 done,
    1 a run failed, 2 wrong usage, 130 interrupted. After `giro --install-completion` the shell
    completes commands and options.
    """
    help_without_command(context)


def help_without_command(context: typer.Context) -> None:
    """Show the help of a group of commands if no command is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line and exit with its status."""
    sys.exit(status_of(sys.argv[1:]))


def status_of(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status, whatever happens."""
    for package in ("giro.cli", "giro.paper.commands"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
            importlib.import_module(f"{package}.{module.name}")
    for output in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # not every stream can
            output.reconfigure(errors="replace")  # type: ignore[union-attr]  # ± may become ?
    try:
        status = _status_of_command(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        with contextlib.suppress(OSError, ValueError):  # the interpreter would complain at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
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
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(str(error))
        return _FAILED
