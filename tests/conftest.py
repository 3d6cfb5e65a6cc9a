"""Fixtures shared by all tests, and which tests share a process."""

import gc
import os
from typing import Any

# before numba is imported: a twentieth of its time went into colours of errors that nobody reads
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")

import pytest

# compiling leaves millions of objects behind: to collect them takes time, to leave them there
# gigabytes in each of two processes
if hasattr(os, "sysconf") and os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") > 12e9:
    gc.disable()
else:
    gc.set_threshold(400_000)


def pytest_sessionfinish() -> None:
    """Leave them where they are at the end, too: pytest and Python would go through all of them."""
    gc.freeze()


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
