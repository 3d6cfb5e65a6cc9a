"""Loops: the bandits of keys, and problems in Personalizer's words."""

import http
from functools import partial
from typing import Any

from giro.service.about import About
from giro.service.bandits import Running
from giro.service.endpoint import Answer, Call, Door
from giro.service.errors import Problem
from giro.service.personalizer import messages as m
from giro.service.service import Service

DOOR = "personalizer"  # in the settings of a bandit
DEFAULT_LOOP = "default"
POLICY = "greedy:model=hashed"  # with a floor this is epsilon-greedy that needs no new model
_DEFAULTS: dict[str, Any] = {  # as Personalizer has them
    "policy": POLICY,
    "floor": 0.2,
    "reward_range": (-1.0, 1.0),
    "reward_wait": 600.0,
    "default_reward": 0.0,
    "reward_aggregation": "first",
}
_CODES = {  # of problems that any request can have
    401: "InvalidApiAccess",
    403: "InvalidApiAccess",
    404: "ResourceNotFound",
    408: "RequestTimeout",
    410: "OperationNotAllowed",
    413: "PayloadSizeExceeded",
    429: "TooManyRequests",
}


class Refusal(Problem):
    """A problem with a code of Personalizer."""

    def __init__(self, code: str, detail: str, *, status: int = 400) -> None:
        """Take the code, and a sentence with the way out."""
        super().__init__(status, detail)
        self.code = code


def door_with(code: str) -> Door:
    """Return the manners of an endpoint whose own problems have this code."""
    return Door(partial(_written, code), m.Failure, scheme="Ocp-Apim-Subscription-Key")


def _written(code: str, problem: Problem) -> Answer:
    """Return a problem as Personalizer has it: whatever is wrong with the request is a 400."""
    status = 400 if problem.status in (409, 422) else problem.status
    if isinstance(problem, Refusal):
        code = problem.code
    elif status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
        code = "InternalServerError"
    else:
        code = _CODES.get(status, code)
    headers = dict(problem.headers) | {"x-ms-error-code": code}
    content = {"error": {"code": code, "message": problem.detail}}
    return Answer(content, status, headers)


async def loop_of(service: Service, call: Call, scope: str) -> Running:
    """Return the bandit that the key decides for. It is made when it is first asked for."""
    name = call.key.loop or DEFAULT_LOOP
    call.key.check(scope, name)
    if name not in service.bandits and name not in await service.bandits.names():
        await service.bandits.create(name, _DEFAULTS, About())
    return await service.bandits.get(name)
