"""The application: all doors on one service, and the answers about itself."""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeAlias

import msgspec
from starlette.routing import Route, Router

from giro.service import administration, api, openapi, openfeature
from giro.service import messages as m
from giro.service.endpoint import Answer, Call, Endpoint, nowhere, route
from giro.service.errors import Problem
from giro.service.service import Service
from giro.service.settings import Settings

RoutesOf: TypeAlias = Callable[[Service], list[Route]]
DOORS: Sequence[RoutesOf] = (
    api.routes,
    administration.routes,
    openfeature.routes,
)  # other doors add themselves here


def application(settings: Settings) -> Router:
    """Return the ASGI application of these settings. It opens the store when it starts."""
    return application_of(Service(settings))


def application_of(service: Service) -> Router:
    """Return the ASGI application of a service.

    It is a bare router: endpoints need none of Starlette's middleware.
    """
    routes = [each for door in DOORS for each in door(service)]
    routes += _about(service, routes)

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        await service.start()
        await _make_bandits(service)
        service.is_ready = True
        try:
            yield
        finally:
            await service.close()

    return Router(routes, redirect_slashes=False, default=nowhere, lifespan=lifespan)


async def _make_bandits(service: Service) -> None:
    """Make the bandits of the settings that are not there yet, and open all of these."""
    for plain in service.settings.bandits:
        new = msgspec.convert(plain, m.NewBandit)
        await service.bandits.create(new.name, new.parameters(), new.about())
        await service.bandits.get(new.name)


def _about(service: Service, routes: Sequence[Route]) -> list[Route]:
    """Return the routes that need no key."""

    async def livez(_: Call) -> m.Status:
        """Answer, because the process lives."""
        return m.Status("alive")

    async def readyz(_: Call) -> m.Status:
        """Answer with 200 when bandits are open and requests are welcome."""
        if service.is_closing or not service.is_ready:
            raise Problem(503, "the service is starting or ending", wait=1)
        return m.Status("ready")

    async def openapi_json(_: Call) -> Answer:
        """Show this document."""
        return Answer(document)

    async def docs(_: Call) -> Answer:
        """Show the API to people."""
        return Answer(page, media_type="text/html; charset=utf-8")

    own = [
        route("GET", path, Endpoint(service, handler, answer=answer, needs_key=False))
        for path, handler, answer in (
            ("/livez", livez, m.Status),
            ("/readyz", readyz, m.Status),
            ("/openapi.json", openapi_json, None),
            ("/docs", docs, None),
        )
    ]
    document = openapi.document([*routes, *own])
    page = openapi.page(document)
    return own
