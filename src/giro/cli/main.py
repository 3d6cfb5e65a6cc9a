"""The program `giro`: every command registers itself, every error becomes one sentence."""

import ast
import contextlib
import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, cast

import typer

from giro.errors import GiroError
from giro.version import __version__

_DONE, _FAILED, _REFUSED, _INTERRUPTED = 0, 1, 2, 130  # exit statuses

# the base class of all errors of Typer about arguments, which has no public name
_UsageError = cast(type[typer.BadParameter], typer.BadParameter.__bases__[0])

app = typer.Typer(
    name="giro",
    rich_markup_mode=None,  # plain help: it reads the same in a narrow terminal and in a pipe
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


class Interrupted(Exception):
    """Somebody pressed Ctrl-C, and there is more to say about it."""


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
    _add_commands(arguments)
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
        status = int(app(list(arguments), prog_name="giro", standalone_mode=False) or _DONE)
        if status == _INTERRUPTED:  # Typer makes this of a KeyboardInterrupt, and says nothing
            raise KeyboardInterrupt
        return status
    except Interrupted as error:
        _complain(f"interrupted: {error}")
        return _INTERRUPTED
    except _UsageError as error:
        _complain(error.format_message())
        return _REFUSED
    except GiroError as error:
        _complain(str(error))
        return _REFUSED
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as error:
        _complain(str(error))
        return _FAILED


def _complain(text: str) -> None:
    from giro.cli.output import complain  # noqa: PLC0415  # rich and NumPy, which help does not need

    complain(text)


# -- commands ----------------------------------------------------------------------------------


class _Command(NamedTuple):
    """A command, or a group of them, as its file has it."""

    name: str
    module: str
    text: str  # its docstring
    is_group: bool


def _add_commands(arguments: Sequence[str]) -> None:
    """Import the file of the command that is asked for, and add just the names of all others.

    Importing all of them would take ten times as long as showing the help. The shell's completion
    asks for options, too, so it has them all.
    """
    wanted = next((word for word in arguments if not word.startswith("-")), None)
    completing = any(name.endswith("_COMPLETE") for name in os.environ)
    for command in _commands():
        if completing or command.name == wanted:
            importlib.import_module(command.module)
        elif command.module not in sys.modules:
            _add_name(command)


def _add_name(command: _Command) -> None:
    """Add a command that does nothing, so that it is listed.

    If the command is imported later, that one replaces it.
    """

    def nothing() -> None:
        pass

    nothing.__doc__ = command.text
    if command.is_group:
        group = typer.Typer(rich_markup_mode=None)
        group.callback()(nothing)
        app.add_typer(group, name=command.name)
    else:
        app.command(name=command.name)(nothing)


def _commands() -> Iterator[_Command]:
    """Yield all commands, found by reading their files."""
    for package in ("giro.cli", "giro.paper.commands"):
        specification = importlib.util.find_spec(package)
        folders = specification.submodule_search_locations if specification else None
        for module in pkgutil.iter_modules(folders):
            name = f"{package}.{module.name}"
            path = Path((folders or [])[0]) / f"{module.name}.py"
            if name != __name__:
                yield from _commands_in(name, ast.parse(path.read_text(encoding="utf-8")))


def _commands_in(module: str, tree: ast.Module) -> Iterator[_Command]:
    """Yield the commands added by `@app.command()` and `app.add_typer()`."""
    texts = {}  # of groups, by the name of their variable
    for node in tree.body:
        for call in getattr(node, "decorator_list", []):
            owner, method = _called(call)
            if isinstance(node, ast.FunctionDef) and (owner, method) == ("app", "command"):
                name = _name_in(call) or node.name.replace("_", "-")
                yield _Command(name, module, ast.get_docstring(node) or "", is_group=False)
            elif isinstance(node, ast.FunctionDef) and method == "callback":
                texts[owner] = ast.get_docstring(node) or ""
    for node in tree.body:
        if isinstance(node, ast.Expr) and _called(node.value) == ("app", "add_typer"):
            group = cast(ast.Name, cast(ast.Call, node.value).args[0]).id
            yield _Command(_name_in(node.value), module, texts.get(group, ""), is_group=True)


def _called(node: ast.expr) -> tuple[str, str]:
    """Return the variable and the method of a call such as `app.command()`."""
    method = node.func if isinstance(node, ast.Call) else None
    if isinstance(method, ast.Attribute) and isinstance(method.value, ast.Name):
        return method.value.id, method.attr
    return "", ""


def _name_in(call: ast.expr) -> str:
    """Return the argument `name` of a call, or nothing."""
    keywords = call.keywords if isinstance(call, ast.Call) else []
    names = [word.value for word in keywords if word.arg == "name"]
    return str(ast.literal_eval(names[0])) if names else ""
