"""The application: all doors on one service, and the answers about itself."""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeAlias

from starlette.routing import Route, Router

from giro.service import administration, api, browser, dashboard, openapi, openfeature, personalizer
from giro.service import messages as m
from giro.service.endpoint import Answer, Call, Elsewhere, Endpoint, route
from giro.service.errors import Problem
from giro.service.keys import Key
from giro.service.metrics import (
    KIND,
    MEDIA_TYPE,
    counts_in,
    exposition,
    samples_of,
    samples_of_bandit,
)
from giro.service.service import Service
from giro.service.settings import Settings

RoutesOf: TypeAlias = Callable[[Service], list[Route]]
DOORS: Sequence[RoutesOf] = (
    api.routes,
    browser.routes,
    administration.routes,
    openfeature.routes,
    personalizer.routes,
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
    routes += dashboard.routes(service)  # for people: not in the document of the API

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[dict[str, Service]]:
        await service.start()
        await _open_bandits(service)
        service.is_ready = True
        try:
            yield {"service": service}  # for connections
        finally:
            await service.close()

    elsewhere = Elsewhere(service, routes)
    return Router(routes, redirect_slashes=False, default=elsewhere, lifespan=lifespan)


async def _open_bandits(service: Service) -> None:
    """Open the bandits of the settings, which are there, and begin to compile their policies."""
    for new in service.settings.bandits:
        running = await service.bandits.get(new.name)
        running.prepare()
        service.expected.append(running)


async def _metrics(service: Service, key: Key) -> bytes:
    """Return the counts of all workers of this machine, and of the bandits the key may read."""
    own = service.metrics
    counts = [own.now()]
    if service.settings.workers > 1:
        here = own.name.partition("/")[0]
        for name, record in (await service.call(service.records.all, KIND)).items():
            if name.partition("/")[0] == here and name != own.name:
                counts.append(counts_in(record.value))
    samples = [sample for each in counts for sample in samples_of(each)]
    for running in service.bandits.running():
        if key.may("read", running.name):
            samples += await running.call(samples_of_bandit, running.bandit, running.waiting)
    return exposition(samples)


def _about(service: Service, routes: Sequence[Route]) -> list[Route]:
    """Return the routes about the service itself."""

    async def livez(_: Call) -> m.Status:
        """Answer, because the process lives."""
        return m.Status("alive")

    async def readyz(_: Call) -> m.Status:
        """Answer with 200 when the bandits of the settings are open and compiled."""
        if service.is_closing or not service.is_ready:
            raise Problem(503, "the service is starting or ending", wait=1)
        if any(running.is_preparing for running in service.expected):
            raise Problem(503, "policies are being compiled", wait=1)
        return m.Status("ready")

    async def openapi_json(_: Call) -> Answer:
        """Show this document."""
        return Answer(document)

    async def docs(_: Call) -> Answer:
        """Show the API to people."""
        return Answer(page, media_type="text/html; charset=utf-8")

    async def metrics(call: Call) -> Answer:
        """Show metrics for Prometheus. The key needs the scope read."""
        call.key.check("read")
        return Answer(await _metrics(service, call.key), media_type=MEDIA_TYPE)

    own = [route("GET", "/metrics", Endpoint(service, metrics))] + [
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
