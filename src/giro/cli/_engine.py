"""The options --engine and --address, the same for every command that plays runs."""

from typing import Annotated, TypeAlias

import typer

from giro.simulation.engines import EngineName

Engine: TypeAlias = Annotated[EngineName, typer.Option(help="Where the runs are played.")]
Address: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Dask scheduler (tcp://host:8786) or Ray head node (ray://host:10001, auto); "
        "without it a local cluster is started.",
    ),
]
