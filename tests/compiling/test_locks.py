"""A lock between processes."""

import subprocess
import sys
import threading
import time
from pathlib import Path

from giro.compiling.locks import alone

HOLDER = """
import sys, time
from pathlib import Path
from giro.compiling.locks import alone
with alone(Path(sys.argv[1])):
    print("inside", flush=True)
    sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "inside\n"
    return process


def test_one_is_inside_at_a_time(tmp_path: Path) -> None:
    inside, most = [], []

    def work() -> None:
        for _ in range(5):
            with alone(tmp_path / "lock"):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.001)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 20


def test_a_process_that_is_killed_lets_others_in(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as process:
        process.kill()
    with alone(tmp_path / "lock", patience=600.0):
        pass


def test_patience_ends(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as process:
        begun = time.monotonic()
        with alone(tmp_path / "lock", patience=0.2):
            assert time.monotonic() - begun >= 0.2
        process.kill()
