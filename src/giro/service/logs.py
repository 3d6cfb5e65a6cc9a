"""Logs of the service: lines for people, or JSON lines for programs.

No log has a key, a context or anything else of a body. So errors that nobody expected are written
down by their kind and place: their messages may quote what somebody sent.
"""

import json
import logging
import traceback
from typing import Any

FORMS = ("text", "json")
NO_ROUTE = "-"  # in logs and metrics: of a request for another path, or one that was not read
_REQUESTS = logging.getLogger("giro.service.requests")


class JsonLines(logging.Formatter):
    """Writes each record as one JSON object on a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        plain: dict[str, Any] = {
            "time": round(record.created, 6),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        plain |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1] is not None:
            plain["error"] = place_of(record.exc_info[1])
        return json.dumps(plain)


def configuration(form: str) -> dict[str, Any]:
    """Return the configuration of logs for giro and its server, for `logging.config.dictConfig`."""
    formats: dict[str, Any] = {"format": "%(levelname)s: %(message)s"}
    formatter = {"()": "giro.service.logs.JsonLines"} if form == "json" else formats
    own = {"handlers": ["error"], "propagate": False, "level": "WARNING"}
    loggers = {name: dict(own) for name in ("giro", "uvicorn", "py.warnings")}
    loggers[_REQUESTS.name] = own | {"level": "INFO" if form == "json" else "WARNING"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": formatter},
        "handlers": {"error": {"class": "logging.StreamHandler", "formatter": "line"}},
        "loggers": loggers,
    }


def log_request(method: str, route: str, status: int, seconds: float) -> None:
    """Write down a request, in a log of JSON lines."""
    if _REQUESTS.isEnabledFor(logging.INFO):
        fields = {"method": method, "route": route, "status": status, "seconds": round(seconds, 6)}
        _REQUESTS.info("request", extra={"fields": fields})


def place_of(error: BaseException) -> str:
    """Return the kind of an error and where it was raised, without its message.

    An error of a database has its code, and an error with a cause comes after that.

    >>> try:
    ...     {}["a secret"]
    ... except KeyError as error:
    ...     "secret" in place_of(error).splitlines()[-1]
    False
    """
    places = traceback.extract_tb(error.__traceback__)
    lines = [f"  {place.filename}:{place.lineno} in {place.name}" for place in places]
    code = getattr(error, "sqlite_errorname", None) or getattr(error, "sqlstate", None) or ""
    own = "\n".join([*lines, f"{type(error).__name__} {code}".rstrip()])
    return own if error.__cause__ is None else f"{place_of(error.__cause__)}\n{own}"
