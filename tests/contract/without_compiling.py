"""Run scripts of this folder without compiling anything."""

import contextlib
import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def passed_without_compiling(file: str) -> int:
    """Return how many tests of a file pass with numba switched off; none may fail."""
    call = _call("-m", "pytest", "-q", "-n", "0", str(HERE.parent / file))
    done = subprocess.run(**call, check=False)
    assert done.returncode == 0, done.stdout
    return int(re.findall(r"(\d+) passed", done.stdout)[-1])


def printed_by(code: str) -> Any:
    """Return the JSON that this Python prints with numba switched off."""
    done = subprocess.run(**_call("-c", code), stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@contextlib.contextmanager
def answers_of(script: str) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Start the script with numba switched off; it answers a line of text with a line of JSON."""
    with subprocess.Popen(**_call(str(HERE / script)), stdin=subprocess.PIPE) as process:

        @functools.cache
        def answer(line: str) -> dict[str, Any]:
            print(line, file=process.stdin, flush=True)
            assert process.stdout is not None
            return dict(json.loads(process.stdout.readline()))

        yield answer


def _call(*words: str) -> dict[str, Any]:
    paths = [str(HERE.parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(paths)}
    return {
        "args": [sys.executable, *words],
        "env": environment,
        "stdout": subprocess.PIPE,
        "text": True,
    }
