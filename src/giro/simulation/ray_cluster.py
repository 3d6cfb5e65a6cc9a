"""A Ray cluster: the one at an address, or one of local processes."""

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from giro.errors import GiroError
from giro.simulation.cluster import Backend, Cluster, reach

_QUIET = {"log_to_driver": False, "logging_level": logging.CRITICAL}

# A worker that dies is started again, on any machine that is left, and plays its chunk again.
_WORKER = {
    "num_cpus": 0,  # otherwise it would wait for a free core when its machine is lost
    "scheduling_strategy": "SPREAD",
    "max_restarts": -1,
    "max_task_retries": 3,
}


def ray_cluster(address: str | None, *, jobs: int) -> AbstractContextManager[Cluster]:
    """Return the cluster whose head node is at `address`, or one of `jobs` processes here.

    A connection that this process already has is used as it is.
    """
    import ray  # noqa: PLC0415  # an extra

    return _opened(ray, address, jobs)


@contextmanager
def _opened(ray: Any, address: str | None, jobs: int) -> Iterator[Cluster]:
    mine = not ray.is_initialized()
    if mine and address is None:
        ray.init(address="local", num_cpus=jobs, include_dashboard=False, **_QUIET)
    elif mine:
        _connect(ray, str(address))
    try:
        yield Cluster(
            Backend(
                make=_backend,
                workers=int(ray.cluster_resources().get("CPU", 1)),
                streams=False,  # joblib gives no generators of a backend made of a pool
                lost=(ray.exceptions.RayError,),
            )
        )
    finally:
        if mine:
            ray.shutdown()


def _backend() -> Any:
    """Return joblib's backend, which ends its workers at once.

    Its pool asks them to end, which Ray then tries again, and says so on standard output.
    """
    import ray  # noqa: PLC0415  # an extra
    from ray.util.joblib.ray_backend import RayBackend  # noqa: PLC0415  # an extra

    class Backend(RayBackend):  # type: ignore[misc]  # joblib is untyped
        def terminate(self) -> None:
            workers = self._pool._actor_pool if self._pool is not None else []
            while workers:
                ray.kill(workers.pop()[0])
            super().terminate()

    return Backend(ray_remote_args=_WORKER)


def _connect(ray: Any, address: str) -> None:
    """Connect to host:port, ray://host:port, or `auto`, the cluster of this machine."""
    try:
        if address != "auto":
            reach(address)
        ray.init(address=address, **_QUIET)
    except (OSError, ValueError, RuntimeError, ImportError) as error:  # ray:// is an extra of Ray
        raise GiroError(f"no Ray cluster answers at {address}: {error}") from None
