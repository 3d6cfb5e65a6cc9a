"""A Ray cluster: the one at an address, or one of local processes."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from giro.errors import GiroError, needs_extra
from giro.simulation.engines._address import reach
from giro.simulation.engines._driver import Cluster

with needs_extra("the engine ray", "ray", extra="ray"):
    import ray

_QUIET = {"log_to_driver": False, "logging_level": logging.CRITICAL}


@contextmanager
def ray_cluster(address: str | None, *, jobs: int) -> Iterator[Cluster]:
    """Give the cluster whose head node is at `address`, or one of `jobs` processes here.

    A connection that this process already has is used as it is.
    """
    mine = not ray.is_initialized()
    if mine and address is None:
        ray.init(address="local", num_cpus=jobs, include_dashboard=False, **_QUIET)
    elif mine:
        _connect(str(address))
    tasks = _Tasks()
    try:
        yield Cluster(
            workers=lambda: max(1, int(ray.cluster_resources().get("CPU", 1))),
            submit=tasks.submit,
            drop=tasks.drop,
            lost=(ray.exceptions.RayError,),
        )
    finally:
        if mine:
            ray.shutdown()


class _Tasks:
    """Calls as tasks of Ray, each of which has a core for itself."""

    def __init__(self) -> None:
        self._task = cache(ray.remote(num_cpus=1, max_retries=3))  # as Ray ships every new one
        self._refs: WeakKeyDictionary[Future[bytes], Any] = WeakKeyDictionary()

    def submit(self, function: Callable[..., bytes], *arguments: Any) -> Future[bytes]:
        ref = self._task(function).remote(*arguments)
        future: Future[bytes] = ref.future()
        self._refs[future] = ref
        return future

    def drop(self, futures: list[Future[bytes]]) -> None:
        for future in futures:
            ray.cancel(self._refs[future], force=True)


def _connect(address: str) -> None:
    """Connect to host:port, ray://host:port, or `auto`, the cluster of this machine."""
    try:
        if address != "auto":
            reach(address)
        ray.init(address=address, **_QUIET)
    except (OSError, ValueError, RuntimeError, ImportError) as error:  # ray:// is an extra of Ray
        raise GiroError(f"no Ray cluster answers at {address}: {error}") from None
