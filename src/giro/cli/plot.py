"""`giro plot`: the curves of a folder of results."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from giro.cli import options
from giro.cli.main import app
from giro.cli.output import check_picture, write_picture
from giro.simulation.kept import load_folder

Scale = Literal["linear", "log"]


@app.command()
def plot(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Written by simulate --out.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="File: .png, .svg or .pdf.")
    ],
    x: Annotated[Scale, typer.Option(help="Axis of rounds.")] = "linear",
    y: Annotated[Scale, typer.Option(help="Axis of regret or reward.")] = "linear",
    metric: options.Metric = None,
) -> None:
    """Draw the curves in a folder of results.

    A panel for each problem, a curve for each policy, with 95% confidence bands for the mean.

    \b
    Examples:
      giro plot results/first -o regret.png
      giro plot results/first -o regret.pdf --x log --y log
      giro plot results/first -o reward.svg --metric reward
    """
    from giro.plots import regret_figure  # noqa: PLC0415  # quick start without matplotlib

    traces = load_folder(folder)
    check_picture(output)
    write_picture(output, regret_figure(traces, metric=metric, x=x, y=y))
