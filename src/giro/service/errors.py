"""Problems: everything wrong with a request, and the status and sentence that say so."""

import http
from typing import Any

from giro import Contradiction, GiroError, StoreError, UnknownDecision, UnknownName


class Problem(Exception):
    """A request that is refused. Doors write it down in their own form."""

    def __init__(self, status: int, detail: str, *, wait: float | None = None) -> None:
        """Take the HTTP status, and a sentence with the way out.

        `wait` is the number of seconds after which the request may succeed.
        """
        super().__init__(detail)
        self.status, self.detail, self.wait = status, detail, wait

    def to_json(self) -> dict[str, Any]:
        """Return the problem as RFC 9457 has it."""
        title = http.HTTPStatus(self.status).phrase
        return {"type": "about:blank", "title": title, "status": self.status, "detail": self.detail}

    @property
    def headers(self) -> dict[str, str]:
        """The headers of an answer that says so."""
        headers = {} if self.wait is None else {"retry-after": str(max(1, round(self.wait)))}
        if self.status == http.HTTPStatus.UNAUTHORIZED:
            headers["www-authenticate"] = "Bearer"
        return headers


def problem_of(error: BaseException) -> Problem:
    """Return the problem that an error of giro, or of this program, is for the caller."""
    match error:
        case Problem():
            return error
        case UnknownDecision():
            return Problem(404, str(error))
        case Contradiction():
            return Problem(409, str(error))
        case StoreError():
            return Problem(503, "the store cannot be reached or written: try again", wait=1)
        case UnknownName() | GiroError():
            return Problem(422, str(error))
        case _:
            return Problem(500, "the service has failed, and has written down why in its log")
