"""The dashboard by itself: the pages of a store or of a file, read-only, for this machine."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import uvicorn
from starlette.routing import Router

from giro import BadParameter, Bandit
from giro.service.about import About
from giro.service.bandits import Running
from giro.service.dashboard.door import pages_for
from giro.service.dashboard.visitors import Anybody
from giro.service.endpoint import Elsewhere
from giro.service.errors import Problem
from giro.service.logs import configuration
from giro.service.metrics import Metrics
from giro.service.service import Service
from giro.service.settings import Settings

_QUEUE = 1  # requests for decisions that wait: there are none
_STORES = ("sqlite:///", "postgresql://", "postgres://")
_HOST = "127.0.0.1"
_LOGGER = logging.getLogger("giro.service")


class Shown:
    """The bandits of a store, or the one in a file, opened to be looked at."""

    def __init__(self, place: str, pool: Executor, metrics: Metrics) -> None:
        """Begin with none of them open."""
        self._place, self._pool, self._metrics = place, pool, metrics
        self._file = None if place.startswith(_STORES) else Path(place)
        if self._file is not None and not self._file.is_file():
            raise BadParameter(
                "giro dashboard needs sqlite:///FILE, postgresql://... or a file of Bandit.save; "
                f"there is no file {place!r}"
            )
        self._open: dict[str, asyncio.Task[Running]] = {}

    async def names(self) -> list[str]:
        """Return the names of all bandits."""
        if self._file is not None:
            return [self._file.stem]
        return list(await self._call(Bandit.names, self._place))

    async def get(self, name: str) -> Running:
        """Return a bandit, after opening it if need be."""
        task = self._open.get(name)
        if task is None or (task.done() and task.exception() is not None):
            task = self._open[name] = asyncio.create_task(self._call(self._opened, name))
        return await asyncio.shield(task)

    def _opened(self, name: str) -> Running:
        names = [self._file.stem] if self._file is not None else Bandit.names(self._place)
        if name not in names:
            raise Problem(404, f"there is no bandit '{name}'")
        if self._file is not None:
            bandit = Bandit.load(self._file, progress=False)
        else:
            more: dict[str, Any] = {"read_only": True, "at_once": True, "progress": False}
            bandit = Bandit.open(self._place, name, **more)
        running = Running(bandit, About(), self._pool, self._metrics, queue=_QUEUE)
        running.name = name
        return running

    async def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    async def open_all(self) -> None:
        """Open all bandits ahead of the first visitor."""
        for name in await self.names():
            with contextlib.suppress(Exception):  # its page says what is wrong
                await self.get(name)

    async def close(self) -> None:
        """Close all that are open."""
        for task in self._open.values():
            if task.done() and not task.cancelled() and task.exception() is None:
                await task.result().close()


def application_of_store(place: str) -> Router:
    """Return the ASGI application with the pages of a store or of a file.

    Its service is never started: pages need its threads and limits, and find bandits elsewhere.
    """
    service = Service(Settings(store=place))
    shown = Shown(place, service.pool, service.metrics)
    service.bandits = shown  # type: ignore[assignment]  # which also has `names` and `get`
    routes = pages_for(service, Anybody(), can_act=False)

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        opening = asyncio.create_task(shown.open_all())
        try:
            yield
        finally:
            opening.cancel()
            await shown.close()
            service.pool.shutdown()

    elsewhere = Elsewhere(service, routes)
    return Router(routes, redirect_slashes=False, default=elsewhere, lifespan=lifespan)


def show(place: str, *, port: int, tell: Callable[[str], None]) -> None:
    """Show the pages until a signal comes. `tell` gets the line to show at the start."""
    if place.startswith(_STORES):
        file = place.removeprefix(_STORES[0])
        if file != place and not Path(file).exists():
            raise BadParameter(f"there is no file {file!r}: it comes with the first bandit there")
        Bandit.names(place)  # or it raises
    app = application_of_store(place)
    tell(f"giro shows its dashboard at http://{_HOST}:{port}/   (end it with Ctrl+C)")
    uvicorn.run(
        app,
        host=_HOST,
        port=port,
        log_level="warning",
        log_config=configuration("text"),
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
    )
