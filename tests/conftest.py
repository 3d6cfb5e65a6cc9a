"""Fixtures shared by all tests, and which tests share a process."""

import gc
from typing import Any

import numba  # noqa: F401  # before what it tells LLVM to do is taken back
import pytest
from hypothesis import settings
from llvmlite.binding import ffi

gc.set_threshold(100_000)  # compiling makes many objects that stay: a tenth of its time went here
settings.register_profile("any machine", deadline=None)  # others may be busy on it
settings.load_profile("any machine")

# of the rest a sixteenth went into telling nobody of each call of LLVM
for _callbacks in list(getattr(ffi.lib._lock, "_cblist", ())):
    ffi.unregister_lock_callback(*_callbacks)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seeds", type=int, default=1, help="seeds for random tests")
    parser.addoption("--thorough", action="store_true", help="long versions; results are written")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("--seeds")))


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist, if it is there
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Let one process run all tests of a policy; `xdist_group` does nothing with pytest 9.2."""
    from sharing import scheduler  # noqa: PLC0415  # needs pytest-xdist

    return scheduler(config, log)
