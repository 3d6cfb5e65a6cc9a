"""`giro dashboard`: pages that show the bandits of a store."""

from typing import Annotated

import typer

from giro.cli.main import app
from giro.cli.output import tell
from giro.errors import needs_extra


@app.command()
def dashboard(
    store: Annotated[
        str,
        typer.Argument(
            metavar="STORE|FILE",
            help="sqlite:///FILE, postgresql://..., or a file written by Bandit.save.",
        ),
    ],
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=1, max=65535, help="Where to listen, for this machine only."
        ),
    ] = 8721,
) -> None:
    """Show the bandits of a store on web pages, for this machine only.

    Nothing can be changed there, and the bandits may decide meanwhile. giro serve has the same
    pages for others, who sign in with a key.

    \b
    Examples:
      giro dashboard sqlite:///shop.db
      giro dashboard colours.giro --port 9000
    """
    with needs_extra("giro dashboard", "starlette, jinja2 and uvicorn", extra="serve"):
        from giro.service.dashboard.alone import show  # noqa: PLC0415  # an extra

    show(store, port=port, tell=tell)
