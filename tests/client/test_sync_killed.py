"""A short form of `python scripts/torture_client.py`, which kills the service 100 times."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "torture_client.py"


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_every_reward_counts_once_though_the_service_and_clients_are_killed() -> None:
    command = [sys.executable, str(SCRIPT), "--kills", "3", "--callers", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = re.search(r"1 of callers: (\d+) decisions, (\d+) of them taken", done.stdout)
    assert said, done.stdout
    assert int(said[1]) > int(said[2]) > 0
