"""The program `giro`, to which each command adds itself."""

from typing import Annotated

import typer

from giro.version import __version__

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

    Results go to standard output, progress and complaints to standard error. Exit status: 0 done,
    1 a run failed, 2 asked for wrongly, 130 interrupted. After `giro --install-completion` the
    shell completes commands and options.
    """
    help_without_command(context)


def help_without_command(context: typer.Context) -> None:
    """Show the help of a group of commands if none of them is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
