"""The command line, run inside the test's own process, as in tests/cli."""

from cli.conftest import giro  # noqa: F401  # a fixture
