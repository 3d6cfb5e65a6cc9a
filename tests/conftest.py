"""Fixtures shared by all tests, and which tests share a process."""

import pytest

from giro import Policy


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seeds", type=int, default=1, help="seeds for random tests")
    parser.addoption("--thorough", action="store_true", help="long versions; results are written")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("--seeds")))


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process run all tests of a policy, so that only one compiles it."""
    for item in items:
        policy = _policy_of(item)
        if policy and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(policy))


def _policy_of(item: pytest.Item) -> str:
    """Return the name of the first policy among the parameters of a test, "" without any.

    It may be an object, or a text that begins with the name, such as "giro:a=1 on bernoulli".
    """
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    for value in parameters:
        text = value.name if isinstance(value, Policy) else value
        name = text.split(":")[0].split(" ")[0] if isinstance(text, str) else ""
        if name in Policy.known():
            return name
    return ""
