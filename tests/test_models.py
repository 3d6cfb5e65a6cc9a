"""Compiled and plain Python fits have identical coefficients."""

import json
import os
import subprocess
import sys
from pathlib import Path

from models import plain_fits


def test_compiled_and_plain_fits_are_equal_to_the_last_bit() -> None:
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(paths)}
    script = [sys.executable, plain_fits.__file__]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == plain_fits.fits()
