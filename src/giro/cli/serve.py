"""`giro serve`: bandits behind HTTP."""

from pathlib import Path
from typing import Annotated

from giro.cli.main import app
from giro.cli.options import option
from giro.cli.output import tell
from giro.errors import needs_extra


@app.command()
def serve(
    store: Annotated[
        str | None, option("STORE", "sqlite:///FILE or postgresql://... (sqlite:///giro.db).")
    ] = None,
    host: Annotated[str | None, option("HOST", "Where to listen (127.0.0.1).")] = None,
    port: Annotated[int | None, option("PORT", "Likewise (8720).")] = None,
    uds: Annotated[str | None, option("PATH", "A unix socket, instead of host and port.")] = None,
    workers: Annotated[int | None, option("N", "Processes (1).")] = None,
    log: Annotated[str | None, option("FORM", "text, or json for JSON lines (text).")] = None,
    config: Annotated[
        Path | None, option("FILE", "A giro.toml; options here take its place.")
    ] = None,
) -> None:
    """Serve the bandits of a store over HTTP.

    The first start makes a store and a key, which is shown once; GIRO_ADMIN_KEY in the environment
    sets the first key instead. Without a key only programs of this machine can be served. The page
    /docs shows the API.

    \b
    Examples:
      giro serve
      giro serve --store postgresql://giro@db/giro --host 0.0.0.0 --workers 4
    """
    with needs_extra("giro serve", "starlette, msgspec and uvicorn", extra="serve"):
        from giro.service.run import serve as run  # noqa: PLC0415  # an extra
        from giro.service.settings import settings_from  # noqa: PLC0415  # an extra

    given = {"store": store, "host": host, "port": port, "uds": uds, "workers": workers, "log": log}
    run(settings_from(config, given), tell)
