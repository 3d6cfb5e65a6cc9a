"""`giro serve`: a server, from its settings to its end."""

import contextlib
import json
import multiprocessing as processes
import os
import signal
import sys
from collections.abc import Callable
from socket import socket
from typing import Any

import msgspec
import uvicorn
from uvicorn.supervisors import multiprocess

from giro import BadParameter, GiroError, Records
from giro.service.app import application
from giro.service.bandits import made
from giro.service.connection import Connection
from giro.service.errors import Problem
from giro.service.keys import all_keys, create_key
from giro.service.logs import configuration
from giro.service.settings import KeySetting, Settings

_SETTINGS = "GIRO_SERVE_SETTINGS"  # in the environment of workers
_ADMIN_KEY = "GIRO_ADMIN_KEY"
_PATIENCE = 15  # seconds in which requests under way are answered at the end
_SILENCE = (
    120  # seconds of silence after which a worker is killed: on a busy machine it starts late
)


class Worker(multiprocess.Process):
    """One of several processes. When it dies, whoever waits for its answer notices.

    uvicorn keeps the worker's end of the pipe open in its own process, and so waits in vain.
    """

    def __init__(self, config: uvicorn.Config, sockets: list[socket]) -> None:
        """Prepare a process that has all imports from the start, which saves a second."""
        super().__init__(config, sockets)
        if sys.platform == "linux":  # elsewhere processes cannot be forked safely
            fork = processes.get_context("fork")
            self.process: Any = fork.Process(target=_run, args=(config, self.target, sockets))

    def start(self) -> None:
        """Start it, and leave its end of the pipe to it."""
        super().start()
        self.child_conn.close()


def _run(config: uvicorn.Config, target: Callable[..., None], sockets: list[socket]) -> None:
    """Serve in a forked process, until a signal comes."""
    config.configure_logging()
    with contextlib.suppress(KeyboardInterrupt):
        target(sockets=sockets)


def serve(settings: Settings, tell: Callable[[str], None]) -> None:
    """Serve until a signal comes. `tell` gets the lines to show at the start."""
    tell_of_key(settings, tell)
    make_bandits(settings)
    where = f"unix:{settings.uds}" if settings.uds else f"http://{settings.host}:{settings.port}"
    tell(f"giro serves {settings.place} at {where}   API: {where}/docs")
    if not settings.uds:
        tell(f"dashboard   {where}/   (sign in with a key)")
    options: dict[str, Any] = {
        "uds": settings.uds,
        "host": settings.host,
        "port": settings.port,
        "log_level": "warning",
        "log_config": configuration(settings.log),
        "access_log": False,
        "server_header": False,
        "http": Connection,
        "ws": "none",
        "proxy_headers": False,  # nothing here depends on who the caller is
        "timeout_graceful_shutdown": _PATIENCE,
        "timeout_worker_healthcheck": _SILENCE,
    }
    signal.signal(signal.SIGTERM, _end)
    if settings.workers == 1:
        uvicorn.run(application(settings), **options)
        return
    os.environ[_SETTINGS] = json.dumps(msgspec.to_builtins(settings))
    worker = "giro.service.run:application_of_worker"
    multiprocess.Process = Worker  # type: ignore[misc]  # uvicorn cannot be told
    uvicorn.run(worker, factory=True, workers=settings.workers, **options)


def _end(*_: Any) -> None:
    """End well. The server raises its signal again when all is answered and kept."""
    sys.exit(0)


def application_of_worker() -> Any:
    """Return the application in one of several processes."""
    return application(msgspec.convert(json.loads(os.environ[_SETTINGS]), Settings))


def tell_of_key(settings: Settings, tell: Callable[[str], None]) -> None:
    """Make the keys of the settings, and the first key, which is shown this once.

    There is no first key to show if there are keys, or if it is given.
    """
    given = os.environ.pop(_ADMIN_KEY, None)
    with Records(settings.store) as records:
        for key in settings.keys:
            _make(key, records)
        if given is not None:
            create_key(records, secret=given, note=_ADMIN_KEY)
        elif not all_keys(records):
            if not settings.is_local:
                raise BadParameter(
                    f"giro serve needs a key to listen on {settings.host}: set {_ADMIN_KEY}, or "
                    "make one by giro key create"
                )
            _, secret = create_key(records, note="the first key")
            tell(f"key   {secret}   (shown this once: keep it)")


def make_bandits(settings: Settings) -> None:
    """Make the bandits of the settings that are not there yet. The others are compared."""
    with Records(settings.store) as records:
        for new in settings.bandits:
            try:
                made(settings.store, records, new.name, new.parameters(), new.about())
            except (Problem, GiroError) as error:
                raise BadParameter(f"the bandit '{new.name}' of the settings: {error}") from None


def _make(key: KeySetting, records: Records) -> None:
    """Make a key whose secret is in the environment."""
    secret = os.environ.get(key.variable)
    if secret is None:
        raise BadParameter(
            f"a key of the settings is in the environment variable {key.variable}: set it"
        )
    create_key(records, secret=secret, **key.granted() | {"note": key.note or key.variable})
