"""The group `giro theory`, to which each of its commands adds itself."""

import typer

from giro.cli._app import app

theory = typer.Typer(
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.add_typer(theory, name="theory")


@theory.callback(invoke_without_command=True)
def describe(context: typer.Context) -> None:
    """Check the paper's statements in numbers.

    Each command prints tables, the statements they decide and whether these hold, and draws a
    figure with --plot. A statement that fails is a finding: the exit status stays 0.

    \b
    Examples:
      giro theory bound --means 0.7,0.4 --rounds 10000 --a 1
      giro theory general-bound --means 0.7,0.4 --plot bounds.png
      giro theory lemmas --json
      giro theory all --out results/theory
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
