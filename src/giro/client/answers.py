"""What a service answers, as decisions and errors of giro."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from giro.errors import BadParameter, Contradiction, GiroError, ServiceError, UnknownDecision

SUCCESS = range(200, 300)
BUSY = (408, 429, 500, 502, 503, 504)  # of a service that may answer later
_KEY = (401, 403)
_UNKNOWN, _AGAINST = 404, 409


class Decision(NamedTuple):
    """An arm that a service chose, or that was taken because it was away (`is_fallback`).

    Report its reward under its `id`.
    """

    id: str
    arm: str
    propensity: float | None
    propensities: dict[str, float] | None
    is_fallback: bool = False


class Reply(NamedTuple):
    """An answer of a service."""

    status: int
    content: bytes
    wait: float | None = None  # seconds after which to come back

    def json(self) -> Any:
        """Return its content."""
        try:
            return json.loads(self.content) if self.content else None
        except ValueError:
            raise ServiceError(
                f"what answers is no giro serve: status {self.status}", status=self.status
            ) from None

    @property
    def detail(self) -> str:
        """The sentence about the error."""
        try:
            return str(json.loads(self.content)["detail"])
        except (ValueError, TypeError, KeyError):
            return f"the service answers with status {self.status}"


def check_success(reply: Reply) -> None:
    """Raise the error that a reply tells of."""
    if reply.status not in SUCCESS:
        raise error_of(reply.status, reply.detail)


def content_of(reply: Reply) -> Any:
    """Return the content of a reply, or raise the error that it tells of."""
    check_success(reply)
    return reply.json()


def error_of(status: int, detail: str, *, id: str | None = None) -> GiroError:
    """Return the error that a status stands for. `id` is the decision it was about."""
    if status in _KEY or status in BUSY:
        return ServiceError(detail, status=status)
    if status == _AGAINST:
        return Contradiction(detail)
    if status == _UNKNOWN and id is not None:
        return UnknownDecision(id)
    return BadParameter(detail)


def decision_of(plain: Mapping[str, Any]) -> Decision:
    """Return the decision in an answer."""
    return Decision(plain["id"], plain["arm"], plain["propensity"], plain["propensities"])
