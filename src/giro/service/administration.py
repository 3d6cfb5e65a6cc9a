"""Keys over HTTP, for those who may do everything with all bandits."""

from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.routing import Route

from giro import BadParameter
from giro.service.endpoint import Call, Endpoint, Handler, route
from giro.service.errors import Problem
from giro.service.keys import Grant, all_keys, create_key, revoke_key, rotate_key
from giro.service.service import Service


class NewKey(Grant, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A key to make, or with `replace` one that takes the place of another."""

    scopes: tuple[str, ...] = ("decide", "reward", "read")
    rate: Annotated[float, Meta(gt=0)] | None = None
    replace: str | None = None
    overlap: Annotated[float, Meta(ge=0)] = 86400.0


class KeyMade(Struct):
    """A new key. Its secret is shown this once."""

    id: str
    secret: str


class KeyShown(Grant, frozen=True):
    """A key without its secret."""

    id: str
    created: float
    until: float | None


class KeyList(Struct):
    """The keys that are valid."""

    keys: list[KeyShown]


def routes(service: Service) -> list[Route]:
    """Return the routes of keys."""
    keys = _Keys(service)

    def at(method: str, path: str, handler: Handler, **more: Any) -> Route:
        return route(method, f"/v1/keys{path}", Endpoint(service, handler, **more))

    return [
        at("POST", "", keys.create, body=NewKey, answer=KeyMade, status=201),
        at("GET", "", keys.list, answer=KeyList),
        at("DELETE", "/{id}", keys.revoke, status=204),
    ]


class _Keys:
    """The handlers."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def create(self, call: Call) -> KeyMade:
        """Make a key. Its secret is in this answer and nowhere else."""
        _check(call)
        key, secret = await self._service.call(self._made, call.body)
        await self._service.follow_once()
        return KeyMade(key.id, secret)

    def _made(self, new: NewKey) -> Any:
        records = self._service.records
        if new.replace is not None:
            return rotate_key(records, new.replace, overlap=new.overlap)
        return create_key(records, **new.granted())

    async def list(self, call: Call) -> dict[str, Any]:
        """List the keys that are valid, without their secrets."""
        _check(call)
        keys = await self._service.call(all_keys, self._service.records)
        return {"keys": [key.shown() for key in keys]}

    async def revoke(self, call: Call) -> None:
        """Revoke a key. All processes follow within seconds."""
        _check(call)
        try:
            await self._service.call(revoke_key, self._service.records, call.path["id"])
        except BadParameter as error:
            raise Problem(404, str(error)) from None
        await self._service.follow_once()


def _check(call: Call) -> None:
    """Refuse keys that may not do everything: they could make one that may."""
    call.key.check("admin")
    if "*" not in call.key.bandits:
        raise Problem(403, "keys are made and revoked by a key with 'admin' for all bandits")
