"""Pages: answers to a visitor, with the headers that keep browsers careful."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from giro import Bandit
from giro.service.bandits import Running
from giro.service.dashboard.templates import html
from giro.service.dashboard.visitors import Visitor
from giro.service.endpoint import Answer, Call
from giro.service.errors import Problem
from giro.service.service import Service

Content: TypeAlias = Callable[[Bandit, Mapping[str, str]], dict[str, Any]]
PATIENCE = 1.0  # seconds in which a bandit should be open, or a page says that it is being opened
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
_HTML = "text/html; charset=utf-8"
_AGAIN = "2"  # seconds after which a page asks again whether a bandit is open


class Tab(NamedTuple):
    """A page of a bandit."""

    path: str
    title: str
    content: Content
    in_menu: bool = True


def page(template: str, status: int = 200, **content: Any) -> Answer:
    """Return the answer with a page."""
    return Answer(html(template, **content), status, HEADERS, _HTML)


def moved(address: str, cookie: str | None = None) -> Answer:
    """Return the answer that leads a browser to another page."""
    headers = HEADERS | {"location": address}
    return Answer(b"", 303, headers if cookie is None else headers | {"set-cookie": cookie}, _HTML)


def refused(problem: Problem) -> Answer:
    """Return the page of a problem. Who is not signed in is asked to."""
    if problem.status == 401:
        return moved("sign-in")
    shown = page("problem", problem.status, problem=problem, title="Not possible", visitor=None)
    waiting = {key: value for key, value in problem.headers.items() if key == "retry-after"}
    return shown._replace(headers=HEADERS | waiting)


def being_opened(name: str, visitor: Visitor) -> Answer:
    """Return the page that is shown while a bandit is read from its log, and asks again."""
    shown = page("opening", 202, name=name, title=name, visitor=visitor)
    return shown._replace(headers=HEADERS | {"refresh": _AGAIN})


async def opened(service: Service, name: str) -> Running | None:
    """Return a bandit that keeps up with its log, None if opening it takes longer."""
    if not name:
        raise Problem(404, "no bandit is named: begin with the list of bandits")
    task = asyncio.ensure_future(service.bandits.get(name))
    done, _ = await asyncio.wait([task], timeout=PATIENCE)
    if not done:
        task.add_done_callback(_seen)
        return None
    return task.result()


def _seen(task: "asyncio.Future[Running]") -> None:
    """Look at the result of a bandit that nobody waits for any more."""
    if not task.cancelled():
        task.exception()


def rendered(template: str, tab: Tab, running: Running, call: Call, **more: Any) -> Answer:
    """Return a page of a bandit. This may take a while."""
    bandit = running.bandit
    lag = bandit.lag  # which begins to follow the log
    content = tab.content(bandit, call.query)
    return page(
        template,
        title=f"{tab.title} · {running.name}",
        tab=tab,
        name=running.name,
        running=running,
        bandit=bandit,
        setting=bandit.setting,
        lag=lag,
        **content,
        **more,
    )
