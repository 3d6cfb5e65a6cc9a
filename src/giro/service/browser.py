"""The door for pages: `giro.js`, and one address for all that it asks.

A page sends text/plain with its key inside, as `navigator.sendBeacon` can: so a browser asks nobody
before (no preflight), no address holds a key, and what a visitor does while leaving arrives. The
key is one that anybody may read. It is for one bandit, and only for pages of its origins.
"""

from pathlib import Path

from starlette.routing import Route

from giro.service import messages as m
from giro.service.api import Api
from giro.service.endpoint import Answer, Call, Endpoint, route
from giro.service.errors import Problem
from giro.service.service import Service

SCRIPT = Path(__file__).with_name("giro.js")


def routes(service: Service) -> list[Route]:
    """Return the routes of pages."""
    page = _Page(service)
    asked = Endpoint(service, page.ask, body=m.PageRequest, answer=m.PageAnswer, needs_key=False)
    script = Endpoint(service, page.script, needs_key=False)
    return [route("POST", "/v1/page", asked), route("GET", "/giro.js", script)]


class _Page:
    """The handlers."""

    def __init__(self, service: Service) -> None:
        self._service, self._api = service, Api(service)
        headers = {"cache-control": "max-age=3600", "x-content-type-options": "nosniff"}
        self._script = Answer(
            SCRIPT.read_bytes(), headers=headers, media_type="text/javascript; charset=utf-8"
        )

    async def script(self, _: Call) -> Answer:
        """Show the client for pages."""
        return self._script

    async def ask(self, call: Call) -> m.PageAnswer:
        """Decide and reward for a page, with the key in the body. Each item fails alone.

        Rewards may be for decisions of the same body.
        """
        key = self._service.keys.key_of(call.body.key)
        if not key.origins:
            raise Problem(403, "a page needs a key with origins: giro key create --origins")
        key.check_origin(call.headers.get("origin"))
        name, decisions, rewards = key.bandits[0], call.body.decisions, call.body.rewards
        decided, rewarded = list[m.BatchAnswer](), list[m.Outcome]()
        if decisions:
            running = await self._service.bandit(name, key, "decide")
            decided = await self._api.decided_each(running, decisions)
        if rewards:
            running = await self._service.bandit(name, key, "reward")
            rewarded = await self._api.rewarded_each(running, rewards)
        return m.PageAnswer(decided, rewarded)
