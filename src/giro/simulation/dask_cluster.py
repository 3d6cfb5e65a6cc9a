"""A Dask cluster: the one at an address, or one of local processes."""

import logging
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from typing import Any

from distributed import Client, KilledWorker, LocalCluster, WorkerPlugin
from distributed.comm import CommClosedError
from joblib._dask import DaskDistributedBackend  # the one that joblib calls "dask"

from giro.errors import GiroError
from giro.simulation.cluster import PATIENCE, Backend, Cluster, reach


@contextmanager
def dask_cluster(address: str | None, *, jobs: int) -> Iterator[Cluster]:
    """Give the cluster whose scheduler is at `address`, or one of `jobs` processes here."""
    with _connected(address) if address is not None else _started(jobs) as client:
        yield Cluster(
            Backend(
                make=lambda: _Backend(client=client, wait_for_workers_timeout=PATIENCE),
                workers=max(1, sum(client.ncores().values())),
                streams=True,
                lost=(KilledWorker, CancelledError, CommClosedError, TimeoutError),
            )
        )


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    try:
        reach(address)
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, MemoryError) as error:  # MemoryError: it talks something else
        raise GiroError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            way_out = f"dask worker {address}"
            raise GiroError(f"the scheduler at {address} has no worker: {way_out}") from None
        yield client


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
    """Lets a local worker live on when Ctrl-C is sent to all processes of the terminal.

    This process then decides what to do.
    """

    def setup(self, worker: Any) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


class _Backend(DaskDistributedBackend):  # type: ignore[misc]  # joblib is untyped
    """joblib's backend without three surprises (joblib 1.6)."""

    def submit(self, func: Any, callback: Callable[[Any], None]) -> Future[Any]:
        """Tell also of tasks that Dask has given up; joblib would wait for them for ever."""
        future: Future[Any] = super().submit(func, callback)

        def tell(ended: Future[Any]) -> None:
            if (error := ended.exception()) is not None:
                callback(error)

        future.add_done_callback(tell)
        return future

    def effective_n_jobs(self, n_jobs: int) -> int:
        """Never say 1, at which joblib would play the runs in this process."""
        return max(2, int(super().effective_n_jobs(n_jobs)))

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Take back what is under way; joblib would leave it to the workers."""
        super().abort_everything(ensure_ready)
        self.client.cancel(list(self._results))
