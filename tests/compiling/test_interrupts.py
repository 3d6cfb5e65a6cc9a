"""Ctrl+C while kernels are compiled or loaded."""

import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numba.core import event
from numba.core.registry import cpu_target

from giro.compiling import kernel, plain
from giro.compiling.interrupts import interrupts_wait
from giro.kernels.regression.linear_algebra import dot


@pytest.fixture(autouse=True)
def _as_in_a_program() -> Iterator[None]:
    """Ctrl+C raises KeyboardInterrupt, whatever runs the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def fresh(function: Any) -> Any:
    """Return a kernel of the same function that knows of no compiled code."""
    return kernel(plain(function))


class _Interrupting(event.Listener):
    """Sends the signal when numba begins to compile."""

    def on_start(self, event: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    def on_end(self, event: Any) -> None:
        pass


def test_a_kernel_that_is_being_compiled_is_finished_before_the_interrupt() -> None:
    double = fresh(lambda x: 2 * x)
    with event.install_listener("numba:compile", _Interrupting()):
        with pytest.raises(KeyboardInterrupt):
            double(2.0)
        assert len(double.overloads) == 1
        assert double(2.0) == 4.0  # not compiled again


def test_machine_code_that_is_being_loaded_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, engine = np.ones(3), cpu_target.target_context.codegen()._engine._ee
    fresh(dot)(numbers, numbers)  # on disk now, if it was not
    again, asked = fresh(dot), engine._object_cache_getbuffer

    def asked_by_llvm(module: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return asked(module)

    with monkeypatch.context() as patch:
        patch.setattr(engine, "_object_cache_getbuffer", asked_by_llvm)
        with pytest.raises(KeyboardInterrupt):
            again(numbers, numbers)
    assert sum(again.stats.cache_hits.values()) == 1
    assert again(numbers, numbers) == 3.0


def test_of_several_interrupts_one_arrives() -> None:
    calls: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    with interrupts_wait():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert calls == []
    assert calls == [signal.SIGINT]
    signal.raise_signal(signal.SIGINT)
    assert calls == [signal.SIGINT] * 2


def test_an_ignored_interrupt_and_other_threads_stay_as_they_are() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_wait():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    seen: list[Any] = []

    def work() -> None:
        with interrupts_wait():
            seen.append(signal.getsignal(signal.SIGINT))

    signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
