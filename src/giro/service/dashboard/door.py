"""The door of the dashboard: its routes in a service, or on a store alone."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any

from starlette.routing import Route

from giro.service.bandits import Running
from giro.service.dashboard import assets, past
from giro.service.dashboard.actions import Actions
from giro.service.dashboard.lists import line_of
from giro.service.dashboard.pages import (
    HEADERS,
    PATIENCE,
    Tab,
    being_opened,
    moved,
    opened,
    page,
    refused,
    rendered,
)
from giro.service.dashboard.sessions import SignIn
from giro.service.dashboard.tabs import TABS
from giro.service.dashboard.templates import link
from giro.service.dashboard.visitors import Sessions, Visitor, Visitors
from giro.service.endpoint import Answer, Call, Door, Endpoint, Handler, route
from giro.service.errors import Problem
from giro.service.service import Service

_FORMS = {
    "events.jsonl": (past.json_lines, "application/jsonl"),
    "events.csv": (past.comma_separated, "text/csv; charset=utf-8"),
}
_BANDITS = 50  # of a page
_WRITTEN = Door(refused)


def routes(service: Service) -> list[Route]:
    """Return the routes of the pages of a service, where visitors sign in."""
    sessions = Sessions(service)
    sign_in, actions = SignIn(sessions), Actions(service, sessions)
    return [
        *pages_for(service, sessions, can_act=True),
        at(service, "GET", "/sign-in", sign_in.show),
        at(service, "POST", "/sign-in", sign_in.begin, body=bytes),
        at(service, "POST", "/sign-out", sign_in.end, body=bytes),
        at(service, "GET", "/manage", actions.show),
        at(service, "POST", "/manage", actions.act, body=bytes),
    ]


def pages_for(service: Service, visitors: Visitors, *, can_act: bool) -> list[Route]:
    """Return the routes of the pages that only show."""
    pages = _Pages(service, visitors, can_act=can_act)
    return [
        at(service, "GET", "/", pages.list),
        *(at(service, "GET", f"/{tab.path}", partial(pages.show, tab)) for tab in TABS),
        *(at(service, "GET", f"/{name}", partial(pages.export, name)) for name in _FORMS),
        at(service, "GET", "/assets/{file}", pages.asset),
    ]


def at(service: Service, method: str, path: str, handler: Handler, **more: Any) -> Route:
    """Return a route to a page."""
    endpoint = Endpoint(service, handler, door=_WRITTEN, needs_key=False, **more)
    return route(method, path, endpoint)


class _Pages:
    """The handlers."""

    def __init__(self, service: Service, visitors: Visitors, *, can_act: bool) -> None:
        self._service, self._visitors, self._can_act = service, visitors, can_act

    async def list(self, call: Call) -> Answer:
        """Show all bandits that the visitor may read."""
        visitor = await self._visitor(call)
        if visitor is None:
            return _to_sign_in("", call)
        names = [n for n in await self._service.bandits.names() if visitor.key.may("read", n)]
        wanted = call.query.get("find", "")
        names = [name for name in names if wanted.casefold() in name.casefold()]
        text = call.query.get("page", "1")
        n_pages = max(1, -(-len(names) // _BANDITS))
        number = min(max(1, int(text)) if text.isdecimal() and len(text) < 9 else 1, n_pages)
        shown = names[(number - 1) * _BANDITS : number * _BANDITS]
        lines = await self._lines(shown)
        answer = page(
            "list",
            title="Bandits",
            visitor=visitor,
            lines=lines,
            n_names=len(names),
            find=wanted,
            page=number,
            n_pages=n_pages,
            store=self._service.settings.place,
            can_act=self._can_act,
        )
        if None in lines.values():
            return answer._replace(headers=HEADERS | {"refresh": "3"})
        return answer

    async def _lines(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the line of each bandit, None for those that are still being opened."""
        tasks = {name: asyncio.ensure_future(self._line(name)) for name in names}
        if tasks:
            await asyncio.wait(tasks.values(), timeout=PATIENCE)
        lines = dict[str, Any]()
        for name, task in tasks.items():
            if not task.done():
                task.cancel()
            is_there = task.done() and not task.cancelled()
            lines[name] = task.result() if is_there else None
        return lines

    async def _line(self, name: str) -> Any:
        try:
            running = await self._service.bandits.get(name)
            return await running.call(_followed_line, running)
        except Exception as error:  # one bandit that is damaged does not hide the others
            return {"name": name, "problem": str(error)}

    async def show(self, tab: Tab, call: Call) -> Answer:
        """Show a page of a bandit."""
        visitor = await self._visitor(call)
        if visitor is None:
            return _to_sign_in(tab.path, call)
        name = call.query.get("name", "")
        visitor.key.check("read", name)
        running = await opened(self._service, name)
        if running is None:
            return being_opened(name, visitor)
        if tab.path == "learned" and not running.bandit.is_ready and running.bandit.n_decisions:
            running.prepare()
        more = {
            "tabs": TABS,
            "visitor": visitor,
            "may_act": self._can_act and visitor.key.may("admin", name),
            "can_act": self._can_act,
        }
        answer: Answer = await running.call(partial(rendered, tab.path, tab, running, call, **more))
        return answer

    async def export(self, file: str, call: Call) -> Answer:
        """Write down the whole log, part by part."""
        visitor = await self._visitor(call)
        if visitor is None:
            return _to_sign_in("events", call)
        name = call.query.get("name", "")
        visitor.key.check("read", name)
        running = await opened(self._service, name)
        if running is None:
            return being_opened(name, visitor)
        written, media_type = _FORMS[file]
        headers = HEADERS | {"content-disposition": f'attachment; filename="{file}"'}
        return Answer(_parts(running, written), headers=headers, media_type=media_type)

    async def asset(self, call: Call) -> Answer:
        """Give a file of the pages."""
        return assets.answer(call.path["file"])

    async def _visitor(self, call: Call) -> Visitor | None:
        """Return who asks, or None if that one has to sign in first."""
        try:
            return await self._visitors.visitor(call.headers)
        except Problem as problem:
            if problem.status == 401:
                return None
            raise


def _to_sign_in(path: str, call: Call) -> Answer:
    """Lead to the page that asks for a key, and from there back."""
    back = link(path, **call.query)
    return moved(link("sign-in", back=back or None))


def _followed_line(running: Running) -> Any:
    _ = running.bandit.lag  # which begins to follow the log
    return line_of(running)


async def _parts(running: Running, written: Callable[..., bytes]) -> AsyncIterator[bytes]:
    parts, is_first = running.bandit.event_parts(), True
    while (part := await running.call(next, parts, None)) is not None:
        yield await running.call(partial(written, part, first=is_first))
        is_first = False
