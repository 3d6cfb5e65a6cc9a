"""Requests made by Schemathesis from the document of the API: `scripts/fuzz_service.py`, short."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from service.clients import need_python

PROGRAM = Path(__file__).parents[2] / "scripts" / "fuzz_service.py"


# the phase that tries all limits of all fields takes a minute: `make test-clients` runs it
@pytest.mark.parametrize(
    "first", ["fuzzing", pytest.param("coverage,fuzzing", marks=pytest.mark.slow)]
)
def test_no_request_fails_the_service_and_odd_ones_are_counted(tmp_path: Path, first: str) -> None:
    need_python("schemathesis")
    path = tmp_path / "fuzz.json"
    words = [sys.executable, str(PROGRAM), "--requests", "300", "--raw", "2", "--first", first]
    words += ["--out", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    found = json.loads(path.read_text("utf-8"))
    assert (found["failures"], found["requests"] > 300) == (0, True)
    assert {"malformed", "invalid", "key", "size", "slow"} <= found["refused"].keys()
