"""Actions: the page on which somebody with an admin key changes a bandit."""

import json
import math
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from giro import BadParameter, GiroError
from giro.service.about import arm_added
from giro.service.bandits import Running
from giro.service.dashboard.pages import Tab, being_opened, moved, opened, rendered
from giro.service.dashboard.sessions import form_in
from giro.service.dashboard.tabs import TABS
from giro.service.dashboard.templates import link
from giro.service.dashboard.visitors import Sessions, check_origin
from giro.service.endpoint import Answer, Call
from giro.service.errors import Problem, problem_of
from giro.service.service import Service

_Action: TypeAlias = Callable[[Running, Mapping[str, str]], Awaitable[str]]
_ARMS = 200  # that are offered while somebody types
_DONE = {  # what a page says afterwards
    "arm_added": "The arm can be chosen from now on.",
    "arm_retired": "The arm is not chosen any more. Its past stays.",
    "shared": "The share counts from now on.",
    "erased": "The decisions are gone for good.",
    "nothing_erased": "The bandit has none of these decisions.",
}


def _content(bandit: Any, query: Mapping[str, str]) -> dict[str, Any]:
    return {"arms": bandit.arms[:_ARMS], "id": query.get("id", "")}


_TAB = Tab("manage", "Manage", _content)


class Actions:
    """The handlers."""

    def __init__(self, service: Service, sessions: Sessions) -> None:
        """Keep the service and its sessions."""
        self._service, self._sessions = service, sessions
        self._actions: dict[str, _Action] = {
            "add_arm": self._add_arm,
            "retire_arm": self._retire_arm,
            "share": self._share,
            "erase": self._erase,
        }

    async def show(self, call: Call) -> Answer:
        """Show the forms, after signing in."""
        try:
            return await self._shown(call, None)
        except Problem as problem:
            if problem.status != 401:
                raise
            return moved(link("sign-in", back=link("manage", **call.query)))

    async def _shown(self, call: Call, problem: Problem | None) -> Answer:
        name = call.query.get("name", "")
        visitor = await self._sessions.visitor(call.headers)
        visitor.key.check("admin", name)
        running = await opened(self._service, name)
        if running is None:
            return being_opened(name, visitor)
        more = {
            "tabs": TABS,
            "visitor": visitor,
            "may_act": True,
            "can_act": True,
            "problem": problem,
            "done": _DONE.get(call.query.get("done", "")),
        }
        make = partial(rendered, "manage", _TAB, running, call, **more)
        answer: Answer = await running.call(make)
        return answer if problem is None else answer._replace(status=problem.status)

    async def act(self, call: Call) -> Answer:
        """Do as a form says, and show the page again."""
        name, form = call.query.get("name", ""), form_in(call)
        visitor = await self._sessions.visitor(call.headers)
        check_origin(call.headers)
        visitor.check_form(form.get("token", ""))
        visitor.key.check("admin", name)
        running = await opened(self._service, name)
        if running is None:
            return being_opened(name, visitor)
        action = self._actions.get(form.get("do", ""))
        if action is None:
            raise Problem(422, "this form is not known: open the page again")
        try:
            done = await action(running, form)
        except (GiroError, Problem) as error:
            return await self._shown(call, problem_of(error))
        return moved(link("manage", name=name, done=done))

    async def _add_arm(self, running: Running, form: Mapping[str, str]) -> str:
        arm, text = form.get("arm", ""), form.get("payload", "")
        payload = {} if not text.strip() else {arm: _parsed(text)}
        if payload or running.about.payloads is not None:
            change = partial(arm_added, arm=arm, payload=payload)
            await self._service.bandits.change(running.name, change)
        await running.call(running.bandit.add_arm, arm)
        return "arm_added"

    async def _retire_arm(self, running: Running, form: Mapping[str, str]) -> str:
        await running.call(running.bandit.retire_arm, form.get("arm", ""))
        return "arm_retired"

    async def _share(self, running: Running, form: Mapping[str, str]) -> str:
        text = form.get("share", "")
        try:
            share = float(text)
        except ValueError:
            share = math.nan
        if not 0.0 <= share <= 100.0:
            raise BadParameter(f"a share is a number of per cent, from 0 to 100, got '{text}'")
        await running.change(share=share / 100.0)
        return "shared"

    async def _erase(self, running: Running, form: Mapping[str, str]) -> str:
        ids = form.get("ids", "").split()
        most = self._service.settings.limits.batch
        if not ids or len(ids) > most:
            raise BadParameter(f"give 1 to {most} ids of decisions, one on each line")
        if form.get("sure") != "yes":
            raise BadParameter("say that you are sure: what is erased does not come back")
        await self._service.call(self._service.forget, ids)
        return "erased" if await running.call(running.bandit.erase, ids) else "nothing_erased"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise BadParameter(f'a payload is JSON, as true, 3 or "text", got {text}') from None
