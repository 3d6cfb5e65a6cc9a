"""Ray, by a stand-in for it: the package is too large for every test environment."""

import sys
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from simulation.notes import ONE_ARM
from simulation.traces import numbers, small_work

from giro import GiroError, simulate
from giro.simulation.engines import open_engine
from giro.simulation.trace import merge


class Ray:
    """What giro uses of Ray, in this process; the first call is lost, and then every other one."""

    exceptions = SimpleNamespace(RayError=ConnectionError)

    def __init__(self, *, connected: bool = False) -> None:
        self.connected, self.done, self.calls = connected, list[Any](), 0

    def is_initialized(self) -> bool:
        return self.connected

    def init(self, **options: Any) -> None:
        self.done.append(options["address"])

    def shutdown(self) -> None:
        self.done.append("shutdown")

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def cancel(self, ref: Any, *, force: bool) -> None:
        self.done.append("cancelled")

    def remote(self, **options: Any) -> Any:
        return lambda function: SimpleNamespace(remote=lambda *given: self._called(function, given))

    def _called(self, function: Any, given: tuple[Any, ...]) -> Any:
        future: Future[bytes] = Future()
        self.calls += 1
        if self.calls % 2:
            future.set_exception(ConnectionError("a worker died"))
        else:
            future.set_result(function(*given))
        return SimpleNamespace(future=lambda: future)


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    stand_in = Ray()
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    return stand_in


def test_runs_that_ray_loses_are_sent_again_and_have_the_numbers_of_threads(ray: Ray) -> None:
    with open_engine("ray", jobs=2) as engine:
        traces = list(engine.finished(small_work(), range(8)))
    here = simulate("ucb1", ONE_ARM, rounds=2, runs=8, seed=5)
    assert numbers(merge(traces)) == numbers(here)
    assert ray.calls > len(traces)
    assert ray.done == ["local", "shutdown"]


def test_a_connection_that_was_there_before_is_left_open(ray: Ray) -> None:
    ray.connected = True
    with open_engine("ray", jobs=2) as engine:
        assert sum(trace.runs.size for trace in engine.finished(small_work(), range(3))) == 3
    assert ray.done == []


def test_an_address_where_nobody_answers_is_refused(ray: Ray) -> None:
    with (
        pytest.raises(GiroError, match="no Ray cluster answers at nonsense"),
        open_engine("ray", address="nonsense"),
    ):
        pass
    assert ray.done == []
