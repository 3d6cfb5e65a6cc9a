"""History: the model and the logs of a loop. A giro bandit's model follows from its log."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from giro import BadFile, Bandit, read_log
from giro.service.bandits import Running
from giro.service.endpoint import Answer, Call
from giro.service.personalizer import messages as m
from giro.service.personalizer.configuration import date_of
from giro.service.personalizer.loop import Refusal, loop_of
from giro.service.service import Service

_CHUNK = 10_000  # events that are read at once


class History:
    """The handlers of the model and of logs."""

    def __init__(self, service: Service) -> None:
        """Serve the loops of a service."""
        self._service = service

    async def model(self, call: Call) -> Answer:
        """Send the bandit as the file that `Bandit.save` writes: its log and its state."""
        running = await loop_of(self._service, call, "admin")
        content = await running.call(_saved, running.bandit)
        return Answer(content, media_type="application/octet-stream")

    async def put_model(self, call: Call) -> None:
        """Learn the log of such a file, in a loop that has not decided anything yet."""
        running = await loop_of(self._service, call, "admin")
        if running.bandit.n_decisions > 0:
            raise Refusal(
                "OperationNotAllowed",
                "this loop has decisions: import into a new one (giro key create --loop NAME)",
            )
        await running.call(_import, running.bandit, call.body)

    async def reset_model(self, call: Call) -> None:
        """Refuse: a model follows from its log."""
        await loop_of(self._service, call, "admin")
        raise Refusal(
            "ModelResetFailed",
            "a model follows from its log: begin a new loop (giro key create --loop NAME), or "
            "DELETE /logs, which forgets both",
        )

    async def model_properties(self, call: Call) -> m.ModelProperties:
        """Show when the bandit was made, and when it learned last."""
        return m.ModelProperties(*await self._range(call))

    async def logs_properties(self, call: Call) -> m.LogsProperties:
        """Show the time of the first and of the last event."""
        first, last = await self._range(call)
        return m.LogsProperties({"from": first, "to": last})

    async def _range(self, call: Call) -> tuple[str, str]:
        running = await loop_of(self._service, call, "read")
        first, last = await running.call(_times, running.bandit)
        return date_of(first), date_of(last)

    async def delete_logs(self, call: Call) -> None:
        """Erase all decisions and their rewards for good, and with them all that was learned."""
        running = await loop_of(self._service, call, "admin")
        await running.call(_erase_all, running)


def _saved(bandit: Bandit) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.giro")
        bandit.save(path)
        return path.read_bytes()


def _import(bandit: Bandit, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.giro")
        path.write_bytes(content)
        try:
            with Bandit.load(path) as old:
                events = old.events()
        except BadFile as error:
            raise Refusal("InvalidModelImportFormat", str(error).replace(str(path), "it")) from None
    bandit.learn_from(read_log(events))


def _times(bandit: Bandit) -> tuple[float, float]:
    first, last = bandit.events(limit=1), bandit.events(since=bandit.position - 1)
    return float(first["time"][0]), float(last["time"][-1])


def _erase_all(running: Running) -> None:
    for ids in list(_ids(running.bandit)):
        running.bandit.erase(ids)


def _ids(bandit: Bandit) -> Iterator[list[str]]:
    since: int | None = None  # the first that is still there
    while True:
        events = bandit.events(since=since, limit=_CHUNK)
        if events.height == 0:
            return
        decisions = events.filter(events["kind"] == "decision")["id"].to_list()
        if decisions:
            yield decisions
        since = int(events["number"][-1])
