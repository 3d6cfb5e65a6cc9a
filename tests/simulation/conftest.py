"""Clusters on a busy machine: they answer late, and the tests wait."""

import importlib.util
from collections.abc import Iterator

import pytest
from simulation.notes import HANGS


@pytest.fixture(autouse=True, scope="session")
def patient_dask() -> Iterator[None]:
    """Let processes that start or answer late be waited for, where Dask is there."""
    if importlib.util.find_spec("distributed") is None:
        yield
        return
    dask = importlib.import_module("dask")
    importlib.import_module("distributed")  # whose settings would come over ours
    limits = ("comm.timeouts.connect", "comm.timeouts.tcp", "scheduler.worker-ttl")
    with dask.config.set({f"distributed.{limit}": f"{HANGS} s" for limit in limits}):
        yield
