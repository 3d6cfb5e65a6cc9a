"""Other people's clients, which `scripts/install_clients.sh` installs into .clients/."""

import os
import shutil
from pathlib import Path

import pytest

CLIENTS = Path(__file__).parents[2] / ".clients"
PYTHON, NODE = CLIENTS / "python", CLIENTS / "node_modules"


def need_python(package: str) -> None:
    """Skip a test where there is no such package for Python."""
    if not (PYTHON / package).exists():
        _miss(package)


def need_node(package: str) -> str:
    """Return Node, or skip a test where that or a package for it is missing."""
    node = shutil.which("node")
    if node is None or not (NODE / package).exists():
        _miss(package)
    return str(node)


def _miss(package: str) -> None:
    """Skip, or fail where clients have to be there, as in the job of CI that installs them."""
    text = f"{package} is not installed: scripts/install_clients.sh"
    if "GIRO_NEEDS_CLIENTS" in os.environ:
        pytest.fail(text)
    pytest.skip(text)
