"""Requests made by Schemathesis from the document of the API: `scripts/fuzz_service.py`, short."""

import json
import subprocess
import sys
from pathlib import Path

from service.clients import need_python

PROGRAM = Path(__file__).parents[2] / "scripts" / "fuzz_service.py"


def test_no_request_fails_the_service_and_odd_ones_are_counted(tmp_path: Path) -> None:
    need_python("schemathesis")
    path = tmp_path / "fuzz.json"
    words = [sys.executable, str(PROGRAM), "--requests", "1000", "--raw", "2", "--out", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    found = json.loads(path.read_text("utf-8"))
    assert (found["failures"], found["requests"] > 1000) == (0, True)
    assert {"malformed", "invalid", "key", "size", "slow"} <= found["refused"].keys()
