"""A Dask cluster: the one at an address, or one of local processes."""

import logging
import signal
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from typing import Any

from giro.errors import GiroError, needs_extra
from giro.simulation.engines import PATIENCE, Cluster, Crew, reach

with needs_extra("the engine dask", "distributed", extra="dask"):
    from distributed import Client, Future, KilledWorker, LocalCluster, WorkerPlugin
    from distributed.comm import CommClosedError


@contextmanager
def dask_cluster(address: str | None, *, jobs: int) -> Iterator[Cluster]:
    """Open the cluster whose scheduler is at `address`, or one of `jobs` processes here."""
    with _connected(address) if address is not None else _started(jobs) as client:
        crew = Crew(
            size=partial(_cores, client),
            submit=partial(client.submit, pure=False),
            drop=partial(_drop, client),
            lost=(KilledWorker, CancelledError, CommClosedError, TimeoutError),
            check=partial(_check, client),
        )
        yield Cluster(crew)


def _cores(client: Client) -> int:
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        address = client.scheduler.address
        way_out = f"dask worker {address}"
        raise GiroError(f"the scheduler at {address} has no worker: {way_out}") from None
    return max(1, int(sum(client.nthreads().values())))


def _check(client: Client) -> None:
    """Raise if the client has given up, which can leave some of its futures pending."""
    if client.status == "closed":
        raise GiroError("the Dask scheduler is gone, and did not come back")


def _drop(client: Client, futures: list[Future]) -> None:
    if client.status != "closed":
        client.cancel(futures)


def _connected(address: str) -> Client:
    try:
        reach(address)
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, MemoryError) as error:  # MemoryError: another protocol
        raise GiroError(f"no Dask scheduler answers at {address}: {error}") from None


@contextmanager
def _started(jobs: int) -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any free port
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.register_plugin(_DeafToCtrlC())
        yield client


class _DeafToCtrlC(WorkerPlugin):  # type: ignore[misc]  # distributed is untyped
    """Makes a local worker ignore Ctrl-C, which the terminal sends to all processes.

    This process decides how to react.
    """

    def setup(self, worker: Any) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
