"""A Ray cluster: the one at an address, or one of local processes."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from giro.errors import GiroError, needs_extra
from giro.simulation.engines import Cluster, Crew, reach

_QUIET = {"log_to_driver": False, "logging_level": logging.CRITICAL}


def ray_cluster(address: str | None, *, jobs: int) -> AbstractContextManager[Cluster]:
    """Return the cluster whose head node is at `address`, or one of `jobs` processes here.

    An address is host:port, ray://host:port, or `auto`, the cluster of this machine. An existing
    connection of this process is used unchanged.
    """
    with needs_extra("the engine ray", "ray", extra="ray"):
        import ray  # noqa: PLC0415  # too large for every environment that imports all modules

    return _opened(ray, address, jobs)


@contextmanager
def _opened(ray: Any, address: str | None, jobs: int) -> Iterator[Cluster]:
    connects = not ray.is_initialized()
    if connects and address is None:
        ray.init(address="local", num_cpus=jobs, include_dashboard=False, **_QUIET)
    elif connects:
        try:
            if address != "auto":  # the cluster of this machine
                reach(str(address))
            ray.init(address=address, **_QUIET)
        except (OSError, ValueError, RuntimeError, ImportError) as error:  # ray:// is its extra
            raise GiroError(f"no Ray cluster answers at {address}: {error}") from None
    try:
        yield Cluster(_crew(ray))
    finally:
        if connects:
            ray.shutdown()


def _crew(ray: Any) -> Crew:
    task = cache(ray.remote(num_cpus=1, max_retries=3))  # Ray sends every new task to all workers
    refs: WeakKeyDictionary[Future[bytes], Any] = WeakKeyDictionary()

    def submit(function: Callable[..., bytes], *arguments: Any) -> Future[bytes]:
        ref = task(function).remote(*arguments)
        future: Future[bytes] = ref.future()
        refs[future] = ref
        return future

    return Crew(
        size=lambda: max(1, int(ray.cluster_resources().get("CPU", 1))),
        submit=submit,
        drop=lambda futures: [ray.cancel(refs[future], force=True) for future in futures],
        lost=(ray.exceptions.RayError,),
    )
