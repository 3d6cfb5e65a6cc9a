"""The command line, run inside the test's own process."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from giro.cli.main import status_of


class Done(NamedTuple):
    status: int
    out: str
    error: str

    @property
    def records(self) -> Any:
        return json.loads(self.out)


Giro = Callable[..., Done]


@pytest.fixture
def giro(capsys: pytest.CaptureFixture[str]) -> Giro:
    """Runs `giro WORD...` and returns its status and what it printed."""

    def run(*words: object) -> Done:
        capsys.readouterr()
        status = status_of([str(word) for word in words])
        return Done(status, *capsys.readouterr())

    return run
