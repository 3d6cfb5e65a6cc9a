"""Connection: uvicorn's reader of HTTP, with limits for callers that send nonsense, or slowly.

Such requests never get as far as an endpoint. They are counted here, and their connection is
closed.
"""

import asyncio
from typing import TYPE_CHECKING

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from giro.service.errors import Problem
from giro.service.logs import NO_ROUTE

if TYPE_CHECKING:
    from giro.service.service import Service

_LONGEST_HEAD = 65_536  # bytes of a request before its body
_UNREAD = ("-", NO_ROUTE)  # method and route of requests that were not read so far


class Connection(HttpToolsProtocol):
    """A connection on which a request comes within some seconds, and its head is short."""

    _is_whole, _in_head = True, False  # of the newest request
    _head = 0  # bytes
    _clock: asyncio.TimerHandle | None = None

    @property
    def _service(self) -> "Service":
        service: Service = self.app_state["service"]
        return service

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        super().data_received(data)
        if self._in_head:
            self._head += len(data)
            if self._head > _LONGEST_HEAD and not self.transport.is_closing():
                self._refuse(431, f"the head of a request has at most {_LONGEST_HEAD} bytes")
        if self._is_whole:
            self._stop_clock()
        elif self._clock is None:
            self._start_clock()

    def on_message_begin(self) -> None:
        """Note that a request begins."""
        super().on_message_begin()
        self._is_whole, self._in_head, self._head = False, True, 0

    def on_headers_complete(self) -> None:
        """Hand the head on. It raises an error for an address that is none."""
        super().on_headers_complete()
        self._in_head = False

    def on_message_complete(self) -> None:
        """Note that a request ends."""
        self._is_whole = True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that is not HTTP."""
        self._refuse(400, "this is not HTTP/1.1")

    @property
    def _is_next_to_answer(self) -> bool:
        """Whether the newest request is the only one without an answer."""
        if self._in_head or self._is_whole:
            return self.cycle is None or self.cycle.response_complete
        return not self.cycle.response_started

    # -- giving up -----------------------------------------------------------------------------

    def _start_clock(self) -> None:
        if not self.transport.is_closing():
            seconds = self._service.settings.limits.seconds
            self._clock = self.loop.call_later(seconds, self._give_up)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _give_up(self) -> None:
        """Refuse a request that is not there in time, unless others are answered before it."""
        self._clock = None
        if self.flow.read_paused:
            self._start_clock()
            return
        is_answered = self._is_whole or (not self._in_head and self.cycle.response_complete)
        if is_answered:  # or nothing came at all
            self.transport.close()
        else:
            seconds = self._service.settings.limits.seconds
            self._refuse(408, f"a request comes within {seconds:g} s")

    def _refuse(self, status: int, detail: str) -> None:
        """Count a request that no endpoint knows of, say why it is refused, and close."""
        self._stop_clock()
        if self._in_head or self._is_whole:
            self._service.metrics.answered(*_UNREAD, status, 0.0)
        else:
            self.scope["giro.refused"] = status  # type: ignore[typeddict-unknown-key]  # ours
        if self._is_next_to_answer:
            body = msgspec.json.encode(Problem(status, detail).to_json())
            head = b"content-type: application/problem+json\r\nconnection: close\r\n"
            length = f"content-length: {len(body)}\r\n\r\n".encode()
            self.transport.write(b"".join([STATUS_LINE[status], head, length, body]))
        self.transport.close()
